// admin.cpp: ping, reconfigure, shutdown, show config, listpids: the requests that
// have no function of their own in the client library.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>

#include "base/text.hpp"
#include "cli/job_ids.hpp"
#include "cli/output.hpp"
#include "cli/scontrol/scontrol.hpp"
#include "model/hostlist.hpp"
#include "model/step.hpp"
#include "view/node/node_facts.hpp"
#include "wire/proto/request.pb.h"

namespace switchyard::cli {
namespace {

// Jobs with something on this host, for commands that mean "whatever runs here".
std::vector<std::pair<JobId, std::string>> jobs_here(Scontrol& control) {
    std::vector<std::pair<JobId, std::string>> found;
    Session* session = control.session("slurm_load_jobs error");
    if (session == nullptr) return found;
    char host[256] = {};
    gethostname(host, sizeof host - 1);
    const auto nodes = client::fetch_nodes(session->connection);
    client::JobsQuery query;
    query.hidden_partitions = true;
    const auto jobs = client::fetch_jobs(session->connection, query);
    if (!nodes || !jobs) return found;
    for (const model::Job& job : jobs->jobs) {
        const model::Allocation* allocation = model::allocation_of(job);
        if (allocation == nullptr) continue;
        for (const model::Node& node : nodes->nodes) {
            const bool here = node.facts && node.facts->host_name == host;
            if (here && allocation->find(node.config.name) != nullptr) {
                found.emplace_back(job.id, node.config.name);
            }
        }
    }
    return found;
}

// Jobs on a node, or with an empty name on this host.
std::set<JobId> jobs_on(Scontrol& control, const std::string& node) {
    std::set<JobId> found;
    if (node.empty()) {
        for (const auto& [job, place] : jobs_here(control)) found.insert(job);
        return found;
    }
    Session* session = control.session("slurm_load_jobs error");
    if (session == nullptr) return found;
    client::JobsQuery query;
    query.filter.nodes = {node};
    query.hidden_partitions = true;
    const auto jobs = client::fetch_jobs(session->connection, query);
    if (!jobs) {
        control.say_failed("slurm_load_jobs error", jobs.error());
        return found;
    }
    for (const model::Job& job : jobs->jobs) {
        if (!model::is_finished(job)) found.insert(job.id);
    }
    return found;
}

Result<wire::Reply> ask_pids(Scontrol& control, JobId job, const std::optional<StepId>& step,
                             const std::string& node) {
    wire::Request request;
    request.mutable_pids()->set_job(job.value);
    if (step) request.mutable_pids()->set_step(step->value);
    request.mutable_pids()->set_node(node);
    return call_controller(control, "slurm_job_step_get_pids error", request);
}

std::string optional_rank(bool known, std::uint32_t rank) {
    return known ? std::to_string(rank) : "-";
}

void print_pids(const wire::PidsReply& pids) {
    for (const wire::PidEntry& entry : pids.pids()) {
        print(fmt::format("{:<8} {:<8} {:<8} {:<7} {:<8}\n", entry.pid(), entry.job(),
                          model::step_name(StepId{entry.step()}),
                          optional_rank(entry.has_local_id(), entry.local_id()),
                          optional_rank(entry.has_global_id(), entry.global_id())));
    }
}

}  // namespace

Result<wire::Reply> call_controller(Scontrol& control, std::string_view name,
                                    wire::Request& request) {
    Session* session = control.session(name);
    if (session == nullptr) return fail(Errc::Unreachable);
    auto reply = session->connection.call(request);
    if (!reply) control.say_failed(name, reply.error());
    return reply;
}

// Whether the controller answers, and how soon.
struct Ping {
    std::string host, cluster;
    bool up = false;
    std::chrono::microseconds latency{0};
};

Result<Ping> ping_controller() {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point asked = Clock::now();
    if (auto session = open_session("scontrol")) {
        wire::Request request;
        request.mutable_ping();
        if (const auto reply = session->connection.call(request); reply) {
            return Ping{reply->ping().host(), session->config.cluster_name, true,
                        std::chrono::floor<std::chrono::microseconds>(Clock::now() - asked)};
        }
    }
    // Nobody answers: the host is the one the configuration names.
    SY_TRY(const auto path, config::find_config_file());
    SY_TRY(const auto config, config::load_client_config(path));
    return Ping{config.controllers.empty() ? "(null)" : config.controllers.front().host,
                config.cluster_name, false, std::chrono::microseconds{0}};
}

bool print_ping(Scontrol& control) {
    const auto found = ping_controller();
    if (!found) {
        control.complain(found.error().message);
        return false;
    }
    print(fmt::format("Slurmctld(primary) at {} is {}\n", found->host, found->up ? "UP" : "DOWN"));
    return found->up;
}

// The document tells whether it answers; the exit code does not.
void write_ping(Scontrol& control) {
    const auto found = ping_controller();
    if (!found) return control.complain(found.error().message);
    view::Document document = open_document(control.document);
    document.begin_list("pings");
    document.begin_map();
    document.text("hostname", found->host);
    document.text("pinged", found->up ? "UP" : "DOWN");
    document.boolean("responding", found->up);
    document.integer("latency", found->latency.count());
    document.text("mode", "primary");
    document.boolean("primary", true);
    document.end();
    document.end();
    close_document(document, control.document, found->cluster);
}

void ping(Scontrol& control, const Words&) {
    if (control.document.kind) return write_ping(control);
    if (print_ping(control) || control.exit_code != 0) return;
    control.exit_code = 1;
    print(
        "*****************************************\n"
        "** RESTORE SLURMCTLD DAEMON TO SERVICE **\n"
        "*****************************************\n");
}

void reconfigure(Scontrol& control, const Words&) {
    wire::Request request;
    request.mutable_reconfigure();
    (void)call_controller(control, "slurm_reconfigure error",
                          request);  // A failure is told and kept there.
}

void shut_down(Scontrol& control, const Words& words) {
    wire::Request request;
    request.mutable_shutdown();
    if (!words.empty()) {
        const bool controller_only = starts_with_ignoring_case("slurmctld", words[0]) ||
                                     starts_with_ignoring_case("controller", words[0]);
        if (!controller_only) {
            return control.complain(fmt::format("invalid shutdown argument:{}", words[0]));
        }
        request.mutable_shutdown()->set_controller_only(true);
    }
    (void)call_controller(control, "slurm_shutdown error",
                          request);  // A failure is told and kept there.
}

// Where shutdown lets the controller finish what it is at, abort does not.
void abort(Scontrol& control, const Words& words) {
    if (!words.empty()) return control.complain("too many arguments for keyword:abort");
    wire::Request request;
    request.mutable_shutdown()->set_controller_only(true);
    request.mutable_shutdown()->set_abort(true);
    (void)call_controller(control, "slurm_shutdown error", request);  // A failure is told there.
}

void take_over(Scontrol& control, const Words& words) {
    if (words.size() > 1) return control.complain("takeover: too many arguments");
    const auto index = words.empty() ? std::optional<std::uint64_t>(1) : parse_uint(words[0]);
    Session* session = control.session("slurm_takeover error");
    if (session == nullptr) return;
    if (!index || *index == 0 || *index >= session->config.controllers.size()) {
        return control.complain(fmt::format("takeover: invalid backup controller index ({})",
                                            words.empty() ? "1" : words[0]));
    }
    control.complain(
        "takeover: further SlurmctldHost lines are not used here: there is one controller");
}

void token(Scontrol& control, const Words& words) {
    wire::Request request;
    wire::TokenRequest* ask = request.mutable_token();
    for (const std::string& word : words) {
        const std::size_t equals = word.find('=');
        const std::string key = word.substr(0, equals);
        const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
        const bool named = equals != std::string::npos && !value.empty();
        if (named && equals_ignoring_case(key, "username")) {
            ask->set_user(value);
        } else if (named && equals_ignoring_case(key, "lifespan")) {
            const bool endless = equals_ignoring_case(value, "infinite");
            const auto seconds = endless ? std::optional<std::uint64_t>(0) : parse_uint(value);
            if (!seconds || (*seconds == 0 && !endless))
                return control.complain(fmt::format(
                    "scontrol: error: Invalid numeric value \"{}\" for lifespan.", value));
            ask->set_lifespan(*seconds);
        } else {
            return control.complain(fmt::format("Invalid option: `{}`", word));
        }
    }
    const auto reply = call_controller(control, "Error fetching token", request);
    if (reply) print(fmt::format("SLURM_JWT={}\n", reply->token().token()));
}

void notify(Scontrol& control, const Words& words) {
    if (words.size() < 2) return control.complain("too few arguments for keyword:notify");
    const auto selector = model::parse_job_selector(words[0]);
    if (!selector || selector->elements || selector->step)
        return control.complain(fmt::format("Invalid job_id {}", words[0]));
    wire::Request request;
    request.mutable_notify()->set_job(selector->job.value);
    request.mutable_notify()->set_text(join(Words(words.begin() + 1, words.end()), " "));
    (void)call_controller(control, "job notify failure", request);  // A failure is told there.
}

void show_config(Scontrol& control) {
    wire::Request request;
    request.mutable_config();
    const auto reply = call_controller(control, "slurm_load_ctl_conf error", request);
    if (!reply) return;
    const auto now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
    print(fmt::format("Configuration data as of {}\n",
                      model::format_instant(now, control.style(now).time_format)));
    for (const wire::KeyValue& entry : reply->config().values()) {
        print(fmt::format("{:<23} = {}\n", entry.key(), entry.value()));
    }
    print("\n");
    if (!print_ping(control)) control.exit_code = 1;
}

void list_pids(Scontrol& control, const Words& words) {
    if (words.size() > 2) return control.complain("too many arguments for keyword:listpids");
    const std::string node = words.size() == 2 ? words[1] : "";
    std::vector<std::tuple<JobId, std::optional<StepId>, std::string>> targets;
    if (words.empty() || words[0] == "*") {
        for (const auto& [job, place] : jobs_here(control)) {
            if (node.empty() || node == place) targets.emplace_back(job, std::nullopt, place);
        }
    } else {
        const auto selector = model::parse_job_selector(words[0]);
        if (!selector) return control.complain(fmt::format("Invalid job id {}", words[0]));
        targets.emplace_back(selector->job, selector->step, node);
    }
    if (control.exit_code != 0) return;
    print(fmt::format("{:<8} {:<8} {:<8} {:<7} {:<8}\n", "PID", "JOBID", "STEPID", "LOCALID",
                      "GLOBALID"));
    for (const auto& [job, step, place] : targets) {
        const auto reply = ask_pids(control, job, step, place);
        if (reply) print_pids(reply->pids());
    }
}

// "listjobs [NODE]": those with something on a node, or on this host.
void list_jobs(Scontrol& control, const Words& words) {
    if (words.size() > 1) return control.complain("too many arguments for keyword:listjobs");
    const auto found = jobs_on(control, words.empty() ? "" : words[0]);
    if (control.exit_code != 0) return;
    print("JOBID\n");
    for (const JobId job : found) print(fmt::format("{}\n", job.value));
}

void list_steps(Scontrol& control, const Words& words) {
    if (words.size() > 1) return control.complain("too many arguments for keyword:liststeps");
    const std::set<JobId> found = jobs_on(control, words.empty() ? "" : words[0]);
    if (control.exit_code != 0) return;
    client::JobsQuery query;
    query.with_steps = true;
    query.hidden_partitions = true;
    const auto jobs =
        client::fetch_jobs(control.session("slurm_get_job_steps error")->connection, query);
    if (!jobs) return control.say_failed("slurm_get_job_steps error", jobs.error());
    print("JOBID    STEPID\n");
    for (const model::Step& step : jobs->steps) {
        if (step.end || !found.contains(step.key.job)) continue;
        print(fmt::format("{:<8} {}\n", step.key.job.value, model::step_name(step.key.step)));
    }
}

void get_addresses(Scontrol& control, const Words& words) {
    constexpr std::string_view kCall = "slurm_load_node error";
    if (words.empty()) return control.complain("one argument required for keyword:getaddrs");
    Session* session = control.session(kCall);
    if (session == nullptr) return;
    const auto answer = client::fetch_nodes(session->connection);
    if (!answer) return control.say_failed(kCall, answer.error());
    for (const std::string& word : words) {
        const auto names = model::expand_hostlist(word);
        if (!names) return control.complain(fmt::format("Invalid node name specified: {}", word));
        for (const std::string& name : *names) {
            const auto is_it = [&](const model::Node& node) { return node.config.name == name; };
            const auto node = std::ranges::find_if(answer->nodes, is_it);
            if (node == answer->nodes.end()) {
                control.complain(fmt::format("Node {} not found", name));
            } else {
                print(fmt::format("{}: [{}]\n", name, view::address_of(*node)));
            }
        }
    }
}

void pid_info(Scontrol& control, const Words& words) {
    if (words.empty()) return control.complain("missing argument for keyword:pidinfo");
    if (words.size() > 1) return control.complain("too many arguments for keyword:pidinfo");
    constexpr std::string_view kNotFound = "Failed to locate job for requested pid";
    const auto pid = parse_uint(words[0]);
    if (!pid) return control.complain(kNotFound);
    for (const auto& [job, place] : jobs_here(control)) {
        const auto reply = ask_pids(control, job, std::nullopt, place);
        if (!reply) return;
        for (const wire::PidEntry& entry : reply->pids().pids()) {
            if (entry.pid() != *pid) continue;
            client::JobsQuery query;
            query.filter.jobs.resize(1);
            query.filter.jobs[0].job = job;
            const auto found =
                client::fetch_jobs(control.session("slurm_load_jobs error")->connection, query);
            const auto end = found && !found->jobs.empty() ? model::end_of(found->jobs[0])
                                                           : std::optional<Instant>();
            print(fmt::format("Slurm JobId={} ends at {}\n", job.value,
                              end ? model::format_instant(*end) : "Unknown"));
            return;
        }
    }
    control.complain(kNotFound);
}

}  // namespace switchyard::cli
