// flow.cpp: see flow.hpp.

#include "sim/scale/flow.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <variant>

#include "wire/job_folding.hpp"

namespace switchyard::sim::scale {
namespace {

constexpr Millis kLaunchTakes{20}, kCleanTakes{60};
constexpr Seconds kOutage{900}, kSampleEvery{600};
// Jobs shorter than this count as this long where waiting is set against running.
constexpr double kSlowdownBound = 10;

model::NodeFacts facts_of(const model::NodeConfig& config, Instant now) {
    model::NodeFacts facts;
    facts.host_name = config.name;
    facts.cpus = config.cpus;
    facts.sockets = config.sockets;
    facts.cores_per_socket = config.cores_per_socket;
    facts.threads_per_core = config.threads_per_core;
    facts.memory = config.memory;
    facts.gres = config.gres;
    facts.booted = facts.agent_started = now;
    return facts;
}

std::uint32_t cards_torn(const model::Node& node) {
    std::uint32_t torn = 0;
    for (const model::GresGrant& grant : node.used_gres) {
        for (const auto& share : grant.shares) torn += share.amount < kSharesPerCard ? 1 : 0;
    }
    return torn;
}

}  // namespace

Flow::Flow(FlowOptions options, Instant from)
    : options_(std::move(options)), now_(from), next_sample_(from) {
    allocated_before_ = allocated_bytes();
    cluster_ =
        std::make_unique<core::Cluster>(options_.settings, core::Records{}, now_,
                                        core::JobKeeping{.folding = wire::make_job_folding()});
    for (std::uint32_t i = 0; i < options_.settings.nodes.size(); ++i) {
        const model::NodeConfig& config = options_.settings.nodes[i];
        node_numbers_[config.name] = i;
        capacity_ += config.cpus;
        cluster_->step(now_, core::event::NodeUp{config.name, facts_of(config, now_), {}});
    }
    lost_.assign(options_.settings.nodes.size(), false);
    cluster_->schedule(now_);
    cluster_->take_changes();
    cluster_->take_effects();
}

double Flow::turn(const core::Event& event) {
    const Stopwatch watch;
    cluster_->step(now_, event);
    cluster_->schedule(now_);
    cluster_->take_changes();
    const double took = watch.microseconds();
    turns_.add(took);
    carry_out();
    return took;
}

void Flow::carry_out() {
    for (const core::Effect& effect : cluster_->take_effects()) carry_out(effect);
}

void Flow::later(Millis wait, Kind kind, JobId job, Attempt attempt, std::uint32_t node) {
    coming_.push({now_ + wait, ++sequence_, kind, job, attempt, node});
}

void Flow::carry_out(const core::Effect& effect) {
    if (const auto* reply = std::get_if<core::effect::Reply>(&effect)) {
        const auto* failed = std::get_if<core::reply::Failed>(&reply->body);
        if (failed == nullptr) return;
        std::fprintf(stderr, "switchyard_scale: refused: %s\n", failed->error.message.c_str());
        std::exit(1);
    } else if (const auto* launch = std::get_if<core::effect::LaunchBatch>(&effect)) {
        began(launch->job, launch->attempt, node_numbers_.at(launch->node));
    } else if (const auto* end = std::get_if<core::effect::EndJob>(&effect)) {
        later(kCleanTakes + Millis{random_.below(40)}, Kind::Clean, end->job, end->attempt,
              node_numbers_.at(end->node));
    }
}

void Flow::began(JobId job, Attempt attempt, std::uint32_t node) {
    Fate& fate = fates_.at(job.value);
    ++started_;
    if (!fate.ran) {
        --waiting_;
        const double waited = std::chrono::duration<double>(now_ - fate.arrived).count();
        const double ran = static_cast<double>(std::min(fate.runs, fate.limit).count());
        waits_.add(waited);
        slowdowns_.add(std::max(1.0, (waited + ran) / std::max(ran, kSlowdownBound)));
    }
    fate.ran = true;
    const Seconds runs = std::min(fate.runs, fate.limit);
    if (fate.cancelled) {
        later(runs, Kind::Cancel, job, attempt, node);
    } else {
        later(kLaunchTakes + runs, Kind::Ended, job, attempt, node);
    }
}

core::Event Flow::end_of(JobId id) const {
    const model::Job& job = cluster_->jobs().at(id);
    core::event::StepEnded ended;
    ended.node = model::allocation_of(job)->nodes.front().node;
    ended.report.key = {id, job.attempt, kBatchStep};
    ended.report.job_clean = true;
    const Fate& fate = fates_.at(id.value);
    ended.report.exit.code = fate.exit_code;
    ended.report.timed_out = fate.runs >= fate.limit;
    return ended;
}

JobId Flow::any_running() const {
    for (const auto& [id, job] : cluster_->jobs()) {
        if (std::holds_alternative<model::Running>(job.phase)) return id;
    }
    return {};
}

double Flow::submit_unseen(const Work& work) {
    core::event::Submit submit;
    submit.caller = {work.spec.uid, work.spec.gid};
    submit.spec = work.spec;
    submit.nonce = ++last_nonce_;
    const Stopwatch watch;
    cluster_->step(now_, submit);
    cluster_->schedule(now_);
    cluster_->take_changes();
    cluster_->take_effects();
    return watch.microseconds();
}

double Flow::submit(const Work& work) {
    const JobId id = cluster_->next_job_id();
    core::event::Submit submit;
    submit.caller = {work.spec.uid, work.spec.gid};
    submit.spec = work.spec;
    submit.nonce = ++last_nonce_;
    const Seconds limit = work.spec.time_limit ? work.spec.time_limit->seconds : Seconds{86400};
    fates_[id.value] = {work.runs, limit, now_, work.exit_code, work.cancelled, false};
    ++waiting_;
    submit.token = core::Token{1};
    return turn(submit);
}

void Flow::happen(const Coming& coming) {
    const model::NodeConfig& node = options_.settings.nodes[coming.node];
    const auto found = cluster_->jobs().find(coming.job);
    const bool present =
        found != cluster_->jobs().end() && found->second.attempt == coming.attempt &&
        model::allocation_of(found->second) != nullptr && !model::is_finished(found->second);
    switch (coming.kind) {
        case Kind::Ended:
            if (present && !lost_[coming.node]) turn(end_of(coming.job));
            break;
        case Kind::Clean:
            if (present && !lost_[coming.node])
                turn(core::event::JobClean{node.name, coming.job, coming.attempt});
            break;
        case Kind::Cancel: {
            core::event::Signal signal;
            signal.filter.jobs = {{coming.job, {}, false, {}}};
            if (present) turn(signal);
            break;
        }
        case Kind::Lost:
            if (lost_[coming.node]) break;
            lost_[coming.node] = true;
            ++node_failures_;
            turn(core::event::NodeLost{node.name});
            coming_.push({now_ + kOutage, ++sequence_, Kind::Back, {}, {}, coming.node});
            break;
        case Kind::Back:
            lost_[coming.node] = false;
            turn(core::event::NodeUp{node.name, facts_of(node, now_), {}});
            break;
    }
}

Distribution Flow::pass_time(Instant at) {
    Distribution turns;
    while (true) {
        const auto due = cluster_->next_wakeup();
        if (!due || *due > at) break;
        now_ = std::max(now_, *due);
        turns.add(turn(core::event::Tick{}));
    }
    now_ = std::max(now_, at);
    return turns;
}

void Flow::sample() {
    next_sample_ = now_ + kSampleEvery;
    allocated_most_ = std::max(allocated_most_, allocated_bytes());
    queue_length_.add(static_cast<double>(waiting_));
    if (options_.progress) {
        std::fprintf(stderr, "\r%8.2f h  %9llu started  %8llu wait  %6.1f s of core",
                     std::chrono::duration<double>(now_ - first_arrival_).count() / 3600,
                     static_cast<unsigned long long>(started_),
                     static_cast<unsigned long long>(waiting_), turns_.sum() / 1e6);
    }
    double used = 0, cards = 0, torn = 0;
    for (const model::Node& node : cluster_->nodes()) {
        used += node.used_cpus;
        if (node.config.gres.empty()) continue;
        cards += kCards;
        torn += cards_torn(node);
    }
    if (now_ <= last_arrival_ + kSampleEvery) used_share_.add(100 * used / capacity_);
    if (waiting_ > 0) idle_share_.add(100 * (1 - used / capacity_));
    if (cards > 0) torn_cards_.add(100 * torn / cards);
}

void Flow::run(Stream& stream) {
    std::optional<Work> next = stream.next();
    if (next) first_arrival_ = next_sample_ = next->arrives;
    const double failures = options_.node_failures_per_day;
    Instant next_failure = first_arrival_;
    while (true) {
        Instant at = Instant::max();
        if (next) at = next->arrives;
        if (!coming_.empty()) at = std::min(at, coming_.top().at);
        if (const auto due = cluster_->next_wakeup()) at = std::min(at, std::max(*due, now_));
        if (at == Instant::max()) break;
        pass_time(at);
        if (now_ >= next_sample_) sample();
        if (failures > 0 && next && now_ >= next_failure) {
            const auto nodes = static_cast<std::uint32_t>(options_.settings.nodes.size());
            later(Millis{0}, Kind::Lost, {}, {}, random_.below(nodes));
            next_failure = now_ + Seconds{static_cast<std::int64_t>(86400 / failures)};
        }
        while (next && next->arrives <= now_) {
            last_arrival_ = now_;
            submit(*next);
            next = stream.next();
        }
        while (!coming_.empty() && coming_.top().at <= now_) {
            const Coming coming = coming_.top();
            coming_.pop();
            happen(coming);
        }
    }
    if (options_.progress) std::fprintf(stderr, "\n");
}

bool Flow::all_ended() const {
    const core::SchedulerFigures figures = cluster_->figures();
    return figures.jobs_completed + figures.jobs_failed + figures.jobs_cancelled ==
           figures.jobs_submitted;
}

void Flow::report(Report& report) const {
    const double span = std::chrono::duration<double>(now_ - first_arrival_).count();
    report.add("jobs_started", static_cast<double>(started_));
    const core::SchedulerFigures figures = cluster_->figures();
    report.add("jobs_ended", static_cast<double>(figures.jobs_completed + figures.jobs_failed +
                                                 figures.jobs_cancelled));
    report.add("node_failures", static_cast<double>(node_failures_));
    report.add("simulated_hours", span / 3600);
    report.add("events", static_cast<double>(turns_.count()));
    report.add("core_seconds", turns_.sum() / 1e6);
    report.add("us_per_job", started_ == 0 ? 0 : turns_.sum() / static_cast<double>(started_));
    report.add("turn_us", turns_);
    report.add("queue_mean", queue_length_.mean());
    report.add("queue_most", queue_length_.most());
    report.add("wait_s_mean", waits_.mean());
    report.add("wait_s_median", waits_.quantile(0.5));
    report.add("wait_s_p95", waits_.quantile(0.95));
    report.add("slowdown_mean", slowdowns_.mean());
    report.add("slowdown_median", slowdowns_.quantile(0.5));
    report.add("slowdown_p95", slowdowns_.quantile(0.95));
    report.add("utilisation_percent", used_share_.mean());
    report.add("idle_while_waiting_percent", idle_share_.mean());
    report.add("torn_cards_percent", torn_cards_.mean());
    report.add("backfilled", static_cast<double>(figures.jobs_backfilled));
    report.add("plans", static_cast<double>(figures.backfill_cycles));
    report.add("memory_mb", static_cast<double>(allocated_most_ - allocated_before_) / 1e6);
}

}  // namespace switchyard::sim::scale
