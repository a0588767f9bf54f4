#include "model/script_environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace switchyard::model {
namespace {

using testing::Contains;
using testing::IsSupersetOf;
using testing::Not;
using testing::StartsWith;

TEST(ScriptEnvironment, TellsOfTheJobAndOfItsEnd) {
    auto spec = std::make_shared<JobSpec>();
    spec->name = "named";
    spec->work_dir = "/home/alice";
    Job job;
    job.id = JobId{13};
    job.spec = spec;
    job.partition = "debug";
    job.array.emplace();
    job.array->array_id = JobId{12};
    job.array->element = 3;
    job.array->max = 9;
    Running run;
    run.allocation.nodes.resize(2);
    run.allocation.nodes[0].node = "n1";
    run.allocation.nodes[1].node = "n2";
    run.started = Instant{Seconds{100}};
    job.phase = run;
    const ScriptFacts facts{.job = job.id,
                            .uid = 1000,
                            .gid = 1001,
                            .user = "alice",
                            .cluster = "c",
                            .config_path = "/etc/slurm/slurm.conf",
                            .context = "prolog_slurmctld"};
    const auto before = script_environment(facts, &job);
    EXPECT_THAT(before, IsSupersetOf({"SLURM_JOB_ID=13", "SLURM_JOB_UID=1000",
                                      "SLURM_JOB_USER=alice", "SLURM_JOB_NAME=named",
                                      "SLURM_JOB_PARTITION=debug", "SLURM_JOB_NODELIST=n[1-2]",
                                      "SLURM_ARRAY_JOB_ID=12", "SLURM_ARRAY_TASK_ID=3",
                                      "SLURM_ARRAY_TASK_MAX=9", "SLURM_JOB_START_TIME=100",
                                      "SLURM_SCRIPT_CONTEXT=prolog_slurmctld"}));
    EXPECT_THAT(before, Not(Contains(StartsWith("SLURM_JOB_EXIT_CODE"))));
    EXPECT_THAT(before, Not(Contains(StartsWith("SLURM_JOB_COMMENT"))));  // It has none.
    Completing completing;
    completing.run = run;
    completing.ended = Instant{Seconds{160}};
    completing.outcome.exit.code = 3;
    job.phase = completing;
    EXPECT_THAT(script_environment(facts, &job),
                IsSupersetOf({"SLURM_JOB_EXIT_CODE=768", "SLURM_JOB_EXIT_CODE2=3:0",
                              "SLURM_JOB_DERIVED_EC=0", "SLURM_JOB_END_TIME=160"}));
}

TEST(ScriptEnvironment, WithoutARecordTellsWhoseTheJobIs) {
    const auto variables = script_environment({.job = JobId{5}, .uid = 7}, nullptr);
    EXPECT_THAT(variables, IsSupersetOf({"SLURM_JOB_ID=5", "SLURM_JOB_UID=7"}));
    EXPECT_THAT(variables, Not(Contains(StartsWith("SLURM_JOB_NAME"))));
}

}  // namespace
}  // namespace switchyard::model
