// transcript_test.cpp: the interpreter behind play(), and the tests made from the scenario files.
//
//   set KEY=VALUE ...                      settings, before `start`
//   node NAMES [cpus= sockets= threads= mem= weight= features=a,b gres=gpu:x:2,shard:x:128]
//   partition NAME nodes=NAMES [default] [max=MIN] [deftime=MIN] [state=down] [tier=N]
//   [share=force:4] [preempt=MODE] [grace=SECONDS]
//   start                                  the cluster, with every node registered
//   restart                                from the disk; nodes are silent until `up`
//   up NODE [12.batch 12#1.0 ...] [cpus= mem= booted=]   registers, listing these steps
//   lost NODE | silence                    its connection closes
//   at +SECONDS                            time passes, all timers that fall due on the way
//   sbatch|salloc [options] [user=UID] [: options ...]   see submit_options()
//   crontab time=*/5_*_*_*_* [options]     a crontab of one line
//   srun JOB [options] [: JOB options ...] | ended NODE STEP [exit=N|signal=N] [clean] [timeout]
//   [lost] [oom] [error=TEXT] script NODE JOB [epilog] | prolog|epilog JOB [fail] | started NODE
//   STEP | clean NODE JOB | gone TOKEN [may_return] | release TOKEN JOB exit=N
//   cancel|hold|uhold|unhold|requeue|requeuehold|suspend|resume|top|wait|attach IDS [user=UID]
//   [signal=N] update IDS KEY=VALUE ... | drain|undrain|resumenode|down NODES [reason=...] | part
//   NAME KEY=VALUE | idle|busy NODE JOB (its cards) | queue | nodes | steps    what there is now
//   and the verbs of operator_events.hpp | triggers

#include "core/testing/transcript.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/cluster/cluster.hpp"
#include "core/testing/describe.hpp"
#include "core/testing/fake_disk.hpp"
#include "core/testing/operator_events.hpp"
#include "core/testing/reservation_words.hpp"
#include "core/testing/transcript_words.hpp"
#include "model/hostlist.hpp"

namespace switchyard::core::testing {
namespace {

constexpr std::int64_t kEpoch =
    1000000;  // The scenario begins here; transcripts show plain seconds.

std::uint32_t number(const std::string& text) {
    return static_cast<std::uint32_t>(std::stoul(text));
}

StepKey parse_key(const std::string& text) {
    const auto dot = text.find('.');
    const std::string run = text.substr(0, dot), step = text.substr(dot + 1);
    StepKey key;
    const auto hash = run.find('#');
    key.job = JobId{number(run.substr(0, hash))};
    if (hash != std::string::npos) key.attempt = Attempt{number(run.substr(hash + 1))};
    key.step = step == "batch" ? kBatchStep : StepId{number(step)};
    return key;
}

std::vector<model::GresInventory> parse_inventory(const std::string& text) {
    std::vector<model::GresInventory> inventory;
    for (const auto& request : *model::parse_gres(text)) {
        model::GresInventory gres;
        gres.name = request.name;
        gres.type = request.type;
        gres.count = request.count;
        if (gres.name == "gpu")
            gres.devices = model::IndexSet::range(0, static_cast<std::uint32_t>(gres.count) - 1);
        inventory.push_back(std::move(gres));
    }
    return inventory;
}

model::TimeLimit minutes(const std::string& text) { return *model::parse_time_limit(text); }

class Player {
  public:
    std::string play(std::string_view script) {
        if (script.ends_with('\n')) script.remove_suffix(1);
        for (const std::string_view line : split(script, '\n')) {
            if (line.starts_with("  ")) continue;  // What was expected; see play().
            out_ += std::string(line) + "\n";
            if (line.starts_with("> ")) command(line.substr(2));
        }
        return out_;
    }

  private:
    void say(const std::string& text) { out_ += "  " + text + "\n"; }

    void command(std::string_view line) {
        const Words words(line);
        const std::string verb = words.plain.front();
        if (verb == "set") return configure(words);
        if (verb == "node") return add_node(words);
        if (verb == "partition") return add_partition(words);
        if (verb == "start") return start();
        if (verb == "restart") return restart();
        if (verb == "at") return pass_time(words.plain.at(1));
        if (verb == "queue") return show_queue();
        if (verb == "triggers") return show_triggers();
        if (verb == "nodes") return show_nodes();
        if (verb == "reservations") return show_reservations();
        if (verb == "licenses") return show_licenses();
        if (verb == "steps") return show_steps();
        act(verb, words);
        flush();
    }

    void configure(const Words& words) {
        for (const auto& [key, value] : words.values) {
            const auto seconds = [&] { return Seconds{std::stoll(value)}; };
            if (key == "backfill")
                settings_.backfill = value == "yes";
            else if (key == "preempt") {
                settings_.preempt.by_tier = true;
                settings_.preempt.mode = model::parse_preempt_mode(value)->mode;
            } else if (key == "exempt")
                settings_.preempt.exempt = seconds();
            else if (key == "youngest")
                settings_.preempt.youngest_first = value == "yes";
            else if (key == "exempt_priority")
                settings_.preempt.min_exempt_priority = number(value);
            else if (key == "user_signal")
                settings_.preempt.send_user_signal = value == "yes";
            else if (key == "window")
                settings_.backfill_window = seconds();
            else if (key == "idle_gpus")
                settings_.idle_gpus = value == "requeue"  ? Settings::IdleGpus::Requeue
                                      : value == "cancel" ? Settings::IdleGpus::Cancel
                                                          : Settings::IdleGpus::Mail;
            else if (key == "enforce")
                settings_.enforce_partition_limits = value == "yes";
            else if (key == "defmem")
                settings_.def_mem_per_cpu = model::MiB{std::stoull(value)};
            else if (key == "maxmemcpu")
                settings_.max_mem_per_cpu = model::MiB{std::stoull(value)};
            else if (key == "prepare")
                settings_.prepare_nodes = value == "yes";
            else if (key == "run_prolog")
                settings_.run_prolog = value == "yes";
            else if (key == "run_epilog")
                settings_.run_epilog = value == "yes";
            else if (key == "ports") {
                const auto dash = value.find('-');
                settings_.first_port = static_cast<std::uint16_t>(number(value.substr(0, dash)));
                settings_.last_port = static_cast<std::uint16_t>(number(value.substr(dash + 1)));
            } else if (key == "min_age")
                settings_.min_job_age = seconds();
            else if (key == "node_timeout")
                settings_.node_timeout = seconds();
            else if (key == "owner_grace")
                settings_.owner_grace = seconds();
            else if (key == "return")
                settings_.return_to_service = static_cast<std::uint8_t>(std::stoi(value));
            else if (key == "requeue")
                settings_.requeue_by_default = value == "yes";
            else if (key == "kill_invalid")
                settings_.kill_invalid_dependency = value == "yes";
            else if (key == "reboot")
                settings_.can_reboot = value == "yes";
            else if (key == "resume_timeout")
                settings_.resume_timeout = seconds();
            else if (key == "triggers")
                settings_.users_set_triggers = value == "yes";
            else if (key == "over")
                settings_.over_time_limit = number(value);
            else if (key == "lic")
                settings_.licenses = *model::parse_licenses(value);
            else if (key == "overrun")
                settings_.reservation_over_run = Minutes{number(value)};
            else if (key == "unit")
                settings_.unit =
                    value == "socket" ? Settings::Unit::Socket : Settings::Unit::WholeNode;
            else
                ADD_FAILURE() << "unknown setting " << key;
        }
    }

    void add_node(const Words& words) {
        for (const std::string& name : *model::expand_hostlist(words.plain.at(1))) {
            model::NodeConfig node;
            node.name = name;
            const std::uint32_t threads = words.number("threads", 1),
                                sockets = words.number("sockets", 1);
            node.cpus = words.number("cpus", 8);
            node.sockets = sockets;
            node.threads_per_core = threads;
            node.cores_per_socket = node.cpus / threads / sockets;
            node.memory = model::MiB{words.number("mem", 4000)};
            node.weight = words.number("weight", 1);
            for (const auto feature : split(words.get("features"), ','))
                node.features.emplace_back(feature);
            if (words.values.contains("gres")) node.gres = parse_inventory(words.get("gres"));
            settings_.nodes.push_back(std::move(node));
        }
    }

    void add_partition(const Words& words) {
        model::Partition partition;
        partition.name = words.plain.at(1);
        partition.nodes = *model::expand_hostlist(words.get("nodes"));
        partition.is_default = words.has("default");
        if (words.values.contains("max")) partition.max_time = minutes(words.get("max"));
        if (words.values.contains("deftime"))
            partition.default_time = minutes(words.get("deftime"));
        if (words.get("state") == "down") partition.state = model::PartitionState::Down;
        partition.priority_tier = words.number("tier", 1);
        partition.grace_time = words.number("grace", 0);
        if (words.values.contains("preempt"))
            partition.preempt_mode = model::parse_preempt_mode(words.get("preempt"))->mode;
        if (words.get("share") == "force")
            partition.over_subscribe = model::Partition::OverSubscribe::Force;
        settings_.partitions.push_back(std::move(partition));
    }

    void start() {
        settings_.gres_types = {"gpu", "shard", "tape"};
        settings_.cluster_name = "test";
        cluster_ = std::make_unique<Cluster>(settings_, Records{}, now());
        for (const auto& node : settings_.nodes)
            step(event::NodeUp{node.name, facts(node.name, Words("")), {}});
        flush();
    }

    void restart() {
        cluster_ = std::make_unique<Cluster>(settings_, disk_.load(), now());
        step(event::Tick{});
        flush();
    }

    model::NodeFacts facts(const std::string& name, const Words& words) const {
        model::NodeFacts facts;
        for (const auto& node : settings_.nodes) {
            if (node.name != name) continue;
            facts.cpus = words.number("cpus", node.cpus);
            facts.sockets = node.sockets;
            facts.cores_per_socket = node.cores_per_socket;
            facts.threads_per_core = node.threads_per_core;
            facts.memory =
                model::MiB{words.number("mem", static_cast<std::uint32_t>(node.memory.value))};
        }
        facts.booted = from_unix_seconds(
            words.values.contains("booted") ? kEpoch + words.number("booted") : kEpoch - 1000);
        return facts;
    }

    void pass_time(const std::string& text) {
        const std::int64_t target = elapsed_ + std::stoll(text.substr(1));
        while (true) {
            const auto wake = cluster_->next_wakeup();
            if (!wake || unix_seconds(*wake) - kEpoch > target) break;
            elapsed_ =
                std::max(elapsed_, (wake->time_since_epoch() - Seconds{kEpoch}) / Seconds{1});
            step(event::Tick{});
            flush();
        }
        elapsed_ = target;
    }

    void step(Event event) {
        cluster_->step(now(), event);
        cluster_->schedule(now());
    }

    Instant now() const { return from_unix_seconds(kEpoch + elapsed_); }

    void flush() {
        disk_.commit(*cluster_, cluster_->take_changes());
        disk_.check_against(*cluster_);
        cluster_->check_invariants();
        for (const Effect& effect : cluster_->take_effects()) say(plain_seconds(describe(effect)));
    }

    // Instants are shown relative to the beginning.
    static std::string plain_seconds(std::string text) {
        for (std::size_t at = 0; (at = text.find("100", at)) != std::string::npos; ++at) {
            const bool whole = at + 7 <= text.size() &&
                               (at == 0 || !isdigit(static_cast<unsigned char>(text[at - 1])));
            if (!whole) continue;
            const std::string digits = text.substr(at, 7);
            if (!std::ranges::all_of(digits, [](unsigned char c) { return isdigit(c); })) continue;
            text.replace(at, 7, fmt::format("+{}s", std::stoll(digits) - kEpoch));
        }
        return text;
    }

    Token token() { return Token{++last_token_}; }
    static Caller caller(const Words& words, std::uint32_t uid = 1000) {
        const std::uint32_t id = words.number("user", uid);
        return {id, id};
    }
    static std::vector<model::JobSelector> selectors(const Words& words) {
        std::vector<model::JobSelector> list;
        for (std::size_t i = 1; i < words.plain.size(); ++i) {
            if (isdigit(static_cast<unsigned char>(words.plain[i][0])))
                list.push_back(*model::parse_job_selector(words.plain[i]));
        }
        return list;
    }

    void act(const std::string& verb, const Words& words);
    void act_on_jobs(const std::string& verb, const Words& words);
    void act_as_admin(const std::string& verb, const Words& words);
    void submit(const Words& words, model::JobKind kind);
    model::JobSpec submit_options(const Words& words) const;
    void create_step(const Words& words);
    static model::StepSpec step_options(const Words& words);
    void step_ended(const Words& words);
    void update(const Words& words);

    void show_queue() {
        for (const auto& [id, job] : cluster_->jobs()) {
            std::string text = describe(job);
            if (const auto* pending = std::get_if<model::Pending>(&job.phase);
                pending && pending->planned_start) {
                text += fmt::format(" planned +{}s on {}",
                                    unix_seconds(*pending->planned_start) - kEpoch,
                                    model::compress_hostlist(pending->planned_nodes));
            }
            say(text);
        }
    }
    void show_triggers() {
        for (const auto& [id, trigger] : cluster_->triggers()) {
            say(fmt::format("{} {} {} {} offset={} uid={}{}{}", id, to_string(trigger.resource),
                            resource_id(trigger), to_string(trigger.type), trigger.offset.count(),
                            trigger.uid, trigger.permanent ? " perm" : "",
                            trigger.fired ? " fired" : ""));
        }
    }
    void show_reservations() {
        for (const auto& [name, r] : cluster_->reservations()) {
            std::string text =
                fmt::format("{} +{}s..+{}s {} {}", name, unix_seconds(r.start) - kEpoch,
                            unix_seconds(r.end) - kEpoch, model::compress_hostlist(r.nodes),
                            r.is_active(now()) ? "ACTIVE" : "INACTIVE");
            if (const std::string flags = model::format_flags(r); !flags.empty())
                text += " " + flags;
            for (const auto& [node, cores] : r.cores)
                text += fmt::format(" {}[{}]", node, to_string(cores));
            say(text);
        }
    }
    void show_licenses() {
        for (const model::LicenseUse& each : cluster_->licenses())
            say(fmt::format("{} {}/{} reserved {}", each.name, each.used, each.total,
                            each.reserved));
    }
    void show_nodes() {
        for (const model::Node& node : cluster_->nodes()) say(describe(node));
    }
    void show_steps() {
        for (const auto& [key, one] : cluster_->steps()) {
            std::string text = name_of(key) + " ";
            for (const auto& node : one.layout.nodes) {
                text += fmt::format("{}[{}]:", node.grant.node, to_string(node.grant.cores));
                for (const std::uint32_t rank : node.tasks) text += fmt::format("{},", rank);
                text.back() = ' ';
                if (!node.grant.gres.empty()) text += to_string(node.grant.gres) + " ";
            }
            if (!one.resv_ports.empty()) text += "ports " + one.resv_ports + " ";
            if (one.het)
                text += fmt::format("tasks {}+ of {} ", one.het->task_offset, one.het->tasks);
            text += one.end ? fmt::format("{} {}", model::long_name(one.end->state),
                                          to_string(one.end->exit))
                            : "runs on " + model::compress_hostlist(one.running_nodes);
            say(text);
        }
    }

    Settings settings_;
    std::unique_ptr<Cluster> cluster_;
    FakeDisk disk_;
    std::int64_t elapsed_ = 0;
    std::uint64_t last_token_ = 0;
    std::string out_;
};

void add_flags(const Words& words, model::JobSpec& spec) {
    spec.user = "alice";
    if (words.has("exclusive")) spec.exclusive = model::Exclusive::Node;
    if (words.has("minnodes")) spec.use_min_nodes = true;
    if (words.has("hold")) spec.hold = true;
    if (words.has("norequeue")) spec.requeue = false;
    if (words.has("overcommit")) spec.overcommit = true;
    if (words.has("immediate")) spec.immediate = true;
    if (words.has("detached")) spec.detached = true;
    if (words.has("nokill")) spec.no_kill = true;
    if (words.has("contiguous")) spec.contiguous = true;
    if (words.has("killinvalid")) spec.kill_on_invalid_dependency = true;
}

// The options of sbatch as words: n=4 N=2 or N=1-2, c=, t=MINUTES, p=a,b, w=, x=, C=, gres=, gpus=,
// mem=, memcpu=, tpn=, array=, dep=, begin=SECONDS, name=, nice=, nonce=, mail=TYPES, and the flags
// below.
model::JobSpec Player::submit_options(const Words& words) const {
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
            spec.begin = now() + Seconds{std::stoll(value)};
        else if (key == "warn")
            spec.warn_signal.signal = std::stoi(value);
        else if (key == "deadline")
            spec.deadline = now() + Seconds{std::stoll(value)};
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
        else if (key == "account")
            spec.account = value;
        else if (key == "mail")
            spec.mail_types = *model::parse_mail_types(value);
        else if (key != "user" && key != "nonce" && key != "token" && key != "time")
            ADD_FAILURE() << "unknown option " << key;
    }
    add_flags(words, spec);
    return spec;
}

void Player::submit(const Words& words, model::JobKind kind) {
    event::Submit submit;
    submit.token = token();
    submit.caller = caller(words);
    submit.spec = submit_options(words);
    submit.spec.kind = kind;
    submit.nonce = words.number("nonce");
    submit.test_only = words.has("test");
    for (const Words& component : words.more) {
        submit.components.push_back(submit_options(component));
        submit.components.back().kind = kind;
    }
    step(std::move(submit));
}

void Player::create_step(const Words& words) {
    event::CreateStep create;
    create.token = token();
    create.caller = caller(words);
    create.job = JobId{number(words.plain.at(1))};
    create.nonce = words.number("nonce");
    create.spec = step_options(words);
    for (const Words& part : words.more)
        create.more.push_back({JobId{number(part.plain.at(0))}, step_options(part)});
    step(std::move(create));
}

model::StepSpec Player::step_options(const Words& words) {
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
    spec.exact = words.has("exact");
    spec.immediate = words.has("immediate");
    spec.gres_none = words.has("nogres");
    if (words.values.contains("ports")) spec.resv_ports = words.number("ports");
    return spec;
}

void Player::step_ended(const Words& words) {
    event::StepEnded ended;
    ended.node = words.plain.at(1);
    StepReport& report = ended.report;
    report.key = parse_key(words.plain.at(2));
    report.exit.code = static_cast<std::int32_t>(words.number("exit"));
    report.exit.signal = static_cast<std::int32_t>(words.number("signal"));
    report.timed_out = words.has("timeout");
    report.out_of_memory = words.has("oom");
    report.lost = words.has("lost");
    report.job_clean = words.has("clean");
    report.launch_error = words.get("error");
    step(std::move(ended));
}

void Player::update(const Words& words) {
    event::UpdateJob event;
    event.token = token();
    event.caller = caller(words);
    event.jobs = selectors(words);
    model::JobUpdate& update = event.update;
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
            update.begin = now() + Seconds{std::stoll(value)};
        else if (key == "comment")
            update.comment = value;
        else if (key == "resv")
            update.reservation = value;
        else if (key == "lic")
            update.licenses = value;
    }
    step(std::move(event));
}

void Player::act_on_jobs(const std::string& verb, const Words& words) {
    const auto jobs = selectors(words);
    if (verb == "cancel") {
        event::Signal event{token(),
                            caller(words),
                            {},
                            static_cast<int>(words.number("signal")),
                            words.has("batch"),
                            words.has("full"),
                            false};
        event.filter.jobs = jobs;
        if (words.values.contains("name")) event.filter.names = {words.get("name")};
        if (words.values.contains("of")) event.filter.uids = {words.number("of")};
        if (words.get("state") == "pending") event.filter.states = {model::JobState::Pending};
        return step(std::move(event));
    }
    if (verb == "hold" || verb == "uhold" || verb == "unhold") {
        return step(event::Hold{token(), caller(words), jobs, verb != "unhold", verb == "uhold"});
    }
    if (verb == "requeue" || verb == "requeuehold") {
        return step(event::Requeue{token(), caller(words), jobs, verb == "requeuehold",
                                   words.has("incomplete"), words.has("special")});
    }
    if (verb == "suspend" || verb == "resume") {
        return step(event::Suspend{token(), caller(words, 0), jobs, verb == "resume"});
    }
    if (verb == "top") return step(event::Top{token(), caller(words), jobs});
    if (verb == "wait") return step(event::WaitForEnd{token(), caller(words), jobs.front().job});
    if (verb == "attach") return step(event::Attach{token(), caller(words), jobs.front().job});
    ADD_FAILURE() << "unknown command " << verb;
}

void Player::act_as_admin(const std::string& verb, const Words& words) {
    if (verb == "resv")
        return step(
            event::UpdateReservation{token(), caller(words, 0), reservation_update(words, now())});
    if (verb == "reconfigure") return step(event::Reconfigure{token(), settings_});
    if (verb == "part") {
        event::UpdatePartition event{token(), caller(words, 0), {}};
        event.update.name = words.plain.at(1);
        if (words.has("create")) event.update.action = model::PartitionUpdate::Action::Create;
        if (words.has("delete")) event.update.action = model::PartitionUpdate::Action::Delete;
        if (words.values.contains("state"))
            event.update.state = *model::parse_partition_state(words.get("state"));
        if (words.values.contains("nodes"))
            event.update.nodes = *model::expand_hostlist(words.get("nodes"));
        if (words.values.contains("max")) event.update.max_time = minutes(words.get("max"));
        if (words.values.contains("grace")) event.update.grace_time = words.number("grace", 0);
        if (words.values.contains("preempt"))
            event.update.preempt_mode = model::parse_preempt_mode(words.get("preempt"))->mode;
        return step(std::move(event));
    }
    event::UpdateNode event{token(), caller(words, 0), "root", {}};
    event.update.nodes = *model::expand_hostlist(words.plain.at(1));
    using Verb = model::NodeVerb;
    event.update.verb = verb == "drain"     ? Verb::Drain
                        : verb == "undrain" ? Verb::Undrain
                        : verb == "down"    ? Verb::Down
                                            : Verb::Resume;
    if (words.values.contains("reason")) event.update.reason = words.get("reason");
    step(std::move(event));
}

void Player::act(const std::string& verb, const Words& words) {
    if (verb == "sbatch") return submit(words, model::JobKind::Batch);
    if (verb == "salloc") return submit(words, model::JobKind::Allocation);
    if (verb == "srun") return create_step(words);
    if (verb == "crontab") {
        event::Crontab crontab{token(), caller(words), {submit_options(words)}};
        crontab.jobs.front().cron = words.get("time");
        std::ranges::replace(crontab.jobs.front().cron, '_', ' ');
        return step(std::move(crontab));
    }
    if (verb == "ended") return step_ended(words);
    if (verb == "update") return update(words);
    if (verb == "started")
        return step(event::StepStarted{words.plain.at(1), parse_key(words.plain.at(2))});
    if (verb == "script") {
        const StepKey key = parse_key(words.plain.at(2) + ".batch");
        return step(
            event::ScriptFailed{words.plain.at(1), key.job, key.attempt, words.has("epilog")});
    }
    if (verb == "prolog" || verb == "epilog") {
        const StepKey key = parse_key(words.plain.at(1) + ".batch");
        return step(event::ProgramEnded{key.job, key.attempt, verb == "epilog", words.has("fail")});
    }
    if (verb == "idle" || verb == "busy") {
        const StepKey key = parse_key(words.plain.at(2) + ".batch");
        const auto since = verb == "idle" ? std::optional(now()) : std::nullopt;
        return step(event::GpuIdle{words.plain.at(1), key.job, key.attempt, since});
    }
    if (verb == "clean") {
        const StepKey key = parse_key(words.plain.at(2) + ".batch");
        return step(event::JobClean{words.plain.at(1), key.job, key.attempt});
    }
    if (verb == "up") {
        event::NodeUp event{words.plain.at(1), facts(words.plain.at(1), words), {}};
        for (std::size_t i = 2; i < words.plain.size(); ++i)
            event.steps.push_back(parse_key(words.plain[i]));
        return step(std::move(event));
    }
    if (verb == "lost") return step(event::NodeLost{words.plain.at(1)});
    if (verb == "gone")
        return step(
            event::TokenGone{Token{number(words.plain.at(1).substr(1))}, words.has("may_return")});
    if (verb == "release") {
        return step(event::Release{token(),
                                   caller(words),
                                   JobId{number(words.plain.at(1))},
                                   {static_cast<std::int32_t>(words.number("exit")), 0}});
    }
    if (verb == "drain" || verb == "undrain" || verb == "down" || verb == "resumenode" ||
        verb == "part" || verb == "resv" || verb == "reconfigure") {
        return act_as_admin(verb, words);
    }
    if (is_operator_verb(verb)) {
        return step(operator_event(verb, words, token(), caller(words, 0)));
    }
    act_on_jobs(verb, words);
}

}  // namespace

std::string play(std::string_view script) { return Player().play(script); }

namespace {

// One section of a scenario file: "=== a sentence about behaviour", then the transcript.
class ScenarioTest : public ::testing::Test {
  public:
    explicit ScenarioTest(std::string text) : text_(std::move(text)) {}
    void TestBody() override { EXPECT_EQ(play(text_), text_); }

  private:
    std::string text_;
};

struct Section {
    std::string title, text;
};

std::vector<Section> read_sections(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::vector<Section> sections;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("=== ")) {
            sections.push_back({line.substr(4), {}});
        } else if (!sections.empty()) {
            sections.back().text += line + "\n";
        }
    }
    return sections;
}

// With SY_BLESS set, the files are rewritten with what came out; read the difference before you
// keep it.
void bless(const std::filesystem::path& path) {
    const std::vector<Section> sections = read_sections(path);
    std::ofstream file(path);
    for (const Section& section : sections)
        file << "=== " << section.title << "\n" << play(section.text);
}

bool register_scenarios() {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(SY_SCENARIOS)) {
        if (entry.path().extension() == ".txt") paths.push_back(entry.path());
    }
    std::ranges::sort(paths);
    for (const std::filesystem::path& path : paths) {
        if (std::getenv("SY_BLESS") != nullptr) bless(path);
        for (const Section& section : read_sections(path)) {
            std::string name = section.title;
            for (char& c : name) c = isalnum(static_cast<unsigned char>(c)) ? c : '_';
            ::testing::RegisterTest(
                ("Scenario_" + path.stem().string()).c_str(), name.c_str(), nullptr, nullptr,
                path.c_str(), 1,
                [text = section.text]() -> ScenarioTest* { return new ScenarioTest(text); });
        }
    }
    return true;
}

[[maybe_unused]] const bool kRegistered = register_scenarios();

}  // namespace

}  // namespace switchyard::core::testing
