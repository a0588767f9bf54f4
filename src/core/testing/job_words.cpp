// job_words.cpp: see job_words.hpp.

#include "core/testing/job_words.hpp"

#include "model/hostlist.hpp"

namespace switchyard::core::testing {
namespace {

void add_flags(const Words& words, model::JobSpec& spec) {
    spec.user = "alice";
    if (words.has("exclusive")) spec.exclusive = model::Exclusive::Node;
    if (words.has("single-user")) spec.exclusive = model::Exclusive::User;
    if (words.has("minnodes")) spec.use_min_nodes = true;
    if (words.has("hold")) spec.hold = true;
    if (words.has("norequeue")) spec.requeue = false;
    if (words.has("overcommit")) spec.overcommit = true;
    if (words.has("immediate")) spec.immediate = true;
    if (words.has("detached")) spec.detached = true;
    if (words.has("nokill")) spec.no_kill = true;
    if (words.has("contiguous")) spec.contiguous = true;
    if (words.has("killinvalid")) spec.kill_on_invalid_dependency = true;
    if (words.values.contains("prio")) spec.priority = words.number("prio");
    spec.mail_user = words.get("mailuser");
    spec.work_dir = words.get("workdir");
}

// Those that are read elsewhere.
bool is_other_key(const std::string& key) {
    constexpr std::string_view kKeys[] = {"user", "nonce",    "token",  "time",
                                          "prio", "mailuser", "workdir"};
    return std::ranges::find(kKeys, key) != std::end(kKeys);
}

}  // namespace

model::JobSpec job_options(const Words& words, Instant now, Unknown& unknown) {
    model::JobSpec spec;
    for (const auto& [key, value] : words.values) {
        if (key == "n")
            spec.tasks = number(value);
        else if (key == "N") {
            const auto dash = value.find('-');
            spec.nodes_min = number(value.substr(0, dash));
            spec.nodes_max = dash == std::string::npos
                                 ? spec.nodes_min
                                 : std::optional(number(value.substr(dash + 1)));
        } else if (key == "c")
            spec.cpus_per_task = number(value);
        else if (key == "t")
            spec.time_limit = minutes(value);
        else if (key == "p") {
            for (const auto name : split(value, ',')) spec.partitions.emplace_back(name);
        } else if (key == "w")
            spec.required_nodes = *model::expand_hostlist(value);
        else if (key == "x")
            spec.excluded_nodes = *model::expand_hostlist(value);
        else if (key == "C")
            spec.constraint = value;
        else if (key == "gres")
            spec.gres_per_node = *model::parse_gres(value);
        else if (key == "gpus")
            spec.gpus_per_job = *model::parse_gres("gpu:" + value);
        else if (key == "gpt")
            spec.gpus_per_task = *model::parse_gres("gpu:" + value);
        else if (key == "mem")
            spec.memory = {model::MemoryRequest::Per::Node, model::MiB{std::stoull(value)}};
        else if (key == "memcpu")
            spec.memory = {model::MemoryRequest::Per::Cpu, model::MiB{std::stoull(value)}};
        else if (key == "tpn")
            spec.tasks_per_node = number(value);
        else if (key == "array")
            spec.array = *model::parse_array(value);
        else if (key == "dep")
            spec.dependency = *model::parse_dependency(value);
        else if (key == "begin")
            spec.begin = now + Seconds{std::stoll(value)};
        else if (key == "warn")
            spec.warn_signal.signal = std::stoi(value);
        else if (key == "deadline")
            spec.deadline = now + Seconds{std::stoll(value)};
        else if (key == "name")
            spec.name = value;
        else if (key == "prefer")
            spec.prefer = value;
        else if (key == "tmin")
            spec.time_min = minutes(value);
        else if (key == "corespec")
            spec.core_spec = number(value);
        else if (key == "nice")
            spec.nice = std::stoi(value);
        else if (key == "resv")
            spec.reservation = value;
        else if (key == "lic")
            spec.licenses = value;
        else if (key == "group")
            spec.group = value;
        else if (key == "account")
            spec.account = value;
        else if (key == "mail")
            spec.mail_types = *model::parse_mail_types(value);
        else if (!is_other_key(key))
            unknown.push_back(key);
    }
    add_flags(words, spec);
    return spec;
}

model::StepSpec step_options(const Words& words) {
    model::StepSpec spec;
    spec.name = "step";
    if (words.values.contains("n")) spec.tasks = words.number("n");
    if (words.values.contains("N")) spec.nodes_min = spec.nodes_max = words.number("N");
    if (words.values.contains("c")) spec.cpus_per_task = words.number("c");
    if (words.values.contains("tpn")) spec.tasks_per_node = words.number("tpn");
    if (words.values.contains("r")) spec.relative = words.number("r");
    if (words.values.contains("w")) spec.required_nodes = *model::expand_hostlist(words.get("w"));
    if (words.values.contains("gres")) spec.gres_per_node = *model::parse_gres(words.get("gres"));
    spec.overlap = words.has("overlap");
    spec.detached = words.has("async");
    spec.exact = words.has("exact");
    spec.immediate = words.has("immediate");
    spec.gres_none = words.has("nogres");
    if (words.values.contains("ports")) spec.resv_ports = words.number("ports");
    return spec;
}

model::JobUpdate job_update(const Words& words, Instant now, Unknown& unknown) {
    model::JobUpdate update;
    for (const auto& [key, value] : words.values) {
        if (key == "time") {
            using Mode = model::TimeLimitChange::Mode;
            const bool signed_change = value[0] == '+' || value[0] == '-';
            update.time_limit = {value[0] == '+'   ? Mode::Add
                                 : value[0] == '-' ? Mode::Subtract
                                                   : Mode::Set,
                                 minutes(signed_change ? value.substr(1) : value)};
        } else if (key == "name")
            update.name = value;
        else if (key == "nodes")
            update.nodes_min = number(value);
        else if (key == "part")
            update.partitions = std::vector<std::string>{value};
        else if (key == "priority")
            update.priority = number(value);
        else if (key == "nice")
            update.nice = std::stoi(value);
        else if (key == "throttle")
            update.array_throttle = number(value);
        else if (key == "dep")
            update.dependency = *model::parse_dependency(value);
        else if (key == "begin")
            update.begin = now + Seconds{std::stoll(value)};
        else if (key == "comment")
            update.comment = value;
        else if (key == "resv")
            update.reservation = value;
        else if (key == "lic")
            update.licenses = value;
        else if (key == "timemin")
            update.time_min = minutes(value);
        else if (key == "end")
            update.end = now + Seconds{std::stoll(value)};
        else if (key == "cpus")
            update.cpus = number(value);
        else if (key == "corespec")
            update.core_spec = std::stoi(value);
        else if (key == "prefer")
            update.prefer = value;
        else if (key == "nodelist")
            update.required_nodes = *model::expand_hostlist(value);
        else if (key == "deadline")
            update.deadline = now + Seconds{std::stoll(value)};
        else if (key != "user")
            unknown.push_back(key);
    }
    return update;
}

}  // namespace switchyard::core::testing
