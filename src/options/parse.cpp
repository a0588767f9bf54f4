#include "options/parse.hpp"

#include <getopt.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/errc.hpp"
#include "base/text.hpp"
#include "model/gres.hpp"
#include "options/option.hpp"
#include "options/setters.hpp"

namespace switchyard::options {
namespace {

constexpr int kLongBase = 0x1000;  // Values of getopt beyond the letters are indexes of the table.

Outcome apply_one(JobRequest& request, const Option& option, std::optional<std::string_view> value,
                  Source source, const Surroundings& surroundings) {
    Setting setting{.request = request,
                    .option = option,
                    .value = value.value_or(std::string_view()),
                    .has_value = value.has_value(),
                    .source = source,
                    .surroundings = surroundings,
                    .shown = value ? std::string(*value) : std::string("set")};
    if (Outcome fault = option.set(setting)) return fault;
    const std::string name(option.same_as.empty() ? option.name : option.same_as);
    request.given.insert_or_assign(name, source);
    request.shown.insert_or_assign(name, std::move(setting.shown));
    return {};
}

// The tables that getopt_long wants, for one command.
struct GetoptTables {
    std::string letters = "+";  // Options end at the first word that is none.
    std::vector<::option> longs;
    const Option* by_letter[128] = {};

    explicit GetoptTables(Command command) {
        const auto all = all_options();
        longs.reserve(all.size() + 1);
        for (std::size_t i = 0; i < all.size(); ++i) {
            const Option& entry = *all[i];
            if (!entry.applies_to(command)) continue;
            const int kind = entry.argument == Argument::None       ? no_argument
                             : entry.argument == Argument::Required ? required_argument
                                                                    : optional_argument;
            longs.push_back({entry.name.data(), kind, nullptr, kLongBase + static_cast<int>(i)});
            if (entry.letter == 0) continue;
            by_letter[static_cast<std::size_t>(entry.letter)] = &entry;
            letters += entry.letter;
            letters.append(static_cast<std::size_t>(kind), ':');
        }
        longs.push_back({nullptr, 0, nullptr, 0});
    }
};

// Made once: every line of a script is read with them.
template <Command kCommand>
const GetoptTables& made_tables() {
    static const GetoptTables tables(kCommand);
    return tables;
}

const GetoptTables& tables_of(Command command) {
    switch (command) {
        case Command::Sbatch:
            return made_tables<Command::Sbatch>();
        case Command::Salloc:
            return made_tables<Command::Salloc>();
        case Command::Srun:
            break;
    }
    return made_tables<Command::Srun>();
}

std::optional<Fault> apply_getopt(JobRequest& request, std::vector<char*>& argv,
                                  const GetoptTables& tables, Source source,
                                  const Surroundings& surroundings) {
    optind = 0;  // glibc: start afresh.
    opterr = 1;
    const int argc = static_cast<int>(argv.size()) - 1;
    while (true) {
        const int found =
            getopt_long(argc, argv.data(), tables.letters.c_str(), tables.longs.data(), nullptr);
        if (found == -1) return std::nullopt;
        if (found == '?') return Fault{Fault::Kind::Unrecognized, ""};
        const Option* option = found >= kLongBase
                                   ? all_options()[static_cast<std::size_t>(found - kLongBase)]
                                   : tables.by_letter[static_cast<std::size_t>(found)];
        std::optional<std::string_view> value;
        if (optarg != nullptr) value = optarg;
        if (Outcome fault = apply_one(request, *option, value, source, surroundings)) return fault;
    }
}

// An input variable switches a flag on when it is empty, "yes" or a number but 0.
bool switches_on(std::string_view value) {
    return value.empty() || equals_ignoring_case(value, "yes") ||
           parse_uint(value).value_or(0) != 0;
}

struct Variable {
    std::string_view name, value;
};

// Those of the environment that an option may be named after.
std::vector<Variable> input_variables(const Surroundings& surroundings) {
    std::vector<Variable> found;
    for (const std::string_view entry : surroundings.environment) {
        const std::size_t mark = entry.starts_with('S') ? entry.find('=') : std::string_view::npos;
        if (mark == std::string_view::npos || !entry.substr(0, mark).contains('_')) continue;
        found.push_back({entry.substr(0, mark), entry.substr(mark + 1)});
    }
    return found;
}

// Of several with this name the first, as getenv() does it.
std::optional<std::string_view> find_variable(const std::vector<Variable>& all,
                                              std::string_view name) {
    const auto found = std::ranges::find(all, name, &Variable::name);
    if (found == all.end()) return std::nullopt;
    return found->value;
}

// The first of some names with blanks between them.
std::string_view take_name(std::string_view& names) {
    const std::size_t end = std::min(names.find(' '), names.size());
    const std::string_view name = names.substr(0, end);
    names.remove_prefix(std::min(end + 1, names.size()));
    return name;
}

Outcome apply_variable(JobRequest& request, const Option& option, std::string_view value,
                       const Surroundings& surroundings) {
    std::optional<std::string_view> argument(value);
    if (option.argument == Argument::None && option.name != "verbose") {
        if (!switches_on(value)) return {};
        argument.reset();
    } else if (option.argument == Argument::Optional && value.empty()) {
        argument.reset();
    }
    return apply_one(request, option, argument, Source::Environment, surroundings);
}

}  // namespace

Outcome apply_words(JobRequest& request, const std::vector<std::string>& words, Source source,
                    const Surroundings& surroundings, std::size_t* operands_at) {
    const GetoptTables& tables = tables_of(request.command);
    std::vector<std::string> copies = words;
    std::vector<char*> argv;
    argv.reserve(copies.size() + 1);
    for (std::string& word : copies) argv.push_back(word.data());
    argv.push_back(nullptr);
    if (Outcome fault = apply_getopt(request, argv, tables, source, surroundings)) return fault;
    if (operands_at != nullptr) *operands_at = static_cast<std::size_t>(optind);
    return {};
}

Outcome apply_environment(JobRequest& request, const Surroundings& surroundings) {
    const std::vector<Variable> ours = input_variables(surroundings);
    if (ours.empty()) return {};
    // The job's own name is not the name of each of its steps.
    const bool inside =
        request.command == Command::Srun && find_variable(ours, "SLURM_JOB_ID").has_value();
    for (const Option* option : all_options()) {
        if (!option->applies_to(request.command)) continue;
        std::string_view names = option->variables_of(request.command);
        while (!names.empty()) {
            const std::string_view name = take_name(names);
            if (inside && name == "SLURM_JOB_NAME") continue;
            const auto value = find_variable(ours, name);
            if (!value) continue;
            if (Outcome fault = apply_variable(request, *option, *value, surroundings))
                return fault;
        }
    }
    return {};
}

Outcome apply_script(JobRequest& request, const std::vector<Directive>& directives,
                     const Surroundings& surroundings) {
    for (const Directive& directive : directives) {
        std::vector<std::string> words{std::string(to_string(request.command))};
        words.insert(words.end(), directive.words.begin(), directive.words.end());
        std::size_t end = 0;
        if (Outcome fault = apply_words(request, words, Source::Script, surroundings, &end))
            return fault;
        if (end < words.size()) {
            return Fault{Fault::Kind::Fatal,
                         fmt::format("Invalid directive found in batch script: {}", words[end])};
        }
    }
    return {};
}

}  // namespace switchyard::options
