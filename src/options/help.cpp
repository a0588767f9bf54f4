#include "options/help.hpp"

#include <fmt/format.h>

#include "options/option.hpp"

namespace switchyard::options {
namespace {

constexpr std::size_t kTextColumn = 30;
constexpr std::size_t kLineWidth = 79;

constexpr std::string_view kRule = "-------------------- --------------------";

struct Heading {
    Group group;
    std::string_view title;
};
constexpr Heading kHeadings[] = {
    {Group::Run, "Parallel run options:"},        {Group::Constraints, "Constraint options:"},
    {Group::Consumable, "Consumable resources:"}, {Group::Affinity, "Affinity and node shape:"},
    {Group::Gpu, "GPU scheduling options:"},      {Group::Help, "Help options:"},
};

std::string_view operands(Command command) {
    switch (command) {
        case Command::Sbatch:
            return "[OPTIONS...] [script [args...]]";
        case Command::Salloc:
            return "[OPTIONS...] [command [args...]]";
        case Command::Srun:
            return "[OPTIONS...] executable [args...]";
    }
    return "";
}

std::string synopsis(const Option& option) {
    std::string text = option.letter != 0 ? fmt::format("  -{}, --{}", option.letter, option.name)
                                          : fmt::format("      --{}", option.name);
    if (option.argument == Argument::Required) text += fmt::format("={}", option.value_name);
    if (option.argument == Argument::Optional && !option.value_name.empty()) {
        text += fmt::format("[={}]", option.value_name);
    }
    return text;
}

}  // namespace

void append_help_entry(std::string& out, std::string line, std::string_view help) {
    if (line.size() + 1 > kTextColumn) {
        out += line + "\n";
        line.clear();
    }
    line.resize(kTextColumn, ' ');
    std::string_view rest = help;
    while (!rest.empty()) {
        const auto blank = rest.find(' ');
        const std::string_view word = rest.substr(0, blank);
        const bool first = line.size() == kTextColumn;
        if (!first && line.size() + 1 + word.size() > kLineWidth) {
            out += line + "\n";
            line.assign(kTextColumn, ' ');
            continue;
        }
        if (!first) line += ' ';
        line += word;
        rest = blank == std::string_view::npos ? std::string_view() : rest.substr(blank + 1);
    }
    out += line + "\n";
}

std::string usage_of(std::string_view program, const std::vector<std::string>& pieces) {
    std::string out = fmt::format("Usage: {}", program);
    std::size_t column = out.size();
    const std::string indent(column, ' ');
    for (const std::string& piece : pieces) {
        if (column + 1 + piece.size() > kLineWidth) {
            out += "\n" + indent;
            column = indent.size();
        }
        out += " " + piece;
        column += 1 + piece.size();
    }
    return out + "\n";
}

std::string help_text(Command command) {
    std::string out = fmt::format("Usage: {} {}\n", to_string(command), operands(command));
    for (const Heading& heading : kHeadings) {
        out += fmt::format("\n{}\n", heading.title);
        for (const Option* option : all_options()) {
            if (option->group != heading.group || option->help.empty() ||
                !option->applies_to(command))
                continue;
            append_help_entry(out, synopsis(*option), option->help);
        }
    }
    return out;
}

std::string usage_text(Command command) {
    std::vector<std::string> pieces;
    for (const Option* option : all_options()) {
        if (option->help.empty() || !option->applies_to(command)) continue;
        std::string name = option->letter != 0 ? fmt::format("-{}", option->letter)
                                               : fmt::format("--{}", option->name);
        if (option->argument == Argument::Required) {
            name += fmt::format("{}{}", option->letter != 0 ? " " : "=", option->value_name);
        }
        pieces.push_back("[" + name + "]");
    }
    const std::string_view tail = operands(command);
    pieces.emplace_back(tail.substr(tail.find("] ") + 2));
    return usage_of(to_string(command), pieces);
}

std::vector<std::string> defined_options(const JobRequest& request) {
    std::vector<std::string> lines{"defined options", std::string(kRule)};
    for (const auto& [name, value] : request.shown)
        lines.push_back(fmt::format("{:<20}: {}", name, value));
    lines.emplace_back(kRule);
    lines.emplace_back("end of defined options");
    return lines;
}

}  // namespace switchyard::options
