// player.cpp: plays scenarios; the verbs it knows.
//
//   set | node | partition                 the site, see site_words.hpp
//   start                                  the cluster, with every node registered
//   restart [without=JOB] [restored]       from the disk; nodes are silent until `up`
//   backup | rollback                      the disk is copied; is what it was then
//   began NODE [12:EXIT 12#1 14@10_2 ...]  what its journal has
//   up NODE [12.batch 12#1.0 ...] [cpus= mem= booted=]   registers, listing these steps
//   lost NODE | silence                    its connection closes
//   at +SECONDS                            time passes, all timers that fall due on the way
//   sbatch|salloc [options] [user=UID] [: options ...]   see job_words.hpp
//   crontab time=*/5_*_*_*_* [options]     a crontab of one line
//   srun JOB [options] [: JOB options ...]
//   ended NODE STEP [exit=N|signal=N] [clean] [timeout] [lost] [oom] [error=TEXT]
//   script NODE JOB [epilog] | prolog|epilog JOB [fail] | started NODE STEP | clean NODE JOB
//   gone TOKEN [may_return] | release TOKEN JOB exit=N
//   cancel|hold|uhold|unhold|requeue|requeuehold|suspend|resume|top|wait|attach IDS [user=UID]
//   [signal=N] | update IDS KEY=VALUE ...
//   drain|undrain|resumenode|down NODES [reason=...] | part NAME KEY=VALUE | reconfigure
//   resv ...                               see reservation_words.hpp
//   idle|busy NODE JOB                     its cards
//   queue | nodes | steps | reservations | licenses | triggers | preemptable    what there is now
//   and the verbs of operator_events.hpp

#include "core/testing/transcript.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "base/text.hpp"
#include "core/cluster/cluster.hpp"
#include "core/testing/describe.hpp"
#include "core/testing/fake_disk.hpp"
#include "core/testing/job_words.hpp"
#include "core/testing/operator_events.hpp"
#include "core/testing/reservation_words.hpp"
#include "core/testing/site_words.hpp"
#include "core/testing/transcript_words.hpp"
#include "core/testing/views.hpp"
#include "model/hostlist.hpp"

namespace switchyard::core::testing {
namespace {

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

// "12", "12#1:3", "14@10_2:0": the run, of which element, and how it ended.
event::NodeBegan::Script parse_script(const std::string& text) {
    const auto colon = text.find(':');
    const auto at = text.find('@');
    const StepKey key = parse_key(text.substr(0, std::min(at, colon)) + ".batch");
    event::NodeBegan::Script script{key.job, key.attempt, {}};
    if (colon != std::string::npos)
        script.exit = model::ExitStatus{std::stoi(text.substr(colon + 1)), 0};
    if (at == std::string::npos) return script;
    const std::string element = text.substr(at + 1, colon - at - 1);
    script.array = JobId{number(element)};
    script.element = number(element.substr(element.find('_') + 1));
    return script;
}

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
    void show(const Lines& lines) {
        for (const std::string& line : lines) say(line);
    }
    // No scenario expects such a line, so it fails.
    void misunderstood(const std::string& word) { say(std::string(kMisunderstood) + word); }
    void complain(const Unknown& unknown) {
        for (const std::string& word : unknown) misunderstood(word);
    }

    void configured(const Words& words) {
        Unknown unknown;
        configure(words, settings_, unknown);
        complain(unknown);
    }

    void command(std::string_view line) {
        const Words words(line);
        const std::string verb = words.plain.front();
        if (verb == "set") return configured(words);
        if (verb == "node") return add_node(words, settings_);
        if (verb == "partition") return add_partition(words, settings_);
        if (verb == "start") return start();
        if (verb == "restart") return restart(words);
        if (verb == "backup") {
            backup_ = disk_;
            return;
        }
        if (verb == "rollback") {
            disk_.roll_back_to(backup_);
            return;
        }
        if (verb == "at") return pass_time(words.plain.at(1));
        if (verb == "queue") return show(queue_lines(*cluster_));
        if (verb == "triggers") return show(trigger_lines(*cluster_));
        if (verb == "nodes") return show(node_lines(*cluster_));
        if (verb == "reservations") return show(reservation_lines(*cluster_, now()));
        if (verb == "licenses") return show(license_lines(*cluster_));
        if (verb == "preemptable") return show(preemptable_lines(*cluster_));
        if (verb == "steps") return show(step_lines(*cluster_));
        act(verb, words);
        flush();
    }

    void start() {
        settings_.gres_types = {"gpu", "shard", "tape"};
        settings_.cluster_name = "test";
        cluster_ = std::make_unique<Cluster>(settings_, Records{}, now());
        for (const auto& node : settings_.nodes)
            step(event::NodeUp{node.name, facts(node.name, Words("")), {}});
        flush();
    }

    void restart(const Words& words) {
        if (words.values.contains("without")) disk_.drop(JobId{words.number("without")});
        Records records = disk_.load();
        records.restored = words.has("restored");
        cluster_ = std::make_unique<Cluster>(settings_, std::move(records), now());
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
        disk_.apply(cluster_->take_changes());
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
    model::JobSpec spec_of(const Words& words);
    void create_step(const Words& words);
    void step_ended(const Words& words);
    void update(const Words& words);

    Settings settings_;
    std::unique_ptr<Cluster> cluster_;
    FakeDisk disk_, backup_;
    std::int64_t elapsed_ = 0;
    std::uint64_t last_token_ = 0;
    std::string out_;
};

model::JobSpec Player::spec_of(const Words& words) {
    Unknown unknown;
    model::JobSpec spec = job_options(words, now(), unknown);
    complain(unknown);
    return spec;
}

void Player::submit(const Words& words, model::JobKind kind) {
    event::Submit submit;
    submit.token = token();
    submit.caller = caller(words);
    submit.spec = spec_of(words);
    submit.spec.kind = kind;
    submit.nonce = words.number("nonce");
    submit.test_only = words.has("test");
    for (const Words& component : words.more) {
        submit.components.push_back(spec_of(component));
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
    report.begun_before = words.has("before");
    report.job_clean = words.has("clean");
    report.launch_error = words.get("error");
    step(std::move(ended));
}

void Player::update(const Words& words) {
    event::UpdateJob event;
    event.token = token();
    event.caller = caller(words);
    event.jobs = selectors(words);
    Unknown unknown;
    event.update = job_update(words, now(), unknown);
    complain(unknown);
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
                            false,
                            words.get("admincomment")};
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
    misunderstood(verb);
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
    if (words.values.contains("after")) event.update.resume_after = Seconds{words.number("after")};
    if (words.values.contains("instances"))
        event.update.instance_ids = *model::expand_hostlist(words.get("instances"));
    step(std::move(event));
}

void Player::act(const std::string& verb, const Words& words) {
    if (verb == "sbatch") return submit(words, model::JobKind::Batch);
    if (verb == "salloc") return submit(words, model::JobKind::Allocation);
    if (verb == "srun") return create_step(words);
    if (verb == "crontab") {
        event::Crontab crontab{token(), caller(words), {spec_of(words)}};
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
    if (verb == "began") {
        event::NodeBegan event{words.plain.at(1), {}};
        for (std::size_t i = 2; i < words.plain.size(); ++i)
            event.scripts.push_back(parse_script(words.plain[i]));
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

}  // namespace switchyard::core::testing
