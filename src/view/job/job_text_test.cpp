// Goal: the records of scontrol show job and step. Method: sample jobs in, text out.
#include "view/job/job_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "view/testing/samples.hpp"

namespace switchyard::view {
namespace {

using samples::grant;
using samples::job;
using samples::minutes;
using samples::moment;
using samples::pending;
using samples::running;
using samples::spec;
using testing::HasSubstr;
using testing::Not;

class JobTextTest : public testing::Test {
  protected:
    void SetUp() override {
        setenv("TZ", "UTC", 1);
        tzset();
        style_.now = moment(29);
    }
    RecordStyle style_;
};

model::JobSpec gpu_spec() {
    model::JobSpec of = spec("train");
    of.partitions = {"gpu"};
    of.nodes_min = of.nodes_max = 2;
    of.time_limit = minutes(30);
    of.gres_per_node = {{"gpu", "rtx4000", 2}};
    of.submit_line = "sbatch -N2 train.sh";
    of.command = "/home/alice/train.sh";
    return of;
}

model::Job gpu_job() {
    std::vector<model::NodeGrant> grants{grant("n1", 1), grant("n2", 1)};
    for (model::NodeGrant& each : grants) {
        each.gres = {{"gpu", "rtx4000", 2, model::IndexSet::range(0, 1), {}}};
    }
    return job(122, gpu_spec(), running(std::move(grants), 17, 30));
}

TEST_F(JobTextTest, ARunningJobIsShownInFull) {
    EXPECT_EQ(
        job_record(gpu_job(), style_),
        "JobId=122 JobName=train\n"
        "   UserId=alice(2001) GroupId=alice(2001) MCS_label=N/A\n"
        "   Priority=6140 Nice=0 Account=test QOS=normal\n"
        "   JobState=RUNNING Reason=None Dependency=(null)\n"
        "   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0\n"
        "   RunTime=00:00:12 TimeLimit=00:30:00 TimeMin=N/A\n"
        "   SubmitTime=2026-11-15T01:44:17 EligibleTime=2026-11-15T01:44:17\n"
        "   AccrueTime=2026-11-15T01:44:17\n"
        "   StartTime=2026-11-15T01:44:17 EndTime=2026-11-15T02:14:17 Deadline=N/A\n"
        "   SuspendTime=None SecsPreSuspend=0 LastSchedEval=2026-11-15T01:44:17 Scheduler=Main\n"
        "   Partition=gpu AllocNode:Sid=login:77\n"
        "   ReqNodeList=(null) ExcNodeList=(null)\n"
        "   NodeList=n[1-2]\n"
        "   BatchHost=n1\n"
        "   NumNodes=2 NumCPUs=2 NumTasks=2 CPUs/Task=1 ReqB:S:C:T=0:0:*:*\n"
        "   ReqTRES=cpu=2,mem=200M,node=2,billing=2,gres/gpu=4,gres/gpu:rtx4000=4\n"
        "   AllocTRES=cpu=2,mem=200M,node=2,billing=2,gres/gpu=4,gres/gpu:rtx4000=4\n"
        "   Socks/Node=* NtasksPerN:B:S:C=0:0:*:* CoreSpec=*\n"
        "   MinCPUsNode=1 MinMemoryCPU=100M MinTmpDiskNode=0\n"
        "   Features=(null) DelayBoot=00:00:00\n"
        "   OverSubscribe=NO Exclusive=NO Contiguous=0 Licenses=(null) LicensesAlloc=(null) "
        "Network=(null)\n"
        "   Command=/home/alice/train.sh\n"
        "   SubmitLine=sbatch -N2 train.sh\n"
        "   WorkDir=/home/alice\n"
        "   StdErr=\n"
        "   StdIn=/dev/null\n"
        "   StdOut=/home/alice/slurm-122.out\n"
        "   TresPerNode=gres/gpu:rtx4000:2\n"
        "\n");
}

TEST_F(JobTextTest, DetailsTellWhichCoresAndCards) {
    style_.details = true;
    const std::string text = job_record(gpu_job(), style_);
    EXPECT_THAT(text, HasSubstr("   DerivedExitCode=0:0\n   RunTime="));
    EXPECT_THAT(text, HasSubstr("   JOB_GRES=gpu:rtx4000:4\n"
                                "     Nodes=n[1-2] CPU_IDs=0 Mem=100 GRES=gpu:rtx4000:2(IDX:0-1)\n"
                                "   MinCPUsNode="));
}

TEST_F(JobTextTest, OneLineHasTheSameWordsAndNoBlankLine) {
    style_.one_line = true;
    const std::string text = job_record(gpu_job(), style_);
    EXPECT_EQ(text.find('\n'), text.size() - 1);
    EXPECT_THAT(text, HasSubstr("JobName=train UserId=alice(2001) GroupId="));
}

TEST_F(JobTextTest, NoTextAddsALineOfItsOwn) {
    model::JobSpec of = spec("a\n   JobState=COMPLETED");
    of.comment = "\x1b]0;owned\a";
    const std::string text = job_record(job(7, of, model::Pending{}), style_);
    EXPECT_THAT(text, HasSubstr("JobName=a\\012   JobState=COMPLETED\n"));
    EXPECT_THAT(text, HasSubstr("Comment=\\033]0;owned\\007\n"));
}

TEST_F(JobTextTest, AWaitingJobHasNoNodesAndAReason) {
    model::Pending waits = pending(model::Reason::ReqNodeNotAvail);
    waits.detail = "ReqNodeNotAvail, UnavailableNodes:n4";
    const std::string text = job_record(job(130, gpu_spec(), waits), style_);
    EXPECT_THAT(text, HasSubstr("JobState=PENDING Reason=ReqNodeNotAvail,_UnavailableNodes:n4 "));
    EXPECT_THAT(text, HasSubstr("   StartTime=Unknown EndTime=Unknown "));
    EXPECT_THAT(text, HasSubstr("   NodeList=\n   NumNodes=2-2 "));
    EXPECT_THAT(text, HasSubstr("AllocTRES=(null)\n"));
    EXPECT_THAT(text, Not(HasSubstr("BatchHost")));
}

TEST_F(JobTextTest, AHeldJobIsNotEligible) {
    model::Pending held = pending(model::Reason::JobHeldUser);
    held.hold = model::Hold::User;
    const std::string text = job_record(job(130, spec("held"), held), style_);
    EXPECT_THAT(text, HasSubstr("EligibleTime=Unknown\n   AccrueTime=Unknown\n"));
}

TEST_F(JobTextTest, APlannedJobSaysWhenAndWhere) {
    model::Pending waits = pending(model::Reason::Resources);
    waits.planned_start = moment(100);
    waits.planned_nodes = {"n3", "n4"};
    const std::string text = job_record(job(130, gpu_spec(), waits), style_);
    EXPECT_THAT(text, HasSubstr("StartTime=2026-11-15T01:45:40 EndTime=2026-11-15T02:15:40 "));
    EXPECT_THAT(text, HasSubstr("   NodeList= SchedNodeList=n[3-4]\n"));
}

TEST_F(JobTextTest, ASuspendedJobStopsItsClock) {
    model::Suspended paused{running({grant("n1", 1)}, 0, 0), moment(7)};
    const std::string text = job_record(job(1, spec("x"), paused), style_);
    EXPECT_THAT(text, HasSubstr("JobState=SUSPENDED "));
    EXPECT_THAT(text, HasSubstr("RunTime=00:00:07 TimeLimit=UNLIMITED "));
    EXPECT_THAT(text, HasSubstr("SuspendTime=2026-11-15T01:44:07 SecsPreSuspend=7 "));
}

TEST_F(JobTextTest, AnArrayShowsItsElementsAndItsFiles) {
    model::Job block = job(126, spec("arr"), pending(model::Reason::JobArrayTaskLimit));
    model::ArrayPlace place;
    place.array_id = JobId{126};
    place.pending = model::IndexSet::range(3, 8);
    place.throttle = 2;
    block.array = place;
    EXPECT_THAT(
        job_record(block, style_),
        HasSubstr("JobId=126 ArrayJobId=126 ArrayTaskId=3-8%2 ArrayTaskThrottle=2 JobName=arr\n"));
    place.pending = {};
    place.element = 2;
    model::Job element = job(128, spec("arr"), running({grant("n1", 1)}, 0, 0));
    element.array = place;
    EXPECT_THAT(
        job_record(element, style_),
        HasSubstr("JobId=128 ArrayJobId=126 ArrayTaskId=2 ArrayTaskThrottle=2 JobName=arr\n"));
    EXPECT_THAT(job_record(element, style_), HasSubstr("StdOut=/home/alice/slurm-126_2.out\n"));
}

TEST_F(JobTextTest, FilesAndCommentsAreShownWhenGiven) {
    model::JobSpec of = spec("x");
    of.std_out = "logs/%x-%j.out";
    of.std_err = "/tmp/%j.err";
    of.comment = "hello";
    of.mail_types = 3;
    of.constraint = "intel&gpu";
    const std::string text = job_record(job(5, of, pending(model::Reason::None)), style_);
    EXPECT_THAT(text, HasSubstr("   Comment=hello\n   StdErr=/tmp/5.err\n"));
    EXPECT_THAT(text, HasSubstr("StdOut=/home/alice/logs/x-5.out\n"));
    EXPECT_THAT(text, HasSubstr("MailUser=alice MailType="));
    EXPECT_THAT(text, HasSubstr("Features=intel&gpu "));
}

TEST_F(JobTextTest, AnAllocationHasNoFiles) {
    model::JobSpec of = spec("bash");
    of.kind = model::JobKind::Allocation;
    const std::string text = job_record(job(5, of, running({grant("n1", 1)}, 0, 0)), style_);
    EXPECT_THAT(text, HasSubstr("BatchFlag=0 "));
    EXPECT_THAT(text, Not(HasSubstr("StdOut=")));
    EXPECT_THAT(text, Not(HasSubstr("BatchHost=")));
}

TEST_F(JobTextTest, AStepTellsWhereItsTasksAre) {
    model::Step step;
    step.key = {JobId{122}, {}, StepId{0}};
    step.spec.name = "train";
    step.layout.nodes = {{grant("n1", 1), {0}}, {grant("n2", 1), {1}}};
    step.started = moment(20);
    step.spec.srun_host = "login1";
    step.spec.srun_pid = 4711;
    EXPECT_EQ(step_record(step, gpu_job(), style_),
              "StepId=122.0 UserId=2001 StartTime=2026-11-15T01:44:20 TimeLimit=UNLIMITED\n"
              "   State=RUNNING Partition=gpu NodeList=n[1-2]\n"
              "   Nodes=2 CPUs=2 Tasks=2 Name=train Network=(null)\n"
              "   TRES=cpu=2,mem=200M,node=2\n"
              "   ResvPorts=(null)\n"
              "   CPUFreqReq=Default Dist=Block\n"
              "   SrunHost:Pid=login1:4711\n\n");
}

TEST_F(JobTextTest, ABatchStepHasNothingOfItsOwn) {
    model::Step step;
    step.key = {JobId{122}, {}, kBatchStep};
    step.spec.name = "batch";
    step.layout.nodes = {{grant("n1", 1), {0}}};
    step.started = moment(20);
    EXPECT_EQ(step_record(step, gpu_job(), style_),
              "StepId=122.batch UserId=2001 StartTime=2026-11-15T01:44:20 TimeLimit=UNLIMITED\n"
              "   State=RUNNING Partition=gpu NodeList=n1\n"
              "   Nodes=1 CPUs=0 Tasks=1 Name=batch Network=(null)\n"
              "   TRES=(null)\n"
              "   ResvPorts=(null)\n"
              "   CPUFreqReq=Default\n"
              "   SrunHost:Pid=(null):0\n\n");
}

TEST_F(JobTextTest, AStepThatWaitsTellsWhatItAskedFor) {
    model::Step step;
    step.key = {JobId{122}, {}, StepId{1}};
    step.spec.name = "train";
    step.spec.tasks = 3;
    step.spec.cpus_per_task = 2;
    step.submitted = moment(20);
    EXPECT_EQ(step_record(step, gpu_job(), style_),
              "StepId=122.1 UserId=2001 StartTime=Unknown TimeLimit=UNLIMITED\n"
              "   State=PENDING Partition=gpu NodeList=n[1-2]\n"
              "   Nodes=1 CPUs=6 Tasks=3 Name=train Network=(null)\n"
              "   TRES=(null)\n"
              "   ResvPorts=(null)\n"
              "   CPUFreqReq=Default Dist=Unknown\n"
              "   SrunHost:Pid=(null):0\n\n");
}

}  // namespace
}  // namespace switchyard::view
