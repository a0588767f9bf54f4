#include "model/job_filter.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace switchyard::model {
namespace {

Job a_job() {
    auto spec = std::make_shared<JobSpec>();
    spec->uid = 100;
    spec->name = "train";
    spec->partitions = {"day", "night"};
    Job job;
    job.id = JobId{1};
    job.spec = spec;
    job.partition = "day";
    return job;
}

TEST(JobFilter, EmptyListsDoNotFilter) {
    EXPECT_TRUE(matches({}, a_job()));
    JobFilter filter;
    filter.uids = {7};
    EXPECT_FALSE(matches(filter, a_job()));
}

TEST(JobFilter, EveryListMustHaveTheJob) {
    JobFilter filter;
    filter.uids = {100, 101};
    filter.names = {"train"};
    EXPECT_TRUE(matches(filter, a_job()));
    filter.accounts = {"physics"};
    EXPECT_FALSE(matches(filter, a_job()));
}

TEST(JobFilter, ListsMayBeInAnyOrderOnceTheyAreSorted) {
    JobFilter filter;
    filter.uids = {300, 100, 200};
    filter.names = {"zebra", "train", "ape"};
    filter.partitions = {"weekend", "day", "night"};
    filter.states = {JobState::Running, JobState::Pending};
    sort_lists(filter);
    EXPECT_TRUE(matches(filter, a_job()));
}

TEST(JobFilter, APendingJobIsInTheQueueOfEachOfItsPartitions) {
    JobFilter filter;
    filter.partitions = {"night"};
    Job job = a_job();
    EXPECT_TRUE(matches(filter, job));
    job.phase = Running{};
    EXPECT_FALSE(matches(filter, job));
}

TEST(JobFilter, AJobIsOnTheNodesItHolds) {
    JobFilter filter;
    filter.nodes = {"n2"};
    Job job = a_job();
    EXPECT_FALSE(matches(filter, job));
    Running run;
    run.allocation.nodes.resize(2);
    run.allocation.nodes[0].node = "n1";
    run.allocation.nodes[1].node = "n2";
    job.phase = run;
    EXPECT_TRUE(matches(filter, job));
    filter.nodes = {"n3"};
    EXPECT_FALSE(matches(filter, job));
}

TEST(JobFilter, ACompletingJobIsFoundByBothOfItsStates) {
    Job job = a_job();
    Completing phase;
    phase.outcome.state = JobState::Cancelled;
    job.phase = phase;
    JobFilter filter;
    filter.states = {JobState::Completing};
    EXPECT_TRUE(matches(filter, job));
    filter.states = {JobState::Cancelled};
    EXPECT_TRUE(matches(filter, job));
    filter.states = {JobState::Running};
    EXPECT_FALSE(matches(filter, job));
}

}  // namespace
}  // namespace switchyard::model
