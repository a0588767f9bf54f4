// run.cpp: how a simulation goes: some minutes of trouble, then everything is healed and must come
// to rest.

#include "sim/run.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "core/testing/describe.hpp"

namespace switchyard::sim {
namespace {

constexpr Seconds kTrouble{120};
constexpr int kRestRounds = 60;

}  // namespace

core::Settings Simulation::settings(std::uint64_t seed) {
    core::Settings settings;
    settings.cluster_name = "sim";
    settings.gres_types = {"gpu", "shard"};
    settings.def_mem_per_cpu = model::MiB{100};
    const std::uint32_t nodes = 2 + static_cast<std::uint32_t>(seed % 4);
    model::Partition partition;
    partition.name = "debug";
    partition.is_default = true;
    for (std::uint32_t i = 1; i <= nodes; ++i) {
        model::NodeConfig node;
        node.name = fmt::format("n{}", i);
        node.cpus = 8;
        node.sockets = 1;
        node.cores_per_socket = 8;
        node.threads_per_core = 1;
        node.memory = model::MiB{4000};
        model::GresInventory gpu, shard;
        gpu.name = "gpu";
        shard.name = "shard";
        gpu.type = shard.type = "x";
        gpu.count = 2;
        shard.count = 16;
        gpu.devices = shard.devices = model::IndexSet::range(0, 1);
        node.gres = {gpu, shard};
        partition.nodes.push_back(node.name);
        settings.nodes.push_back(std::move(node));
    }
    // Jobs of the second partition take the room of those in the first, in every way there is.
    model::Partition urgent = partition;
    urgent.name = "urgent";
    urgent.is_default = false;
    urgent.priority_tier = 10;
    using Mode = model::PreemptMode;
    constexpr Mode kModes[] = {Mode::Off, Mode::Cancel, Mode::Requeue, Mode::Suspend};
    settings.preempt.mode = kModes[seed % 4];
    settings.preempt.by_tier = settings.preempt.mode != Mode::Off;
    settings.preempt.exempt = Seconds{seed % 7 == 0 ? 10 : 0};
    settings.preempt.youngest_first = seed % 2 == 0;
    if (seed % 3 == 0) partition.grace_time = 5;
    settings.partitions = {partition, urgent};
    settings.licenses = {{"fluent", 3}, {"ansys", 1}};
    settings.kill_wait = kKillWait;
    settings.node_timeout = kNodeTimeout;
    settings.owner_grace = kOwnerGrace;
    settings.min_job_age = seed % 3 == 0 ? Seconds{10} : Seconds{100000};
    settings.return_to_service = 2;
    settings.can_reboot = true;
    settings.resume_timeout = Seconds{80};
    settings.run_prolog = seed % 4 == 1;
    settings.run_epilog = seed % 4 >= 2;
    settings.backfill = seed % 5 != 0;
    settings.backfill_interval = Seconds{5};
    return settings;
}

Simulation::Simulation(std::uint64_t seed, bool tracing)
    : world(seed, tracing), controller(*this, settings(seed)), clients(*this) {
    checker.launch_may_wait = settings(seed).run_prolog;
    for (const model::NodeConfig& config : settings(seed).nodes)
        nodes.push_back(std::make_unique<SimNode>(*this, config));
}

SimNode* Simulation::find_node(const std::string& name) {
    for (auto& node : nodes) {
        if (node->name() == name) return node.get();
    }
    return nullptr;
}

void Simulation::something_breaks() {
    if (!faulty) return;
    SimNode& node = *nodes[world.random.below(static_cast<std::uint32_t>(nodes.size()))];
    switch (world.random.below(13)) {
        case 10:
            controller.back_up();
            break;
        case 11:
            if (!controller.up() || !controller.has_backup()) break;
            controller.crash();
            world.after(Millis{world.random.between(50, 8000)}, [this] {
                if (!controller.up()) controller.restore();
            });
            break;
        case 12:
            node.kill_all();
            break;
        case 0:
        case 1:
        case 2:
            if (controller.up()) {
                controller.crash();
                world.after(Millis{world.random.between(50, 8000)}, [this] {
                    if (!controller.up()) controller.start();
                });
            }
            break;
        case 3:
        case 4:
            node.cut();
            break;
        case 5:
        case 6:
            node.kill_agent();
            break;
        case 7:
        case 8:
            node.crash_stepd();
            break;
        default:
            node.lose_power(world.random.chance(50));
            break;
    }
    world.after(Millis{world.random.between(500, 15000)}, [this] { something_breaks(); });
}

Figures Simulation::run() {
    controller.start();
    clients.begin(world.random.between(10, 60));
    world.after(Millis{world.random.between(1000, 10000)}, [this] { something_breaks(); });
    const Instant begin = world.now();
    for (Instant at = begin; at < begin + kTrouble; at += Seconds{1}) {
        checker.now = at;
        world.run_until(at);
    }
    heal();
    return figures;
}

// No more faults. Within a bounded time everything must be over, and over in truth.
void Simulation::heal() {
    faulty = false;
    world.trace("-- healed");
    // Whatever is down comes back by itself; the longest outage is a minute.
    world.run_until(world.now() + Seconds{70});
    if (!controller.up()) controller.start();
    // A long queue may take its time as long as it moves.
    std::size_t left = controller.cluster().jobs().size() + 1;
    for (int round = 0, still = 0; still < kRestRounds; ++round, ++still) {
        checker.now = world.now();
        world.run_until(world.now() + Seconds{10});
        clients.put_right();
        bool rest = clients.done();
        std::size_t open = 0;
        for (const auto& [id, job] : controller.cluster().jobs()) {
            if (std::holds_alternative<model::Ended>(job.phase)) continue;
            ++open;
            const model::Reason reason = model::reason_of(job);
            rest &= reason == model::Reason::DependencyNeverSatisfied;
        }
        if (rest && round > 3) break;
        if (open < left) still = 0;
        left = std::min(left, open);
    }
    world.run_until(world.now() + Seconds{5});
    controller.cluster().check_invariants();
    for (const auto& node : nodes) {
        for (const auto& [key, stepd] : node->stepds()) {
            if (stepd.alive)
                violated(fmt::format("{} is left behind on {}", core::testing::name_of(key),
                                     node->name()));
        }
    }
    checker.at_rest(controller.cluster(), controller.disk());
}

}  // namespace switchyard::sim
