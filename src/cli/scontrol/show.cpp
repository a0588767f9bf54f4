// show.cpp: show job, step, node, partition, hostnames and the rest.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>

#include "base/text.hpp"
#include "base/visible.hpp"
#include "cli/job_ids.hpp"
#include "cli/job_lookup.hpp"
#include "cli/last_backfill.hpp"
#include "cli/message.hpp"
#include "cli/output.hpp"
#include "cli/scontrol/scontrol.hpp"
#include "model/hostlist.hpp"
#include "view/job/job_document.hpp"
#include "view/job/job_text.hpp"
#include "view/node/node_document.hpp"
#include "view/node/node_facts.hpp"
#include "view/node/node_text.hpp"
#include "view/step/step_document.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kLoadJobs = "slurm_load_jobs error";

// The record that stands for an array first, then its elements, the latest first; others by their
// id.
void sort_jobs(std::vector<model::Job>& jobs) {
    const auto base = [](const model::Job& job) {
        return job.array ? job.array->array_id : job.id;
    };
    std::ranges::sort(jobs, [&](const model::Job& a, const model::Job& b) {
        if (base(a) != base(b)) return base(a) < base(b);
        const bool a_leads = a.id == base(a), b_leads = b.id == base(b);
        if (a_leads != b_leads) return a_leads;
        return a.id > b.id;
    });
}

// "jobs": [...] and the frame around it.
void write_list(Scontrol& control, Session& session, std::string_view key, Instant updated,
                const std::function<void(view::Document&)>& write) {
    view::Document document = open_document(control.document);
    document.begin_list(key);
    write(document);
    document.end();
    if (key == "jobs") write_last_backfill(document, session.connection);
    document.number("last_update", view::moment_number(updated));
    close_document(document, control.document, session.config.cluster_name);
}

void write_jobs(Scontrol& control, Session& session, const client::JobsChunk& found) {
    const auto answer = client::fetch_nodes(session.connection);
    if (!answer) return control.say_failed(kLoadJobs, answer.error());
    view::DocumentContext context{found.now, session.config.cluster_name, {}, {}};
    for (const model::Node& node : answer->nodes) context.nodes.emplace(node.config.name, &node);
    for (const model::Step& step : found.steps) context.steps.emplace(step.key.job, &step);
    write_list(control, session, "jobs", found.now, [&](view::Document& document) {
        for (const model::Job& job : found.jobs) view::write_job(document, job, context);
    });
}

// "show job 12_3": of an array that waits, the one element that was named.
void single_out(model::Job& job, const std::vector<model::JobSelector>& selectors) {
    if (selectors.size() != 1 || !job.array || job.array->element) return;
    const auto& elements = selectors.front().elements;
    if (elements && elements->size() == 1) job.array->element = elements->front();
}

void show_jobs(Scontrol& control, const std::string& ids) {
    Session* session = control.session(kLoadJobs);
    if (session == nullptr) return;
    client::JobsQuery query;
    query.all_states = true;
    query.with_steps = control.document.kind.has_value();
    query.hidden_partitions = control.all || !ids.empty();
    if (!ids.empty()) {
        const auto selectors = parse_job_list(ids);
        if (!selectors) return control.say_failed(kLoadJobs, fail(Errc::InvalidJobId).error);
        query.filter.jobs = *selectors;
        query.one_job = selectors->size() == 1;
    }
    auto found = fetch_jobs_ever(session->connection, query);
    if (!found) return control.say_failed(kLoadJobs, found.error());
    sort_jobs(found->jobs);
    for (model::Job& job : found->jobs) single_out(job, query.filter.jobs);
    if (found->jobs.empty() && !(ids.empty() && control.document.kind)) {
        print(ids.empty() ? "No jobs in the system\n"
                          : fmt::format("Job {} not found\n", visible(ids)));
        if (!ids.empty()) control.exit_code = 1;
        return;
    }
    if (control.document.kind) return write_jobs(control, *session, *found);
    view::RecordStyle style = control.style(found->now);
    style.cluster = session->config.cluster_name;
    for (const model::Job& job : found->jobs) print(view::job_record(job, style));
}

bool names_step(const model::JobSelector& selector, const model::Step& step,
                const model::Job& job) {
    const bool same_job =
        selector.job == job.id ||
        (job.array && job.array->array_id == selector.job &&
         (!selector.elements || selector.all_elements ||
          (job.array->element && selector.elements->contains(*job.array->element))));
    return same_job && (!selector.step || *selector.step == step.key.step);
}

void show_steps(Scontrol& control, const std::string& ids) {
    constexpr std::string_view kCall = "slurm_get_job_steps error";
    Session* session = control.session(kCall);
    if (session == nullptr) return;
    client::JobsQuery query;
    query.with_steps = true;
    query.hidden_partitions = true;
    std::vector<model::JobSelector> selectors;
    if (!ids.empty()) {
        const auto parsed = parse_job_list(ids);
        if (!parsed) return control.say_failed(kCall, fail(Errc::InvalidStepId).error);
        selectors = *parsed;
        for (model::JobSelector whole : selectors) {
            whole.step.reset();
            query.filter.jobs.push_back(std::move(whole));
        }
    }
    const auto found = client::fetch_jobs(session->connection, query);
    if (!found) return control.say_failed(kCall, found.error());
    std::map<JobId, const model::Job*> jobs;
    for (const model::Job& job : found->jobs) jobs.emplace(job.id, &job);
    const view::RecordStyle style = control.style(found->now);
    std::vector<std::pair<const model::Step*, const model::Job*>> wanted;
    for (const model::Step& step : found->steps) {
        const auto job = jobs.find(step.key.job);
        if (job == jobs.end() || step.end) continue;
        const auto named = [&](const auto& s) { return names_step(s, step, *job->second); };
        if (!selectors.empty() && std::ranges::none_of(selectors, named)) continue;
        wanted.emplace_back(&step, job->second);
    }
    if (control.document.kind && !(wanted.empty() && !ids.empty())) {
        const view::StepContext context{found->now, session->config.cluster_name};
        return write_list(control, *session, "steps", found->now, [&](view::Document& document) {
            for (const auto& [step, job] : wanted) {
                view::write_running_step(document, *step, *job, context);
            }
        });
    }
    for (const auto& [step, job] : wanted) print(view::step_record(*step, *job, style));
    if (!wanted.empty()) return;
    if (found->jobs.empty() && !ids.empty()) {
        return control.complain(
            fmt::format("scontrol: error: scontrol_print_step: slurm_get_job_steps({}) failed: {}",
                        ids, errc_text(Errc::InvalidJobId)));
    }
    print(ids.empty() ? "No job steps in the system\n"
                      : fmt::format("Job step {} not found\n", visible(ids)));
    if (!ids.empty()) control.exit_code = 1;
}

void show_nodes(Scontrol& control, const std::string& names) {
    constexpr std::string_view kCall = "slurm_load_node error";
    Session* session = control.session(kCall);
    if (session == nullptr) return;
    const auto answer = client::fetch_nodes(session->connection, {}, !control.all);
    if (!answer) return control.say_failed(kCall, answer.error());
    std::vector<const model::Node*> wanted;
    for (const model::Node& node : answer->nodes) {
        if (!names.empty()) break;
        if (model::state_of(node) == model::NodeState::Future && !control.future) continue;
        wanted.push_back(&node);
    }
    const auto asked = names.empty() ? Result<std::vector<std::string>>(std::vector<std::string>{})
                                     : parse_node_list(names);
    if (!asked) return control.complain(fmt::format("Invalid node name specified: {}", names));
    std::string missing;
    for (const std::string& name : *asked) {
        const auto is_it = [&](const model::Node& node) { return node.config.name == name; };
        const auto node = std::ranges::find_if(answer->nodes, is_it);
        if (node != answer->nodes.end()) {
            wanted.push_back(&*node);
        } else {
            missing += fmt::format("Node {} not found\n", visible(name));
        }
    }
    if (!missing.empty()) control.exit_code = 1;
    if (control.document.kind) {
        return write_list(control, *session, "nodes", answer->now, [&](view::Document& document) {
            for (const model::Node* node : wanted) {
                view::write_node(document, *node, session->config.cluster_name);
            }
        });
    }
    const view::RecordStyle style = control.style(answer->now);
    for (const model::Node* node : wanted) print(view::node_record(*node, style));
    print(missing);
    if (wanted.empty() && names.empty()) print("No nodes in the system\n");
}

void show_partitions(Scontrol& control, const std::string& names) {
    constexpr std::string_view kCall = "slurm_load_partitions error";
    Session* session = control.session(kCall);
    if (session == nullptr) return;
    const auto partitions = client::fetch_partitions(session->connection);
    if (!partitions) return control.say_failed(kCall, partitions.error());
    const auto answer = client::fetch_nodes(session->connection);
    if (!answer) return control.say_failed(kCall, answer.error());
    std::vector<const model::Partition*> wanted;
    for (const model::Partition& partition : *partitions) {
        if (names.empty() && (!partition.concealed || control.all)) wanted.push_back(&partition);
    }
    std::string missing;
    for (const std::string& name : split_list(names)) {
        const auto partition = std::ranges::find(*partitions, name, &model::Partition::name);
        if (partition != partitions->end() && (!partition->concealed || control.all)) {
            wanted.push_back(&*partition);
        } else {
            missing += fmt::format("Partition {} not found\n", visible(name));
        }
    }
    if (!missing.empty()) control.exit_code = 1;
    if (control.document.kind) {
        return write_list(control, *session, "partitions", answer->now,
                          [&](view::Document& document) {
                              for (const model::Partition* partition : wanted) {
                                  view::write_partition(document, {}, *partition,
                                                        view::totals_of(*partition, answer->nodes));
                              }
                          });
    }
    const view::RecordStyle style = control.style(answer->now);
    for (const model::Partition* partition : wanted) {
        print(view::partition_record(*partition, answer->nodes, style));
    }
    print(missing);
    if (wanted.empty() && names.empty()) print("No partitions in the system\n");
}

// The names behind an argument: an expression, a file ("/..."), standard input ("-") or, when there
// is none, the nodes of the job we are in.
Result<std::vector<std::string>> hosts_of(const std::string& argument) {
    std::string expression = argument;
    if (argument.empty()) {
        const char* nodes = std::getenv("SLURM_JOB_NODELIST");
        if (nodes == nullptr || *nodes == '\0') nodes = std::getenv("SLURM_NODELIST");
        expression = nodes != nullptr ? nodes : "";
    } else if (argument == "-" || argument.starts_with('/')) {
        SY_TRY(const std::vector<std::string> words, read_words(argument));
        expression = join(words, ",");
    }
    if (expression.empty()) return fail(Errc::InvalidArgument, "host list is empty");
    auto names = model::expand_hostlist(expression);
    if (!names) {
        return fail(Errc::InvalidArgument, fmt::format("Invalid hostlist: {}", expression));
    }
    return names;
}

enum class HostView { Names, List, Sorted };

void show_hosts(const std::string& argument, HostView view) {
    auto names = hosts_of(argument);
    if (!names) {  // Slurm's exit code stays 0.
        say_error("scontrol", names.error().message);
        return;
    }
    if (view == HostView::Names) {
        for (const std::string& name : *names) print(name + "\n");
        return;
    }
    // Sorted, but not made unique.
    if (view == HostView::Sorted) std::ranges::sort(*names, model::hostname_less);
    print(model::compress_hostlist(*names) + "\n");
}

std::string this_host() {
    char host[256] = {};
    gethostname(host, sizeof host - 1);
    const std::string name(host);
    return name.substr(0, name.find('.'));
}

std::vector<model::Node> nodes_on(Scontrol& control, const std::string& host) {
    std::vector<model::Node> found;
    Session* session = control.session("slurm_load_node error");
    if (session == nullptr) return found;
    auto answer = client::fetch_nodes(session->connection);
    if (!answer) {
        control.say_failed("slurm_load_node error", answer.error());
        return found;
    }
    for (model::Node& node : answer->nodes) {
        const bool here =
            view::host_name_of(node) == host || (node.facts && node.facts->host_name == host);
        if (here) found.push_back(std::move(node));
    }
    return found;
}

void show_aliases(Scontrol& control, const std::string& host) {
    std::vector<std::string> names;
    for (const model::Node& node : nodes_on(control, host.empty() ? this_host() : host)) {
        names.push_back(node.config.name);
    }
    if (!names.empty()) print(join(names, " ") + "\n");
}

void show_daemons(Scontrol& control) {
    Session* session = control.session("slurm_load_node error");
    if (session == nullptr) return;
    std::vector<std::string> daemons;
    const std::string host = this_host();
    for (const config::ControllerHost& controller : session->config.controllers) {
        const bool here = controller.host == host || controller.host == "localhost";
        if (here) daemons = {"slurmctld"};
    }
    if (!nodes_on(control, host).empty()) daemons.emplace_back("slurmd");
    print(join(daemons, " ") + "\n");
}

// "12.batch, 12.0" by node.
Result<std::map<std::string, std::string>> steps_on_nodes(Session& session) {
    client::JobsQuery query;
    query.with_steps = true;
    query.hidden_partitions = true;
    SY_TRY(const client::JobsChunk found, client::fetch_jobs(session.connection, query));
    std::map<std::string, std::string> steps;
    for (const model::Step& step : found.steps) {
        if (step.end) continue;
        for (const model::StepNode& node : step.layout.nodes) {
            std::string& text = steps[node.grant.node];
            text += fmt::format("{}{}.{}", text.empty() ? "" : ", ", step.key.job.value,
                                model::step_name(step.key.step));
        }
    }
    return steps;
}

void show_slurmd(Scontrol& control) {
    constexpr std::string_view kCall = "slurm_load_slurmd_status";
    Session* session = control.session(kCall);
    if (session == nullptr) return;
    auto steps = steps_on_nodes(*session);
    if (!steps) return control.say_failed(kCall, steps.error());
    for (const model::Node& node : nodes_on(control, this_host())) {
        const view::NodeSize size = view::size_of(node);
        const std::string& active = (*steps)[node.config.name];
        print(fmt::format("Active Steps             = {}\n", active.empty() ? "NONE" : active));
        print(fmt::format("Actual CPUs              = {}\n", size.cpus));
        print(fmt::format("Actual sockets           = {}\n", size.sockets));
        print(fmt::format("Actual cores             = {}\n", size.cores_per_socket));
        print(fmt::format("Actual threads per core  = {}\n", size.threads_per_core));
        print(fmt::format("Actual real memory       = {} MB\n", size.memory.value));
        if (node.facts) {
            print(fmt::format("Boot time                = {}\n",
                              model::format_instant(node.facts->agent_started)));
            print(fmt::format("Hostname                 = {}\n", node.facts->host_name));
            print(fmt::format("Containment              = {}\n", node.facts->containment));
            print(fmt::format("Version                  = {}\n", node.facts->version));
        }
        print(fmt::format("Slurmd NodeName          = {}\n\n", node.config.name));
    }
}

using ShowOne = void (*)(Scontrol& control, const std::string& id);
struct Entity {
    std::string_view name;
    std::size_t shortest;  // How much of the name must be typed.
    ShowOne show;
    bool as_document = false;  // Whether --json and --yaml know it.
};

// Of things that there are none of here: a list without entries, as Slurm shows it.
void show_none(Scontrol&, const std::string&) {}

void show_topology_file(Scontrol&, const std::string&) {
    print(
        "%YAML 1.1\n---\n- topology: default\n  cluster_default: false\n  block: {}\n  flat: {}\n"
        "  ring: {}\n  torus3d: {}\n  tree: {}\n...\n");
}

const Entity kEntities[] = {
    {"aliases", 1, show_aliases},
    {"assoc_mgr", 2,
     [](Scontrol& c, const std::string&) {
         c.complain("slurm_load_assoc_mgr_info error: Slurm accounting storage is disabled");
     }},
    {"bbstat", 2, show_none},
    {"burstbuffer", 2, show_none},
    {"config", 1, [](Scontrol& c, const std::string&) { show_config(c); }},
    {"daemons", 1, [](Scontrol& c, const std::string&) { show_daemons(c); }},
    {"dwstat", 2, show_none},
    {"federation", 1, show_none},
    {"hostlistsorted", 9,
     [](Scontrol&, const std::string& id) { show_hosts(id, HostView::Sorted); }},
    {"hostlist", 5, [](Scontrol&, const std::string& id) { show_hosts(id, HostView::List); }},
    {"hostnames", 5, [](Scontrol&, const std::string& id) { show_hosts(id, HostView::Names); }},
    {"jobs", 1, show_jobs, true},
    {"jobid", 4, show_jobs, true},
    {"licenses", 2, show_licenses, true},
    {"nodes", 1, show_nodes, true},
    {"partitions", 1, show_partitions, true},
    {"partitionname", 10, show_partitions, true},
    {"nodename", 5, show_nodes, true},
    {"reservations", 1, show_reservations, true},
    {"reservationname", 12, show_reservations, true},
    {"slurmd", 2, [](Scontrol& c, const std::string&) { show_slurmd(c); }},
    {"steps", 2, show_steps, true},
    {"stepid", 5, show_steps, true},
    {"topoconf", 5, show_topology_file},
    {"topology", 1, show_none},
};

}  // namespace

void show(Scontrol& control, const Words& words) {
    if (words.empty()) return control.complain("too few arguments for keyword:show");
    // "show job 12", "show job=12".
    const std::size_t equals = words[0].find('=');
    const std::string kind = words[0].substr(0, equals);
    std::string id = equals != std::string::npos ? words[0].substr(equals + 1) : "";
    if (id.empty() && words.size() > 1) id = words[1];
    const std::size_t used = equals != std::string::npos ? 1 : 2;
    if (words.size() > used) return control.complain("too many arguments for keyword:show");
    for (const Entity& entity : kEntities) {
        if (kind.size() < entity.shortest || !starts_with_ignoring_case(entity.name, kind))
            continue;
        if (control.document.kind && !entity.as_document) {
            return control.complain(
                fmt::format("show {}: there is no JSON or YAML form of it", entity.name));
        }
        return entity.show(control, id);
    }
    control.complain(fmt::format("invalid entity:{} for keyword:show", kind));
}

}  // namespace switchyard::cli
