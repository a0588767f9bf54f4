#include "model/job.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "model/step.hpp"

namespace switchyard::model {
namespace {

Instant at(std::int64_t seconds) { return from_unix_seconds(seconds); }

Running a_run() {
    Running run;
    run.allocation.nodes.push_back({"n1", IndexSet::range(0, 1), 2, 2, MiB{100}, {}});
    run.started = at(100);
    run.ends_by = at(700);
    return run;
}

Job job_in(JobPhase phase) {
    Job job;
    job.id = JobId{126};
    job.spec = std::make_shared<JobSpec>();
    job.phase = std::move(phase);
    return job;
}

Completing a_completing(Completing::Next next) {
    Completing phase;
    phase.run = a_run();
    phase.ended = at(160);
    phase.outcome.state = JobState::Failed;
    phase.outcome.reason = Reason::NonZeroExitCode;
    phase.outcome.exit = {3, 0};
    phase.next = next;
    return phase;
}

TEST(Job, a_pending_one_has_a_reason_and_no_run) {
    Pending pending;
    pending.reason = Reason::Priority;
    const Job job = job_in(pending);
    EXPECT_EQ(state_of(job), JobState::Pending);
    EXPECT_EQ(reason_of(job), Reason::Priority);
    EXPECT_EQ(allocation_of(job), nullptr);
    EXPECT_EQ(run_of(job), nullptr);
    EXPECT_EQ(outcome_of(job), nullptr);
    EXPECT_EQ(start_of(job), std::nullopt);
    EXPECT_EQ(end_of(job), std::nullopt);
    EXPECT_EQ(run_time(job, at(500)), Seconds{0});
    EXPECT_FALSE(is_finished(job));
}

TEST(Job, one_that_was_put_aside_as_a_special_exit_says_so) {
    Pending pending;
    pending.special_exit = true;
    EXPECT_EQ(state_of(job_in(pending)), JobState::SpecialExit);
    EXPECT_FALSE(is_finished(job_in(pending)));
}

TEST(Job, a_running_one_counts_its_time_without_suspensions) {
    Running run = a_run();
    run.suspended_for = Seconds{5};
    const Job job = job_in(run);
    EXPECT_EQ(state_of(job), JobState::Running);
    EXPECT_EQ(reason_of(job), Reason::None);
    EXPECT_EQ(start_of(job), at(100));
    EXPECT_EQ(end_of(job), at(700));
    EXPECT_EQ(run_time(job, at(160)), Seconds{55});
    EXPECT_EQ(run_time(job, at(90)), Seconds{0});
    EXPECT_EQ(allocation_of(job)->node_names(), std::vector<std::string>{"n1"});
}

TEST(Job, a_run_time_is_the_difference_of_the_times_that_are_shown) {
    Running run = a_run();
    run.started = at(100) + Millis{900};
    EXPECT_EQ(run_time(job_in(run), at(102) + Millis{100}), Seconds{2});
}

TEST(Job, a_suspended_one_stands_still) {
    const Job job = job_in(Suspended{a_run(), at(130)});
    EXPECT_EQ(state_of(job), JobState::Suspended);
    EXPECT_EQ(run_time(job, at(1000)), Seconds{30});
}

TEST(Job, a_completing_one_shows_it_and_what_lies_beneath) {
    const Job ending = job_in(a_completing(Completing::Next::End));
    EXPECT_EQ(state_of(ending), JobState::Completing);
    EXPECT_EQ(base_state_of(ending), JobState::Failed);
    EXPECT_EQ(reason_of(ending), Reason::NonZeroExitCode);
    EXPECT_EQ(end_of(ending), at(160));
    EXPECT_EQ(run_time(ending, at(1000)), Seconds{60});
    EXPECT_FALSE(is_finished(ending));
    EXPECT_EQ(outcome_of(ending)->exit.code, 3);
    const Job again = job_in(a_completing(Completing::Next::Requeue));
    EXPECT_EQ(state_of(again), JobState::Completing);
    EXPECT_EQ(base_state_of(again), JobState::Pending);
}

TEST(Job, an_ended_one_keeps_its_run_if_it_had_one) {
    Ended ended;
    ended.ended = at(160);
    ended.outcome.state = JobState::Cancelled;
    const Job never_ran = job_in(ended);
    EXPECT_EQ(state_of(never_ran), JobState::Cancelled);
    EXPECT_TRUE(is_finished(never_ran));
    EXPECT_EQ(allocation_of(never_ran), nullptr);
    EXPECT_EQ(run_time(never_ran, at(500)), Seconds{0});
    EXPECT_EQ(end_of(never_ran), at(160));
    ended.run = a_run();
    const Job ran = job_in(ended);
    EXPECT_EQ(run_time(ran, at(500)), Seconds{60});
    EXPECT_NE(allocation_of(ran), nullptr);
}

TEST(Job, equality_looks_into_the_specification) {
    Job a = job_in(Pending{});
    Job b = a;
    EXPECT_EQ(a, b);
    b.spec = std::make_shared<JobSpec>(*a.spec);
    EXPECT_EQ(a, b);
    auto other = std::make_shared<JobSpec>(*a.spec);
    other->name = "x";
    b.spec = other;
    EXPECT_FALSE(a == b);
    b.spec = nullptr;
    EXPECT_FALSE(a == b);
    EXPECT_FALSE(b == a);
    b = a;
    b.priority = 7;
    EXPECT_FALSE(a == b);
    b = a;
    b.phase = Suspended{a_run(), at(1)};
    EXPECT_FALSE(a == b);
}

TEST(DisplayId, shows_arrays_as_squeue_does) {
    Job job = job_in(Pending{});
    EXPECT_EQ(display_id(job), "126");
    job.array = ArrayPlace{
        .array_id = JobId{126}, .element = {}, .pending = IndexSet::range(3, 8), .throttle = 2};
    EXPECT_EQ(display_id(job), "126_[3-8%2]");
    job.id = JobId{127};
    job.array = ArrayPlace{.array_id = JobId{126}, .element = 1, .pending = {}, .throttle = 2};
    EXPECT_EQ(display_id(job), "126_1");
}

TEST(ExitStatus, translates_what_wait_tells) {
    EXPECT_EQ(ExitStatus::from_wait(3 << 8), (ExitStatus{3, 0}));
    EXPECT_EQ(ExitStatus::from_wait(SIGKILL), (ExitStatus{0, SIGKILL}));
    EXPECT_EQ(ExitStatus::from_wait(SIGSEGV | 0x80),
              (ExitStatus{0, SIGSEGV}));  // With a core dump.
    EXPECT_EQ((ExitStatus{3, 0}).to_wait(), 3 << 8);
    EXPECT_EQ((ExitStatus{0, 15}).to_wait(), 15);
    EXPECT_EQ(to_string(ExitStatus{1, 0}), "1:0");
    EXPECT_EQ(to_string(ExitStatus{0, 15}), "0:15");
    EXPECT_TRUE(ExitStatus{}.ok());
    EXPECT_FALSE((ExitStatus{0, 9}).ok());
    for (const int status : {0, 1 << 8, 255 << 8, 9, 15}) {
        EXPECT_EQ(ExitStatus::from_wait(status).to_wait(), status);
    }
}

TEST(Step, has_a_name_for_each_kind) {
    EXPECT_EQ(step_name(StepId{0}), "0");
    EXPECT_EQ(step_name(kBatchStep), "batch");
    EXPECT_EQ(step_name(kExternStep), "extern");
    EXPECT_EQ(step_name(kInteractiveStep), "interactive");
    EXPECT_EQ(to_string(StepKey{JobId{12}, Attempt{1}, kBatchStep}), "12.batch");
    EXPECT_EQ(to_string(StepKey{JobId{12}, Attempt{0}, StepId{3}}), "12.3");
}

TEST(StepLayout, counts_its_tasks) {
    StepLayout layout;
    EXPECT_EQ(layout.task_count(), 0u);
    layout.nodes.push_back({{}, {0, 1}});
    layout.nodes.push_back({{}, {2}});
    EXPECT_EQ(layout.task_count(), 3u);
}

}  // namespace
}  // namespace switchyard::model
