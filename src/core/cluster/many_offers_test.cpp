// many_offers_test.cpp: more room is offered at once than one pass has time to hand on.
#include <gtest/gtest.h>

#include "core/cluster/cluster.hpp"

namespace switchyard::core {
namespace {

constexpr std::uint32_t kNodes = 250, kShapes = 100;  // More offers than kOffersPerPassMax.
constexpr std::uint32_t kCores = 128;
constexpr std::uint64_t kMemory = 100000;

Settings site() {
    Settings settings;
    model::Partition partition;
    partition.name = "debug";
    partition.is_default = true;
    for (std::uint32_t i = 0; i <= kNodes; ++i) {
        model::NodeConfig node;
        node.name = "n" + std::to_string(i);
        node.cpus = node.cores_per_socket = kCores;
        node.sockets = node.threads_per_core = 1;
        node.memory = model::MiB{kMemory};
        if (i == 0) node.features = {"rare"};
        settings.nodes.push_back(node);
        partition.nodes.push_back(node.name);
    }
    settings.partitions = {partition};
    return settings;
}

class OffersTest : public ::testing::Test {
  protected:
    OffersTest() {
        for (const model::NodeConfig& config : cluster.settings().nodes) {
            model::NodeFacts facts;
            facts.host_name = config.name;
            facts.cpus = config.cpus;
            facts.sockets = config.sockets;
            facts.cores_per_socket = config.cores_per_socket;
            facts.threads_per_core = config.threads_per_core;
            facts.memory = config.memory;
            facts.booted = facts.agent_started = now;
            cluster.step(now, event::NodeUp{config.name, facts, {}});
        }
        cluster.schedule(now);
    }

    JobId submit(const model::JobSpec& spec) {
        const JobId id = cluster.next_job_id();
        event::Submit submit;
        submit.caller = {1000, 1000};
        submit.spec = spec;
        cluster.step(now, submit);
        cluster.schedule(now);
        return id;
    }
    static model::JobSpec wanting(std::uint32_t cpus, std::uint64_t megabytes, Seconds limit) {
        model::JobSpec spec;
        spec.tasks = 1;
        spec.cpus_per_task = cpus;
        spec.memory = {model::MemoryRequest::Per::Node, model::MiB{megabytes}};
        spec.time_limit = model::TimeLimit{limit, false};
        return spec;
    }
    bool runs(JobId id) { return model::run_of(cluster.jobs().at(id)) != nullptr; }

    Instant now = from_unix_seconds(1000000);
    Cluster cluster{site(), {}, now};
};

// All nodes but one become free in the same moment, and everybody ahead waits for that one. They
// are told of every node, one after the other, before the last in line is.
TEST_F(OffersTest, WhoStandsBehindMoreOffersThanAPassHasTimeForHasHisTurnInALaterOne) {
    // Cores are left everywhere, but no memory: so all who come are tried, and wait for offers.
    model::JobSpec rare = wanting(1, kMemory, Seconds{100000});
    rare.constraint = "rare";
    ASSERT_TRUE(runs(submit(rare)));
    model::JobSpec all = wanting(1, kMemory, Seconds{100000});
    all.nodes_min = all.nodes_max = kNodes;
    all.tasks = kNodes;
    const JobId wide = submit(all);
    ASSERT_TRUE(runs(wide));
    for (std::uint32_t cpus = 1; cpus <= kShapes; ++cpus) {
        rare = wanting(cpus, 1, Seconds{100000});
        rare.constraint = "rare";
        ASSERT_FALSE(runs(submit(rare)));
    }
    const JobId last = submit(wanting(1, 1, Seconds{60}));
    ASSERT_FALSE(runs(last));

    const Attempt attempt = cluster.jobs().at(wide).attempt;
    event::Signal signal;
    signal.filter.jobs = {{wide, {}, false, {}}};
    cluster.step(now, signal);
    for (std::uint32_t i = 1; i <= kNodes; ++i)
        cluster.step(now, event::JobClean{"n" + std::to_string(i), wide, attempt});
    cluster.schedule(now);
    ASSERT_FALSE(runs(last)) << "one pass was enough: the test offers too little";
    ASSERT_EQ(cluster.next_wakeup(), now);
    for (int passes = 0; passes < 5 && !runs(last); ++passes) cluster.schedule(now);
    EXPECT_TRUE(runs(last));
    cluster.check_invariants();
}

}  // namespace
}  // namespace switchyard::core
