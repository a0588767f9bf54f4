#include "options/script.hpp"

#include <fmt/format.h>

#include "base/limits.hpp"

namespace switchyard::options {
namespace {

constexpr std::string_view kBlanks = " \t\v\f\r";
constexpr std::string_view kMagic = "#SBATCH";

bool is_blank(char c) { return kBlanks.find(c) != std::string_view::npos; }

// A line that the shell would run, so the directives are over.
bool is_command(std::string_view line) {
    const auto first = line.find_first_not_of(kBlanks);
    return first != std::string_view::npos && line[first] != '#';
}

bool is_directive(std::string_view line) {
    return line.starts_with(kMagic) && line.size() > kMagic.size() && is_blank(line[kMagic.size()]);
}

// Takes one word from the front of `rest`, which begins with one.
std::string take_word(std::string_view& rest) {
    std::string word;
    char quote = 0;
    while (!rest.empty()) {
        const char c = rest.front();
        if (quote == 0 && is_blank(c)) break;
        rest.remove_prefix(1);
        if (c == '\\' && quote != '\'' && !rest.empty()) {
            word += rest.front();
            rest.remove_prefix(1);
        } else if (quote == 0 && (c == '"' || c == '\'')) {
            quote = c;
        } else if (c == quote) {
            quote = 0;
        } else {
            word += c;
        }
    }
    return word;
}

}  // namespace

std::vector<std::string> split_words(std::string_view line) {
    std::vector<std::string> words;
    while (true) {
        const auto first = line.find_first_not_of(kBlanks);
        if (first == std::string_view::npos || line[first] == '#') return words;
        line.remove_prefix(first);
        words.push_back(take_word(line));
    }
}

std::vector<Directive> scan_directives(std::string_view script) {
    std::vector<Directive> directives;
    for (std::size_t number = 1; !script.empty(); ++number) {
        const auto end = script.find('\n');
        const std::string_view line = script.substr(0, end);
        script = end == std::string_view::npos ? std::string_view() : script.substr(end + 1);
        if (is_command(line)) break;
        if (!is_directive(line)) continue;
        Directive directive{number, split_words(line.substr(kMagic.size()))};
        if (!directive.words.empty()) directives.push_back(std::move(directive));
    }
    return directives;
}

std::optional<ScriptFault> check_script(std::string_view script) {
    if (script.empty()) return ScriptFault{{"Batch script is empty!"}};
    if (script.find_first_not_of(" \t\n\v\f\r") == std::string_view::npos) {
        return ScriptFault{{"Batch script contains only whitespace!"}};
    }
    if (!script.starts_with("#!")) {
        return ScriptFault{{"This does not look like a batch script.  The first",
                            "line must start with #! followed by the path to an interpreter.",
                            "For instance: #!/bin/sh"}};
    }
    if (script.find('\0') != std::string_view::npos) {
        return ScriptFault{{"The SLURM controller does not allow scripts that",
                            "contain a NULL character '\\0'."}};
    }
    if (script.find("\r\n") != std::string_view::npos) {
        return ScriptFault{{"Batch script contains DOS line breaks (\\r\\n)",
                            "instead of expected UNIX line breaks (\\n)."}};
    }
    if (script.size() > limits::kScriptBytesMax) {
        return ScriptFault{{fmt::format("Batch script is {} bytes long; at most {} are allowed",
                                        script.size(), limits::kScriptBytesMax)}};
    }
    return std::nullopt;
}

std::string wrap_script(std::string_view command) {
    return fmt::format("#!/bin/sh\n# This script was created by sbatch --wrap.\n\n{}\n", command);
}

}  // namespace switchyard::options
