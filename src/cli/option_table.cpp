#include "cli/option_table.hpp"

#include <fmt/format.h>
#include <getopt.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/message.hpp"
#include "cli/output.hpp"
#include "options/help.hpp"

namespace switchyard::cli {
namespace {

constexpr std::size_t kQuestions = 3;  // What every command answers.
constexpr int kLongBase = 0x1000;  // Values of getopt beyond the letters are indexes of the table.

std::vector<OptionLine> with_questions(const CommandText& text,
                                       const std::vector<OptionLine>& own) {
    std::vector<OptionLine> lines;
    lines.reserve(own.size() + kQuestions);
    lines.assign(own.begin(), own.end());
    lines.push_back({.name = "help", .letter = text.help_letter, .help = "this text"});
    lines.push_back({.name = "usage", .letter = text.usage_letter, .help = "the options in brief"});
    lines.push_back({.name = "version", .letter = 'V', .help = "the version", .answer = +[] {
                         return fmt::format("{}\n", kVersionLine);
                     }});
    return lines;
}

bool is_question(const OptionLine& line) {
    return line.answer != nullptr || line.name == "help" || line.name == "usage";
}

std::size_t index_of(const std::vector<OptionLine>& lines, std::string_view name) {
    const auto found = std::ranges::find(lines, name, &OptionLine::name);
    return static_cast<std::size_t>(found - lines.begin());
}

// What getopt_long wants. Spellings of one option have one value, so that a prefix of both is
// not ambiguous.
struct GetoptTables {
    std::string letters;  // Behind a plus sign: options end at the first word.
    std::vector<::option> longs;
    std::size_t by_letter[128] = {};

    GetoptTables(const std::vector<OptionLine>& lines, bool options_first) {
        if (options_first) letters = "+";
        longs.reserve(lines.size() + 1);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const OptionLine& line = lines[i];
            const int kind = line.argument == Argument::None       ? no_argument
                             : line.argument == Argument::Required ? required_argument
                                                                   : optional_argument;
            const std::size_t target = line.same_as.empty() ? i : index_of(lines, line.same_as);
            if (!line.name.empty()) {
                longs.push_back(
                    {line.name.data(), kind, nullptr, kLongBase + static_cast<int>(target)});
            }
            if (line.letter == 0) continue;
            by_letter[static_cast<std::size_t>(line.letter)] = target;
            letters += line.letter;
            letters.append(static_cast<std::size_t>(kind), ':');
        }
        longs.push_back({nullptr, 0, nullptr, 0});
    }
};

class LineParser {
  public:
    LineParser(const CommandText& text, const std::vector<OptionLine>& own, const SetOption& set)
        : text_(text),
          own_(own),
          lines_(with_questions(text, own)),
          set_(set),
          given_(lines_.size()) {}

    ParsedLine parse(int argc, char** argv) {
        ParsedLine parsed;
        std::string program(text_.program);  // getopt's messages begin with it.
        char* const typed = std::exchange(argv[0], program.data());
        parsed.exit_code = take_options(argc, argv, parsed.words);
        argv[0] = typed;
        if (!parsed.exit_code && !text_.takes_words && !parsed.words.empty()) {
            parsed.exit_code = refuse_word(text_, own_, parsed.words[0]);
        }
        if (!parsed.exit_code) parsed.exit_code = take_environment();
        return parsed;
    }

  private:
    Taken take_options(int argc, char** argv, std::vector<std::string>& words) {
        const GetoptTables tables(lines_, text_.options_first);
        optind = 0;  // Start over, also when called twice in one process.
        for (;;) {
            const int found =
                getopt_long(argc, argv, tables.letters.c_str(), tables.longs.data(), nullptr);
            if (found == -1) break;
            if (found == '?') {
                say_try_help(text_.program);
                return 1;
            }
            const std::size_t index = found >= kLongBase
                                          ? static_cast<std::size_t>(found - kLongBase)
                                          : tables.by_letter[static_cast<std::size_t>(found)];
            given_[index] = true;
            if (const Taken code = take(index, optarg); code) return code;
        }
        words.assign(argv + optind, argv + argc);
        return std::nullopt;
    }

    Taken take(std::size_t index, const char* value) {
        const OptionLine& line = lines_[index];
        if (is_question(line)) {
            print(line.answer != nullptr ? line.answer()
                  : line.name == "help"  ? help_of(text_, own_)
                                         : usage_of(text_, own_));
            return 0;
        }
        return set_(index,
                    {text_.program, line.name, value != nullptr ? value : "", value != nullptr});
    }

    Taken take_environment() {
        for (std::size_t i = 0; i < own_.size(); ++i) {
            if (is_silenced(i)) continue;
            for (const std::string_view name : split(own_[i].variables, ' ')) {
                const char* value = std::getenv(std::string(name).c_str());
                if (value == nullptr) continue;
                const Taken code = set_(i, {text_.program, own_[i].name, value, true, name});
                if (code) return code;
                break;
            }
        }
        return std::nullopt;
    }

    bool is_silenced(std::size_t index) const {
        if (given_[index]) return true;
        return std::ranges::any_of(split(own_[index].unless, ' '), [&](std::string_view name) {
            return given_[index_of(lines_, name)];
        });
    }

    const CommandText& text_;
    const std::vector<OptionLine>& own_;
    const std::vector<OptionLine> lines_;
    const SetOption& set_;
    std::vector<bool> given_;
};

bool is_listed(const OptionLine& line) {
    return !line.help.empty() && (!line.name.empty() || line.letter != 0);
}

std::string typed_form(const OptionLine& line) {
    if (line.name.empty()) {
        const bool bare = line.argument == Argument::None;
        return bare ? fmt::format("  -{}", line.letter)
                    : fmt::format("  -{} {}", line.letter, line.value_name);
    }
    std::string text = line.letter != 0 ? fmt::format("  -{}, --{}", line.letter, line.name)
                                        : fmt::format("      --{}", line.name);
    if (line.argument == Argument::Required) text += fmt::format("={}", line.value_name);
    if (line.argument == Argument::Optional) text += fmt::format("[={}]", line.value_name);
    return text;
}

void append_variables(std::string& out, const std::vector<OptionLine>& lines) {
    std::string entries;
    for (const OptionLine& line : lines) {
        for (const std::string_view name : split(line.variables, ' ')) {
            const std::string means =
                line.name.empty() ? std::string(line.help) : fmt::format("as --{}", line.name);
            options::append_help_entry(entries, fmt::format("  {}", name), means);
        }
    }
    if (!entries.empty()) out += "\nVariables, where the command line is silent:\n" + entries;
}

}  // namespace

ParsedLine parse_line(const CommandText& text, const std::vector<OptionLine>& lines,
                      const SetOption& set, int argc, char** argv) {
    return LineParser(text, lines, set).parse(argc, argv);
}

std::string help_of(const CommandText& text, const std::vector<OptionLine>& own) {
    std::string out = fmt::format("Usage: {} [OPTIONS]{}{}\n{}\n\nOptions:\n", text.program,
                                  text.operands.empty() ? "" : " ", text.operands, text.purpose);
    const std::vector<OptionLine> lines = with_questions(text, own);
    for (const bool questions : {false, true}) {
        if (questions) out += "\nHelp options:\n";
        for (const OptionLine& line : lines) {
            if (!is_listed(line) || is_question(line) != questions) continue;
            options::append_help_entry(out, typed_form(line), line.help);
        }
    }
    append_variables(out, own);
    if (!text.footer.empty()) out += fmt::format("\n{}", text.footer);
    return out;
}

std::string usage_of(const CommandText& text, const std::vector<OptionLine>& own) {
    std::string letters;
    std::vector<std::string> pieces;
    for (const OptionLine& line : with_questions(text, own)) {
        if (!is_listed(line)) continue;
        if (line.letter != 0 && line.argument != Argument::Required) {
            letters += line.letter;
        } else if (line.argument == Argument::Required && line.letter != 0) {
            pieces.push_back(fmt::format("[-{} {}]", line.letter, line.value_name));
        } else {
            pieces.push_back(fmt::format("[{}]", trim(typed_form(line))));
        }
    }
    if (!letters.empty()) pieces.insert(pieces.begin(), fmt::format("[-{}]", letters));
    if (!text.operands.empty()) pieces.emplace_back(text.operands);
    return options::usage_of(text.program, pieces);
}

int refuse_word(const CommandText& text, const std::vector<OptionLine>& lines,
                std::string_view word) {
    say_error(text.program, fmt::format("Unrecognized option: {}", word));
    print(usage_of(text, lines));
    return 1;
}

std::optional<int> seconds_of(const OptionUse& use) {
    const auto seconds = parse_uint(use.value);
    if (seconds && *seconds > 0 && *seconds <= 1000000) return static_cast<int>(*seconds);
    say_error(use.program, fmt::format("--{}={}", use.name, use.value));
    return std::nullopt;
}

}  // namespace switchyard::cli
