#include "options/het.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "model/index_set.hpp"
#include "options/export.hpp"
#include "options/parse.hpp"

namespace switchyard::options {
namespace {

constexpr std::string_view kSeparator = ":";
constexpr std::uint32_t kComponentsMax = 128;

constexpr std::string_view kPassedOn[] = {"account",
                                          "acctg-freq",
                                          "begin",
                                          "chdir",
                                          "clusters",
                                          "comment",
                                          "deadline",
                                          "delay-boot",
                                          "dependency",
                                          "distribution",
                                          "epilog",
                                          "error",
                                          "exclude",
                                          "export",
                                          "export-file",
                                          "extra",
                                          "get-user-env",
                                          "gid",
                                          "hold",
                                          "immediate",
                                          "input",
                                          "job-name",
                                          "jobid",
                                          "kill-on-bad-exit",
                                          "label",
                                          "mcs-label",
                                          "mpi",
                                          "nice",
                                          "no-kill",
                                          "no-requeue",
                                          "no-shell",
                                          "open-mode",
                                          "output",
                                          "overlap",
                                          "parsable",
                                          "priority",
                                          "prolog",
                                          "propagate",
                                          "pty",
                                          "qos",
                                          "quiet",
                                          "quit-on-interrupt",
                                          "requeue",
                                          "reservation",
                                          "signal",
                                          "task-epilog",
                                          "task-prolog",
                                          "test-only",
                                          "time",
                                          "time-min",
                                          "uid",
                                          "unbuffered",
                                          "verbose",
                                          "wait",
                                          "wait-all-nodes",
                                          "wckey"};

void pass_on(const model::JobSpec& from, model::JobSpec& to) {
    to.name = from.name;
    to.account = from.account;
    to.qos = from.qos;
    to.wckey = from.wckey;
    to.reservation = from.reservation;
    to.comment = from.comment;
    to.mcs_label = from.mcs_label;
    to.extra = from.extra;
    to.distribution = from.distribution;
    to.excluded_nodes = from.excluded_nodes;
    to.time_limit = from.time_limit;
    to.time_min = from.time_min;
    to.begin = from.begin;
    to.deadline = from.deadline;
    to.hold = from.hold;
    to.nice = from.nice;
    to.priority = from.priority;
    to.dependency = from.dependency;
    to.kill_on_invalid_dependency = from.kill_on_invalid_dependency;
    to.immediate = from.immediate;
    to.detached = from.detached;
    to.requeue = from.requeue;
    to.no_kill = from.no_kill;
    to.warn_signal = from.warn_signal;
    to.open_mode = from.open_mode;
    to.std_in = from.std_in;
    to.std_out = from.std_out;
    to.std_err = from.std_err;
}

}  // namespace

Outcome split_line(Command command, const std::vector<std::string>& words,
                   const Surroundings& surroundings, Line& line) {
    const std::string& name = words.front();
    std::vector<std::string> rest(words.begin() + 1, words.end());
    while (true) {
        std::vector<std::string> component{name};
        component.insert(component.end(), rest.begin(), rest.end());
        JobRequest trial;
        trial.command = command;
        std::size_t operands_at = component.size();
        if (Outcome fault =
                apply_words(trial, component, Source::CommandLine, surroundings, &operands_at))
            return fault;
        const auto operands = component.begin() + static_cast<std::ptrdiff_t>(operands_at);
        // The command of a component of srun reaches up to the next separator.
        auto end =
            command == Command::Srun ? std::find(operands, component.end(), kSeparator) : operands;
        const bool more =
            end != component.end() && *end == kSeparator && end + 1 != component.end();
        if (!more && command == Command::Srun) end = component.end();
        if (!more || line.components.size() + 1 >= kComponentsMax) {
            line.operands.assign(operands, component.end());
            component.erase(command == Command::Srun ? component.end() : operands, component.end());
            line.components.push_back(std::move(component));
            return {};
        }
        rest.assign(end + 1, component.end());
        component.erase(end, component.end());
        line.components.push_back(std::move(component));
    }
}

std::vector<std::vector<Directive>> split_directives(const std::vector<Directive>& directives) {
    std::vector<std::vector<Directive>> components(1);
    for (const Directive& directive : directives) {
        if (directive.words.front() == "hetjob" || directive.words.front() == "packjob") {
            components.emplace_back();
        } else {
            components.back().push_back(directive);
        }
    }
    return components;
}

JobRequest next_component(const JobRequest& before) {
    JobRequest next;
    next.command = before.command;
    pass_on(before.job, next.job);
    next.launch = before.launch;
    next.launch.multi_prog = false;
    next.launch.relative.reset();
    next.launch.resv_ports.reset();
    next.launch.cpu_bind.clear();
    next.launch.mem_bind.clear();
    next.launch.het_group.clear();
    next.ask = before.ask;
    next.chdir = before.chdir;
    for (const auto& [name, source] : before.given) {
        if (std::ranges::find(kPassedOn, name) != std::end(kPassedOn)) next.given[name] = source;
    }
    return next;
}

Outcome understand_components(Command command, const Line& line,
                              const std::vector<std::vector<Directive>>& directives,
                              const Surroundings& surroundings, std::vector<JobRequest>& requests) {
    const std::size_t count = std::max(line.components.size(), directives.size());
    for (std::size_t i = 0; i < count; ++i) {
        JobRequest request;
        if (i > 0) request = next_component(requests.back());
        request.command = command;
        if (i < directives.size()) {
            if (Outcome fault = apply_script(request, directives[i], surroundings)) return fault;
        }
        if (i == 0) {
            if (Outcome fault = apply_environment(request, surroundings)) return fault;
        }
        if (i < line.components.size()) {
            if (Outcome fault = apply_words(request, line.components[i], Source::CommandLine,
                                            surroundings, nullptr))
                return fault;
        }
        if (Outcome fault = finish(request, surroundings)) return fault;
        requests.push_back(std::move(request));
    }
    return {};
}

std::optional<std::vector<std::uint32_t>> parse_het_groups(std::string_view text) {
    const auto groups = model::parse_index_set(text);
    if (!groups || groups->empty() || groups->back() >= kComponentsMax) return std::nullopt;
    return groups->to_vector();
}

Surroundings of_group(const Surroundings& surroundings, std::uint32_t group) {
    const std::string tail = "_HET_GROUP_" + std::to_string(group);
    Surroundings seen = surroundings;
    remove_job_description(seen.environment);
    for (const std::string& entry : surroundings.environment) {
        const std::size_t mark = entry.find('=');
        const std::string_view name = std::string_view(entry).substr(0, mark);
        if (mark == std::string::npos || !name.starts_with("SLURM_") || !name.ends_with(tail))
            continue;
        set_variable(seen.environment, name.substr(0, name.size() - tail.size()),
                     entry.substr(mark + 1));
    }
    return seen;
}

}  // namespace switchyard::options
