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

Outcome apply_variable(JobRequest& request, const Option& option, const std::string& value,
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
    Surroundings ours = surroundings;
    std::erase_if(ours.environment,
                  [](const std::string& entry) { return !entry.starts_with('S'); });
    // The job's own name is not the name of each of its steps.
    const bool inside =
        request.command == Command::Srun && ours.variable("SLURM_JOB_ID").has_value();
    for (const Option* option : all_options()) {
        if (!option->applies_to(request.command)) continue;
        for (const std::string_view name : split(option->variables_of(request.command), ' ')) {
            if (inside && name == "SLURM_JOB_NAME") continue;
            const auto value = ours.variable(name);
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
