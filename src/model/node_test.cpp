#include "model/node.hpp"

#include <gtest/gtest.h>

#include "model/partition.hpp"

namespace switchyard::model {
namespace {

Node an_idle_node() {
    Node node;
    node.config.name = "n1";
    node.config.cpus = 8;
    node.facts = NodeFacts{};
    node.responding = true;
    return node;
}

// Long, short and full words, as sinfo -N -l, sinfo and scontrol show node print them.
std::string words(const Node& node) {
    return long_name(node) + " " + short_name(node) + " " + full_state(node);
}

TEST(NodeState, follows_the_jobs_on_it) {
    Node node = an_idle_node();
    EXPECT_EQ(words(node), "idle idle IDLE");
    node.running_jobs = 1;
    node.used_cpus = 5;
    EXPECT_EQ(words(node), "mixed mix MIXED");
    node.used_cpus = 8;
    EXPECT_EQ(words(node), "allocated alloc ALLOCATED");
    node.used_cpus = 1;
    node.exclusive = true;
    EXPECT_EQ(words(node), "allocated alloc ALLOCATED");
}

TEST(NodeState, shows_whose_time_it_is) {
    Node node = an_idle_node();
    node.reservation = "course";
    EXPECT_EQ(words(node), "reserved resv IDLE+RESERVED");
    node.running_jobs = 1;
    node.used_cpus = 1;
    EXPECT_EQ(words(node), "mixed mix MIXED+RESERVED");
    node.running_jobs = 0;
    node.maint = true;
    EXPECT_EQ(words(node), "maint maint IDLE+MAINTENANCE+RESERVED");
    node.drain = true;
    EXPECT_EQ(words(node), "drained drain IDLE+DRAIN+MAINTENANCE+RESERVED");
}

TEST(NodeState, completes_when_nothing_else_runs) {
    Node node = an_idle_node();
    node.completing_jobs = 1;
    node.used_cpus = 2;
    EXPECT_EQ(words(node), "completing comp IDLE+COMPLETING");
    node.running_jobs = 1;
    EXPECT_EQ(words(node), "mixed mix MIXED+COMPLETING");
    node.used_cpus = 8;
    EXPECT_EQ(words(node), "allocated+ alloc+ ALLOCATED+COMPLETING");
}

TEST(NodeState, drains_while_it_has_jobs_and_is_drained_without) {
    Node node = an_idle_node();
    node.drain = true;
    EXPECT_EQ(words(node), "drained drain IDLE+DRAIN");
    node.running_jobs = 1;
    node.used_cpus = 1;
    EXPECT_EQ(words(node), "draining drng MIXED+DRAIN");
    node.running_jobs = 0;
    node.completing_jobs = 1;
    EXPECT_EQ(words(node), "draining drng IDLE+COMPLETING+DRAIN");
}

TEST(NodeState, is_down_whatever_runs_and_has_a_star_when_silent) {
    Node node = an_idle_node();
    node.down = true;
    EXPECT_EQ(words(node), "down down DOWN");
    node.responding = false;
    EXPECT_EQ(words(node), "down* down* DOWN+NOT_RESPONDING");
    node.drain = true;
    EXPECT_EQ(words(node), "drained* drain* DOWN+DRAIN+NOT_RESPONDING");
    node.down = false;
    node.drain = false;
    EXPECT_EQ(words(node), "idle* idle* IDLE+NOT_RESPONDING");
}

TEST(NodeState, tells_of_a_reboot_that_waits_and_of_one_that_was_begun) {
    Node node = an_idle_node();
    node.reboot = NodeReboot{};
    EXPECT_EQ(words(node), "reboot reboot IDLE+REBOOT_REQUESTED");
    EXPECT_TRUE(accepts_jobs(node));
    node.running_jobs = 1;
    EXPECT_EQ(words(node), "mixed@ mix@ MIXED+REBOOT_REQUESTED");
    node.drain = true;
    EXPECT_EQ(words(node), "draining@ drng@ MIXED+DRAIN+REBOOT_REQUESTED");
    node.running_jobs = 0;
    node.drain = false;
    node.reboot->issued = Instant{};
    EXPECT_EQ(words(node), "reboot^ reboot^ IDLE+REBOOT_ISSUED");
    EXPECT_FALSE(accepts_jobs(node));
    node.responding = false;
    EXPECT_EQ(words(node), "reboot^ reboot^ IDLE+REBOOT_ISSUED+NOT_RESPONDING");
}

TEST(NodeState, takes_the_number_of_cpus_from_the_agent_if_none_is_configured) {
    Node node = an_idle_node();
    node.config.cpus = 0;
    node.facts->cpus = 4;
    node.running_jobs = 1;
    node.used_cpus = 3;
    EXPECT_EQ(state_of(node), NodeState::Mixed);
    node.used_cpus = 4;
    EXPECT_EQ(state_of(node), NodeState::Allocated);
}

TEST(NodeState, a_future_node_is_one_until_it_comes) {
    Node node;
    node.config.start = NodeConfig::Start::Future;
    EXPECT_EQ(words(node), "future futr FUTURE");
    EXPECT_FALSE(accepts_jobs(node));
    node.facts = NodeFacts{};
    node.responding = true;
    EXPECT_EQ(words(node), "idle idle IDLE");
}

TEST(AcceptsJobs, only_when_up_and_answering) {
    EXPECT_TRUE(accepts_jobs(an_idle_node()));
    for (const auto spoil : {+[](Node& n) { n.down = true; }, +[](Node& n) { n.drain = true; },
                             +[](Node& n) { n.responding = false; }}) {
        Node node = an_idle_node();
        spoil(node);
        EXPECT_FALSE(accepts_jobs(node));
    }
}

TEST(PartitionState, is_read_and_printed) {
    for (const char* word : {"UP", "DOWN", "DRAIN", "INACTIVE"}) {
        EXPECT_EQ(to_string(*parse_partition_state(word)), word);
    }
    EXPECT_EQ(*parse_partition_state("up"), PartitionState::Up);
    EXPECT_FALSE(parse_partition_state(""));
    EXPECT_FALSE(parse_partition_state("sideways"));
}

}  // namespace
}  // namespace switchyard::model
