// option_table.hpp: the options of a command as a table. One entry says how an option is typed,
// what stands in the help, which variables of the environment give it when the command line is
// silent, and where its value goes; parsing, --help, --usage and --version follow from the table.
//
// getopt_long reads the words, so prefixes of long names and clusters of letters are its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/job_ids.hpp"

namespace switchyard::cli {

enum class Argument : std::uint8_t { None, Required, Optional };

struct OptionLine {
    std::string_view name = {};  // Empty: only a letter, or only variables.
    char letter = 0;
    Argument argument = Argument::None;
    std::string_view value_name = {};  // In the help: --name=VALUE.
    std::string_view help = {};        // Empty: a second spelling or of no effect; not listed.
    std::string_view variables = {};   // Blank separated; the first that is set counts.
    // Options that make the variables count for nothing, blank separated; the option itself always
    // does.
    std::string_view unless = {};
    std::string_view same_as = {};  // A second spelling: the name it stands for.
    // A question about the command itself: its answer is printed and the command ends.
    std::string (*answer)() = nullptr;
};

// One use of an option.
struct OptionUse {
    std::string_view program;
    std::string_view name;
    std::string_view value;
    bool has_value;
    std::string_view variable = {};  // Where the value comes from; empty: it was typed.
};

// An exit code: the option was wrong, which is said, or was all there is to do.
using Taken = std::optional<int>;

template <class Options>
struct Option {
    OptionLine line;
    Taken (*set)(Options& options, const OptionUse& use) = nullptr;
};

// What is said of the command as a whole.
struct CommandText {
    std::string_view program;
    std::string_view operands = {};  // After the options: "[job_id...]".
    std::string_view purpose = {};   // A sentence.
    std::string_view footer = {};    // After the options in --help.
    char help_letter = 0;
    bool takes_words = false;  // Whether words that are no options mean something.
    char usage_letter = 0;
    bool options_first = false;  // What stands behind the first word is a word.
};

struct ParsedLine {
    std::vector<std::string> words;  // Those that are no options.
    Taken exit_code;
};

using SetOption = std::function<Taken(std::size_t index, const OptionUse& use)>;
ParsedLine parse_line(const CommandText& text, const std::vector<OptionLine>& lines,
                      const SetOption& set, int argc, char** argv);
std::string help_of(const CommandText& text, const std::vector<OptionLine>& lines);
std::string usage_of(const CommandText& text, const std::vector<OptionLine>& lines);
// "Unrecognized option: word" and the usage; the exit code.
int refuse_word(const CommandText& text, const std::vector<OptionLine>& lines,
                std::string_view word);

template <class Options, std::size_t Count>
std::vector<OptionLine> lines_of(const Option<Options> (&table)[Count]) {
    std::vector<OptionLine> lines;
    lines.reserve(Count);
    for (const Option<Options>& option : table) lines.push_back(option.line);
    return lines;
}

template <class Options, std::size_t Count>
ParsedLine parse_options(const CommandText& text, const Option<Options> (&table)[Count],
                         Options& options, int argc, char** argv) {
    return parse_line(
        text, lines_of(table),
        [&](std::size_t index, const OptionUse& use) { return table[index].set(options, use); },
        argc, argv);
}

// How values are stored; `Member` is a pointer to a member of the options.
template <class Pointer>
struct OwnerOf;
template <class Owner, class Value>
struct OwnerOf<Value Owner::*> {
    using Type = Owner;
};
template <auto Member>
using Owner = typename OwnerOf<decltype(Member)>::Type;

template <auto Member>
Taken keep(Owner<Member>& options, const OptionUse& use) {
    options.*Member = std::string(use.value);
    return std::nullopt;
}
template <auto Member, bool Value = true>
Taken flag(Owner<Member>& options, const OptionUse&) {
    options.*Member = Value;
    return std::nullopt;
}
template <auto Member>
Taken count(Owner<Member>& options, const OptionUse&) {
    ++(options.*Member);
    return std::nullopt;
}
template <auto Member>
Taken keep_list(Owner<Member>& options, const OptionUse& use) {
    options.*Member = split_list(use.value);
    return std::nullopt;
}
// For what a single cluster without a federation does anyway.
template <class Options>
Taken nothing(Options&, const OptionUse&) {
    return std::nullopt;
}

// The seconds of --iterate; said and nullopt when they are none.
std::optional<int> seconds_of(const OptionUse& use);
template <auto Member>
Taken keep_seconds(Owner<Member>& options, const OptionUse& use) {
    const auto seconds = seconds_of(use);
    if (!seconds) return 1;
    options.*Member = *seconds;
    return std::nullopt;
}

// Variables that every list of jobs knows.
template <auto Member>
constexpr Option<Owner<Member>> time_format_variable() {
    return {{.help = "how times are written: standard, relative or a pattern of strftime",
             .variables = "SLURM_TIME_FORMAT"},
            keep<Member>};
}
template <auto Member>
constexpr Option<Owner<Member>> elements_max_variable() {
    return {{.help = "how many characters of an array's elements are shown; 0 for all",
             .variables = "SLURM_BITSTR_LEN"},
            keep<Member>};
}

}  // namespace switchyard::cli
