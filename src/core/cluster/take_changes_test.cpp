// Goal: changes hold values, so whoever writes or follows them asks the core for nothing.
#include <gtest/gtest.h>

#include "core/cluster/cluster.hpp"
#include "core/cluster/world.hpp"

namespace switchyard::core {
namespace {

model::Job job(std::uint32_t id) {
    model::Job out;
    out.id = JobId{id};
    out.spec = std::make_shared<const JobSpec>();
    return out;
}

Cluster fresh(const Settings& settings) {
    return Cluster(settings, Records{}, Instant{Seconds{1'000}});
}

Settings one_partition() {
    Settings settings;
    model::Partition partition;
    partition.name = "p";
    settings.partitions = {partition};
    return settings;
}

TEST(TakeChanges, WhatLeavesMemoryIsHandedOutAsItLastWas) {
    World world(Settings{}, Instant{}, JobKeeping{});
    const model::Job& touched = world.jobs.add(job(1));
    const model::Job& untouched = world.jobs.add(job(2));
    model::Step step;
    step.key = {JobId{1}, Attempt{0}, StepId{0}};
    world.touch(touched);
    world.touch(step);
    world.jobs.at(JobId{1}).priority = 7;
    world.keep_last(touched);
    world.keep_last(untouched);
    world.keep_last(step);
    world.jobs.erase(JobId{1});
    ASSERT_EQ(world.changes.jobs.size(), 1u);
    EXPECT_EQ(world.changes.jobs.begin()->second->priority, 7u);
    ASSERT_EQ(world.changes.steps.size(), 1u);
    EXPECT_EQ(*world.changes.steps.begin()->second, step);
}

TEST(TakeChanges, ADeletedPartitionIsARecordAndOneThatNeverWasIsGone) {
    Cluster cluster = fresh(one_partition());
    (void)cluster.take_changes();
    event::UpdatePartition drop;
    drop.caller = Caller{};
    drop.update.action = model::PartitionUpdate::Action::Delete;
    drop.update.name = "p";
    cluster.step(Instant{Seconds{1'001}}, drop);
    const Changes changes = cluster.take_changes();
    ASSERT_EQ(changes.partitions.size(), 1u);
    const auto& [name, record] = *changes.partitions.begin();
    EXPECT_EQ(name, "p");
    ASSERT_NE(record, nullptr);
    EXPECT_TRUE(record->deleted);
    EXPECT_EQ(record->partition.name, "p");
    EXPECT_TRUE(cluster.take_changes().empty());
}

}  // namespace
}  // namespace switchyard::core
