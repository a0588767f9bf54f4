// clients.cpp: see clients.hpp.

#include "sim/clients.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "sim/run.hpp"

namespace switchyard::sim {
namespace {

constexpr model::Caller kOperator{0, 0};
constexpr std::uint32_t kUsers[] = {1000, 1001};

}  // namespace

// One request on a connection of its own. Not answered in time: it hangs up and `unanswered`
// decides.
void Clients::ask(core::Event event, SimController::Answer answer, Millis patience,
                  std::function<void()> unanswered) {
    ++outstanding_;
    World& world = sim_.world;
    if (!sim_.controller.up()) {
        world.after(Millis{500}, [this, unanswered] {
            --outstanding_;
            unanswered();
        });
        return;
    }
    auto answered = std::make_shared<bool>(false);
    const bool deaf = sim_.faulty && world.random.chance(2);
    const core::Token token =
        sim_.controller.open([answered, answer, deaf](const core::effect::Reply& reply) {
            if (deaf) return;
            *answered = true;
            answer(reply);
        });
    std::visit(
        [&](auto& what) {
            if constexpr (requires { what.caller; }) what.token = token;
        },
        event);
    if (std::holds_alternative<core::event::CreateStep>(event)) sim_.controller.know_payload(token);
    const std::uint64_t alive = sim_.controller.incarnation();
    if (!(sim_.faulty && world.random.chance(2))) {
        world.after(Millis{world.random.between(1, 20)}, [this, alive, event = std::move(event)] {
            if (sim_.controller.incarnation() == alive) sim_.controller.take(event);
        });
    }
    world.after(patience, [this, alive, token, answered, unanswered] {
        --outstanding_;
        if (*answered) return;
        if (sim_.controller.incarnation() == alive) {
            sim_.controller.close(token);
            sim_.controller.take(core::event::TokenGone{token});
        }
        unanswered();
    });
}

void Clients::begin(std::uint32_t submissions) {
    to_submit_ = submissions;
    submit_some();
}

void Clients::submit_some() {
    if (submitted_ >= to_submit_) return;
    const std::uint32_t burst = sim_.world.random.between(1, 3);
    for (std::uint32_t i = 0; i < burst && submitted_ < to_submit_; ++i) {
        ++submitted_;
        ++sim_.figures.jobs;
        submit(random_job(submitted_), ++last_nonce_, 0);
    }
    if (sim_.world.random.chance(50)) command();
    sim_.world.after(Millis{sim_.world.random.between(50, 3000)}, [this] { submit_some(); });
}

model::JobSpec Clients::random_spec(std::uint32_t number) {
    Random& random = sim_.world.random;
    model::JobSpec spec;
    spec.name = fmt::format("j{}", number);
    spec.kind = random.chance(15) ? model::JobKind::Allocation : model::JobKind::Batch;
    spec.tasks = random.between(1, 6);
    if (random.chance(25)) {
        spec.nodes_min = spec.nodes_max =
            random.between(1, std::min(3u, static_cast<std::uint32_t>(sim_.nodes.size())));
        spec.tasks = *spec.nodes_min;
    }
    if (random.chance(20)) spec.exclusive = model::Exclusive::Node;
    if (random.chance(20)) spec.gres_per_node = {{"gpu", "", random.between(1, 2)}};
    if (random.chance(10)) spec.gres_per_node = {{"shard", "", random.between(1, 12)}};
    if (random.chance(60))
        spec.time_limit = model::TimeLimit{Seconds{random.between(5, 60)}, false};
    if (random.chance(15)) spec.begin = sim_.world.now() + Seconds{random.between(1, 20)};
    if (random.chance(20)) spec.deadline = sim_.world.now() + Seconds{random.between(1, 90)};
    if (random.chance(15)) spec.hold = true;
    if (random.chance(20)) spec.requeue = false;
    if (random.chance(15)) spec.partitions = {"urgent"};
    if (random.chance(5)) spec.no_kill = true;
    if (random.chance(15)) spec.licenses = random.chance(50) ? "fluent:2" : "fluent|ansys";
    if (reservations_ > 0 && random.chance(25))
        spec.reservation = fmt::format("r{}", random.between(1, reservations_));
    if (spec.kind == model::JobKind::Batch && random.chance(15)) {
        model::ArraySpec array;
        array.elements = model::IndexSet::range(0, random.between(0, 5));
        array.throttle = random.chance(50) ? random.between(1, 3) : 0;
        spec.array = array;
    }
    if (spec.kind == model::JobKind::Batch && !known_.empty() && random.chance(20))
        spec.dependency = random_dependency();
    if (random.chance(5)) spec.kill_on_invalid_dependency = true;
    return spec;
}

model::Dependency Clients::random_dependency() {
    Random& random = sim_.world.random;
    model::Dependency dependency;
    dependency.any = random.chance(30);
    const std::uint32_t count = random.chance(30) ? random.between(2, 3) : 1;
    for (std::uint32_t i = 0; i < count; ++i) {
        model::DependencyTerm term{};
        const model::DependencyKind kinds[] = {
            model::DependencyKind::AfterAny,   model::DependencyKind::AfterOk,
            model::DependencyKind::AfterNotOk, model::DependencyKind::After,
            model::DependencyKind::AfterCorr,  model::DependencyKind::Singleton};
        term.kind = kinds[random.below(6)];
        if (term.kind != model::DependencyKind::Singleton)
            term.job = known_[random.below(static_cast<std::uint32_t>(known_.size()))];
        if (term.kind == model::DependencyKind::After && random.chance(50)) term.delay = Minutes{1};
        dependency.terms.push_back(term);
    }
    return dependency;
}

// Some have several components, each in partitions of its own.
Clients::Specs Clients::random_job(std::uint32_t number) {
    Random& random = sim_.world.random;
    Specs specs{random_spec(number)};
    if (!random.chance(20)) return specs;
    specs.front().array.reset();
    const std::uint32_t count = random.between(2, 3);
    for (std::uint32_t i = 1; i < count; ++i) {
        specs.push_back(random_spec(number));
        specs.back().name += fmt::format("+{}", i);
        specs.back().kind = specs.front().kind;
        specs.back().array.reset();
        specs.back().dependency = {};
        if (random.chance(30)) specs.back().partitions = {"debug", "urgent"};
    }
    return specs;
}

void Clients::submit(const Specs& specs, std::uint64_t nonce, int tries) {
    core::event::Submit event;
    const std::uint32_t uid = kUsers[nonce % 2];
    event.caller = {uid, uid};
    event.spec = specs.front();
    event.components.assign(specs.begin() + 1, specs.end());
    event.nonce = nonce;
    auto listener = [this, specs](const core::effect::Reply& reply) {
        if (const auto* submitted_reply = std::get_if<core::reply::Submitted>(&reply.body)) {
            submitted(specs, submitted_reply->job, reply.token);
        } else if (const auto* granted = std::get_if<core::reply::Granted>(&reply.body)) {
            owner_answer(reply, {granted->job, reply.token, true, {}});
        } else if (std::holds_alternative<core::reply::JobEnded>(reply.body)) {
            std::erase_if(owners_, [&](const Owner& owner) { return owner.token == reply.token; });
        }
    };
    ask(std::move(event), std::move(listener), Millis{3000}, [this, specs, nonce, tries] {
        // An allocation's client is gone when its connection is; a batch submission is tried again.
        if (tries < 20) submit(specs, nonce, tries + 1);
    });
}

void Clients::submitted(const Specs& specs, JobId id, core::Token token) {
    for (std::uint32_t i = 0; i < specs.size(); ++i)
        sim_.checker.submitted(JobId{id.value + i}, specs[i].name);
    known_.push_back(id);
    if (specs.size() > 1) {
        sim_.checker.heterogeneous(id, static_cast<std::uint32_t>(specs.size()));
        components_[id] = static_cast<std::uint32_t>(specs.size());
    }
    if (specs.front().kind == model::JobKind::Allocation) {
        sim_.checker.may_be_cancelled(id);
        own({id, token, false, {}});
    } else if (sim_.world.random.chance(15)) {
        const std::uint64_t waiter = ++last_waiter_;
        sim_.checker.began_waiting(waiter, id);
        waiters_.push_back({waiter, id, 0});
        wait_for(id, 0, waiter);
    }
}

void Clients::wait_for(JobId id, std::uint32_t uid, std::uint64_t waiter) {
    if (!sim_.controller.up()) {
        sim_.world.after(Millis{700}, [this, id, uid, waiter] { wait_for(id, uid, waiter); });
        return;
    }
    const core::Token token = sim_.controller.open([this, waiter](const core::effect::Reply&) {
        sim_.checker.was_answered(waiter);
        std::erase_if(waiters_, [&](const Waiter& one) { return one.number == waiter; });
    });
    sim_.controller.take(core::event::WaitForEnd{token, kOperator, id});
}

void Clients::own(Owner owner) {
    std::erase_if(owners_, [&](const Owner& other) { return other.job == owner.job; });
    owners_.push_back(owner);
}

void Clients::owner_answer(const core::effect::Reply& reply, Owner owner) {
    static_cast<void>(reply);
    own(owner);
    World& world = sim_.world;
    if (world.random.chance(50)) make_step(owner.job, 0, ++last_nonce_ + 1000000, 0);
    const std::uint64_t alive = sim_.controller.incarnation();
    world.after(Millis{world.random.between(500, 30000)}, [this, owner, alive] {
        const auto still = std::ranges::find(owners_, owner.token, &Owner::token);
        if (still == owners_.end() || sim_.controller.incarnation() != alive) return;
        const JobId job = still->job;
        owners_.erase(still);
        sim_.controller.close(owner.token);
        if (sim_.world.random.chance(50)) {
            sim_.controller.take(core::event::Release{{}, kOperator, job, {}});
        }
        sim_.controller.take(
            core::event::TokenGone{owner.token, sim_.faulty && sim_.world.random.chance(20)});
    });
}

// Owners come back to a controller that has restarted, most of them.
void Clients::connection_lost() {
    const std::vector<Owner> owners = std::exchange(owners_, {});
    for (const Owner& owner : owners) {
        if (sim_.world.random.chance(15)) continue;
        sim_.world.after(Millis{sim_.world.random.between(100, 4000)},
                         [this, owner] { attach(owner, 0); });
    }
    for (const Waiter& waiter : waiters_) {
        sim_.world.after(Millis{sim_.world.random.between(100, 4000)},
                         [this, waiter] { wait_for(waiter.job, waiter.uid, waiter.number); });
    }
}

void Clients::attach(Owner owner, int tries) {
    if (tries > 20) return;
    if (!sim_.controller.up()) {
        sim_.world.after(Millis{500}, [this, owner, tries] { attach(owner, tries + 1); });
        return;
    }
    const core::Token token = sim_.controller.open([this, owner](const core::effect::Reply& reply) {
        if (std::holds_alternative<core::reply::Granted>(reply.body)) {
            owner_answer(reply, {owner.job, reply.token, true, {}});
        } else if (std::holds_alternative<core::reply::Submitted>(reply.body)) {
            own({owner.job, reply.token, false, {}});
        } else if (!std::holds_alternative<core::reply::OwnerNotice>(reply.body)) {
            std::erase_if(owners_, [&](const Owner& one) { return one.token == reply.token; });
        }
    });
    sim_.controller.take(core::event::Attach{token, kOperator, owner.job});
}

void Clients::script_began(const model::Job& job) {
    if (!sim_.world.random.chance(30)) return;
    // Some leave more steps in the queue of the job than there is room for.
    const std::uint32_t steps = sim_.world.random.between(1, 3);
    for (std::uint32_t i = 0; i < steps; ++i) {
        sim_.world.after(Millis{sim_.world.random.between(10, 2000)},
                         [this, id = job.id] { make_step(id, 0, ++last_nonce_ + 1000000, 0); });
    }
}

// srun: it asks again under the same nonce when the controller has forgotten its connection.
void Clients::make_step(JobId job, std::uint32_t uid, std::uint64_t nonce, int tries) {
    core::event::CreateStep event;
    event.caller = {uid, uid};
    event.job = job;
    event.nonce = nonce;
    event.spec.name = "step";
    event.spec.exact = nonce % 2 == 0;
    if (nonce % 3 == 0) event.spec.tasks = 1;
    event.spec.detached = nonce % 7 < 4;
    const bool async = event.spec.detached;
    // One srun in several components.
    const auto het = components_.find(job);
    for (std::uint32_t i = 1; het != components_.end() && nonce % 5 < 2 && i < het->second; ++i)
        event.more.push_back({JobId{job.value + i}, event.spec});
    ask(
        std::move(event),
        [this, async](const core::effect::Reply& reply) {
            const auto* made = std::get_if<core::reply::StepMade>(&reply.body);
            if (made != nullptr && async) sim_.checker.step_accepted(made->key);
        },
        Millis{4000},
        [this, job, uid, nonce, tries] {
            if (tries < 3) make_step(job, uid, nonce, tries + 1);
        });
}

model::JobSelector Clients::random_selector() {
    Random& random = sim_.world.random;
    model::JobSelector selector;
    selector.job = known_[random.below(static_cast<std::uint32_t>(known_.size()))];
    if (random.chance(30)) {
        selector.elements.emplace();
        selector.elements->insert(random.below(4));
        if (random.chance(50)) selector.elements->insert(random.below(6));
    }
    const auto het = components_.find(selector.job);
    if (het != components_.end() && random.chance(50)) {
        selector.job = JobId{selector.job.value + random.below(het->second)};
        selector.component = true;
    }
    return selector;
}

// All that a command for this job may touch: elements of an array, components; the job itself.
std::vector<JobId> Clients::records_of(JobId id) const {
    std::vector<JobId> records{id};
    for (const auto& [other, job] : sim_.controller.disk().jobs()) {
        if (job.array && job.array->array_id == id) records.push_back(other);
        const bool related =
            job.het && (job.het->leader == id || (other == id && job.het->offset > 0));
        for (std::uint32_t i = 0; related && i < job.het->size; ++i)
            records.push_back(JobId{job.het->leader.value + i});
    }
    return records;
}

// Some nodes for some seconds, soon; or the end of one.
core::Event Clients::random_reservation() {
    Random& random = sim_.world.random;
    core::event::UpdateReservation event{{}, kOperator, {}};
    model::ReservationUpdate& update = event.update;
    if (reservations_ > 0 && random.chance(25)) {
        update.action = model::ReservationUpdate::Action::Delete;
        update.name = fmt::format("r{}", random.between(1, reservations_));
        return event;
    }
    update.action = model::ReservationUpdate::Action::Create;
    update.name = fmt::format("r{}", ++reservations_);
    update.start = sim_.world.now() + Seconds{random.between(0, 15)};
    update.duration = Seconds{random.between(5, 30)};
    update.node_count = random.between(1, 2);
    if (random.chance(50)) {
        update.node_count.reset();
        update.nodes = {
            sim_.nodes[random.below(static_cast<std::uint32_t>(sim_.nodes.size()))]->name()};
    }
    if (random.chance(50)) {
        update.core_count = random.between(1, 6);
        update.cores_per_node = random.chance(30);
        if (random.chance(30)) update.node_count.reset();
    }
    using Flag = model::ReservationFlag;
    update.flags.set = bit(Flag::IgnoreJobs);
    if (random.chance(10)) update.flags.set |= bit(Flag::Flex);
    if (random.chance(20)) update.flags.set |= bit(Flag::Overlap);
    if (random.chance(30)) update.flags.set |= bit(Flag::Magnetic);
    if (random.chance(30)) update.flags.set |= bit(Flag::NoHoldJobsAfter);
    if (random.chance(20)) update.flags.set |= bit(Flag::PurgeComp);
    update.flags.purge_after = Seconds{5};
    if (random.chance(20)) update.licenses = "fluent:1";
    update.users.mode = model::NameListChange::Mode::Set;
    update.users.names = {{"a", {kUsers[0]}}};
    if (random.chance(50)) update.users.names.push_back({"b", {kUsers[1]}});
    return event;
}

void Clients::command() {
    if (known_.empty()) return;
    Random& random = sim_.world.random;
    const model::JobSelector selector = random_selector();
    const auto nothing = [] {};
    const SimController::Answer ignore = [](const core::effect::Reply&) {};
    const auto ask_soon = [&](core::Event event) {
        ask(std::move(event), ignore, Millis{2000}, nothing);
    };
    if (random.chance(15)) return ask_soon(random_reservation());
    switch (random.below(9)) {
        case 0:
        case 1: {
            core::event::Signal event;
            event.caller = kOperator;
            event.filter.jobs = {selector};
            event.signal = random.chance(30) ? 9 : 0;
            for (const JobId id : records_of(selector.job)) sim_.checker.may_be_cancelled(id);
            const bool plain = !selector.elements.has_value();
            auto note = [this, id = selector.job, plain](const core::effect::Reply& reply) {
                const auto* done = std::get_if<core::reply::Done>(&reply.body);
                if (done == nullptr || !plain || !done->problems.empty() ||
                    done->touched.size() != 1)
                    return;
                if (done->touched.front() == std::to_string(id.value) ||
                    done->touched.front() == std::to_string(id.value) + "+0")
                    sim_.checker.cancel_acknowledged(id, {});
            };
            return ask(std::move(event), std::move(note), Millis{2000}, nothing);
        }
        case 2:
            return ask_soon(core::event::Hold{{}, kOperator, {selector}, true, random.chance(50)});
        case 3:
            return ask_soon(core::event::Hold{{}, kOperator, {selector}, false, false});
        case 4: {
            for (const JobId id : records_of(selector.job)) sim_.checker.requeued_by_hand(id);
            return ask_soon(
                core::event::Requeue{{}, kOperator, {selector}, random.chance(20), false});
        }
        case 5:
            return ask_soon(core::event::Suspend{{}, kOperator, {selector}, random.chance(50)});
        case 6:
            return ask_soon(core::event::Top{{}, kOperator, {selector}});
        case 7: {
            core::event::UpdateJob event{{}, kOperator, {selector}, {}};
            if (random.chance(50))
                event.update.time_limit = {model::TimeLimitChange::Mode::Set,
                                           {Seconds{random.between(5, 90)}, false}};
            if (random.chance(30))
                event.update.deadline = sim_.world.now() + Seconds{random.between(0, 60)};
            if (random.chance(20))
                event.update.begin = sim_.world.now() + Seconds{random.between(0, 30)};
            if (random.chance(10)) event.update.dependency = random_dependency();
            if (random.chance(10)) event.update.array_throttle = random.below(3);
            return ask_soon(std::move(event));
        }
        default: {
            const std::string name =
                sim_.nodes[random.below(static_cast<std::uint32_t>(sim_.nodes.size()))]->name();
            if (random.chance(20)) {
                return ask_soon(core::event::Reboot{{},
                                                    kOperator,
                                                    "root",
                                                    {name},
                                                    random.chance(50),
                                                    random.chance(50)
                                                        ? model::NodeReboot::After::Resume
                                                        : model::NodeReboot::After::Keep,
                                                    std::nullopt});
            }
            core::event::UpdateNode event{{}, kOperator, "root", {}};
            event.update.nodes = {name};
            const model::NodeVerb verbs[] = {model::NodeVerb::Drain, model::NodeVerb::Undrain,
                                             model::NodeVerb::Resume, model::NodeVerb::Down,
                                             model::NodeVerb::CancelReboot};
            event.update.verb = verbs[random.below(5)];
            event.update.reason = "chaos";
            return ask_soon(std::move(event));
        }
    }
}

void Clients::put_right() {
    core::Cluster& cluster = sim_.controller.cluster();
    for (const auto& node : sim_.nodes) {
        core::event::UpdateNode event{{}, kOperator, "root", {}};
        event.update.nodes = {node->name()};
        event.update.verb = model::NodeVerb::Resume;
        sim_.controller.take(event);
    }
    std::vector<model::JobSelector> held, suspended;
    for (const auto& [id, job] : cluster.jobs()) {
        model::JobSelector selector;
        selector.job = id;
        if (const auto* pending = std::get_if<model::Pending>(&job.phase)) {
            if (pending->hold == model::Hold::None) continue;
            if (job.array) {
                selector.job = job.array->array_id;
                selector.all_elements = true;
            }
            held.push_back(selector);
        } else if (std::holds_alternative<model::Suspended>(job.phase)) {
            if (job.array) {
                selector.job = job.array->array_id;
                selector.all_elements = true;
            }
            suspended.push_back(selector);
        }
    }
    sim_.controller.take(core::event::Hold{{}, kOperator, held, false, false});
    sim_.controller.take(core::event::Suspend{{}, kOperator, suspended, true});
}

}  // namespace switchyard::sim
