#include "cli/scancel/scancel_options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "base/text.hpp"
#include "cli/job_ids.hpp"
#include "cli/message.hpp"
#include "cli/option_table.hpp"
#include "model/job_state.hpp"
#include "model/signals.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kProgram = "scancel";

Taken take_user(ScancelOptions& options, const OptionUse& use) {
    const auto uid = find_uid(std::string(use.value));
    if (!uid) return refuse(kProgram, fmt::format("Invalid user name: {}", use.value));
    options.filter.uids = {*uid};
    return std::nullopt;
}

Taken take_me(ScancelOptions& options, const OptionUse&) {
    options.filter.uids = {geteuid()};
    return std::nullopt;
}

Taken take_states(ScancelOptions& options, const OptionUse& use) {
    const auto filter = model::parse_state_filter(use.value);
    if (!filter) {
        fmt::print(stderr, "{}\nValid job states are PENDING, RUNNING, and SUSPENDED\n",
                   filter.error().message);
        return 1;
    }
    options.filter.states = filter->states;
    return std::nullopt;
}

Taken take_signal(ScancelOptions& options, const OptionUse& use) {
    const auto signal = model::parse_signal(use.value);
    if (!signal) {
        fmt::print(stderr, "Unknown job signal: {}\n", use.value);
        return 1;
    }
    options.signal.signal = *signal;
    return std::nullopt;
}

// Node names, or a file of them: a name with a slash is a path.
Taken take_nodes(ScancelOptions& options, const OptionUse& use) {
    std::string list(use.value);
    if (use.value.find('/') != std::string_view::npos) {
        const auto words = read_words(list);
        if (!words) return refuse(kProgram, words.error().message);
        list = join(*words, ",");
    }
    auto nodes = parse_node_list(list);
    if (!nodes) return refuse(kProgram, fmt::format("Invalid node list: {}", use.value));
    options.filter.nodes = *std::move(nodes);
    return std::nullopt;
}

Taken refuse_sibling(ScancelOptions&, const OptionUse& use) {
    return refuse(use.program, "--sibling: this cluster is in no federation");
}

// A variable may also say no.
bool says_yes(const OptionUse& use) {
    return !use.has_value || (use.value != "0" && use.value != "false" && use.value != "f");
}

template <bool ScancelOptions::* Member>
Taken take_switch(ScancelOptions& options, const OptionUse& use) {
    options.*Member = says_yes(use);
    return std::nullopt;
}
template <bool client::SignalOptions::* Member>
Taken take_switch(ScancelOptions& options, const OptionUse& use) {
    options.signal.*Member = says_yes(use);
    return std::nullopt;
}
template <std::vector<std::string> model::JobFilter::* Member>
Taken take_name(ScancelOptions& options, const OptionUse& use) {
    options.filter.*Member = {std::string(use.value)};
    return std::nullopt;
}
template <std::vector<std::string> model::JobFilter::* Member>
Taken take_names(ScancelOptions& options, const OptionUse& use) {
    options.filter.*Member = split_list(use.value);
    return std::nullopt;
}
Taken take_verbose(ScancelOptions& options, const OptionUse& use) {
    if (says_yes(use)) ++options.verbose;
    return std::nullopt;
}

Taken take_admin_comment(ScancelOptions& options, const OptionUse& use) {
    options.signal.admin_comment = use.value;
    return std::nullopt;
}

const Option<ScancelOptions> kOptions[] = {
    {{"account", 'A', Argument::Required, "NAME", "only jobs of this account", "SCANCEL_ACCOUNT"},
     take_name<&model::JobFilter::accounts>},
    {{"admin-comment", 0, Argument::Required, "TEXT", "set the AdminComment of cancelled jobs"},
     take_admin_comment},
    {{"batch", 'b', Argument::None, "", "signal only the batch shell", "SCANCEL_BATCH"},
     take_switch<&client::SignalOptions::batch_only>},
    {{"ctld", 0, Argument::None, "", "ask the controller (which is always asked)", "SCANCEL_CTLD"},
     nothing<ScancelOptions>},
    {{"cron", 'c', Argument::None, "", "scrontab jobs are meant; they are cancelled without it too",
      "SCANCEL_CRON"},
     nothing<ScancelOptions>},
    {{"full", 'f', Argument::None, "", "signal the batch shell and its children too",
      "SCANCEL_FULL"},
     take_switch<&client::SignalOptions::full>},
    {{"hurry", 'H', Argument::None, "", "do not wait for data to be staged out", "SCANCEL_HURRY"},
     take_switch<&client::SignalOptions::hurry>},
    {{"interactive", 'i', Argument::None, "", "ask before each job", "SCANCEL_INTERACTIVE"},
     take_switch<&ScancelOptions::interactive>},
    {{"clusters", 'M', Argument::Required, "NAME", "the cluster to ask", "SLURM_CLUSTERS"},
     keep<&ScancelOptions::clusters>},
    {{.name = "cluster", .argument = Argument::Required, .same_as = "clusters"}},
    {{"me", 0, Argument::None, "", "only your own jobs"}, take_me},
    {{"name", 'n', Argument::Required, "NAME", "only jobs with this name", "SCANCEL_NAME"},
     take_name<&model::JobFilter::names>},
    {{.name = "jobname", .argument = Argument::Required, .same_as = "name"}},
    {{"partition", 'p', Argument::Required, "NAME", "only jobs in this partition",
      "SCANCEL_PARTITION"},
     take_names<&model::JobFilter::partitions>},
    {{"qos", 'q', Argument::Required, "NAME", "only jobs with this quality of service",
      "SCANCEL_QOS"},
     take_names<&model::JobFilter::qos>},
    {{"quiet", 'Q', Argument::None, "", "say nothing of jobs that are already over"},
     take_switch<&ScancelOptions::quiet>},
    {{"reservation", 'R', Argument::Required, "NAME", "only jobs in this reservation"},
     take_name<&model::JobFilter::reservations>},
    {{.name = "sibling", .argument = Argument::Required}, refuse_sibling},
    {{"signal", 's', Argument::Required, "NAME", "send this signal instead of ending the job"},
     take_signal},
    {{"state", 't', Argument::Required, "STATE",
      "only jobs in this state: PENDING, RUNNING or SUSPENDED", "SCANCEL_STATE"},
     take_states},
    {{"user", 'u', Argument::Required, "NAME", "only jobs of this user", "SCANCEL_USER", "me"},
     take_user},
    {{"verbose", 'v', Argument::None, "", "say what is done", "SCANCEL_VERBOSE"}, take_verbose},
    {{"nodelist", 'w', Argument::Required, "NODES", "only jobs on these nodes"}, take_nodes},
    {{"wckey", 0, Argument::Required, "KEY", "only jobs with this workload characterization key",
      "SCANCEL_WCKEY"},
     take_name<&model::JobFilter::wckeys>},
};

constexpr CommandText kText{
    .program = kProgram,
    .operands = "[job_id[_array_id][.step_id]...]",
    .purpose = "Ends or signals jobs, elements of job arrays, or steps.",
    .takes_words = true,
};

bool has_filter(const model::JobFilter& filter) {
    return !filter.uids.empty() || !filter.names.empty() || !filter.partitions.empty() ||
           !filter.accounts.empty() || !filter.qos.empty() || !filter.nodes.empty() ||
           !filter.reservations.empty() || !filter.wckeys.empty() || !filter.states.empty();
}

Taken take_jobs(ScancelOptions& options, const std::vector<std::string>& words) {
    for (const std::string& word : words) {
        auto selectors = parse_job_list(word);
        if (!selectors) return refuse(kProgram, "Invalid job id " + selectors.error().message);
        for (model::JobSelector& selector : *selectors) {
            options.filter.jobs.push_back(std::move(selector));
        }
    }
    if (!options.filter.jobs.empty()) return std::nullopt;
    if (!has_filter(options.filter)) return refuse(kProgram, "No job identification provided");
    // "All jobs named x" of somebody who is not root means his own.
    if (options.filter.uids.empty() && geteuid() != 0) options.filter.uids = {geteuid()};
    return std::nullopt;
}

}  // namespace

ScancelParsed parse_scancel(int argc, char** argv) {
    ScancelParsed parsed;
    const ParsedLine line = parse_options(kText, kOptions, parsed.options, argc, argv);
    parsed.exit_code = line.exit_code ? line.exit_code : take_jobs(parsed.options, line.words);
    return parsed;
}

}  // namespace switchyard::cli
