// keys_test.cpp: single keys of slurm.conf: their types, what is only shown, what is not known.
#include <map>

#include "config/config_fixture.hpp"

namespace switchyard::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(ConfigTest, TypedKeysAreTyped) {
    const Config config = load(R"(ClusterName=t
SlurmctldHost=head(10.0.0.1)
SlurmctldHost=spare
SlurmctldPort=7000-7003
SlurmUser=slurm
StateSaveLocation=/s/state
SlurmdSpoolDir=/s/spool/%n
SwitchyardRunDir=/s/run
SwitchyardKeyFile=/s/key
SlurmctldLogFile=/s/ctld.log
SlurmdLogFile=/s/d.%n.log
SelectTypeParameters=CR_CPU
DefMemPerCPU=100
SlurmdTimeout=60
MaxArraySize=20001
FirstJobId=500
JobRequeue=0
ReturnToService=2
EnforcePartLimits=ALL
OverTimeLimit=UNLIMITED
ResvOverRun=5
Licenses=fluent:30,ansys
GresTypes=gpu,shard
PropagateResourceLimitsExcept=MEMLOCK
)");
    ASSERT_THAT(config.controllers, SizeIs(2));
    EXPECT_EQ(config.controllers[0].host, "head");
    EXPECT_EQ(config.controllers[0].address, "10.0.0.1");
    EXPECT_EQ(config.controllers[1].address, "");
    EXPECT_EQ(config.controller_port, 7000);
    EXPECT_EQ(config.slurm_user, "slurm");
    EXPECT_EQ(config.controller_socket(), "/s/run/controller.sock");
    EXPECT_EQ(config.key_file, "/s/key");
    EXPECT_EQ(config.spool_for("n3"), "/s/spool/n3");
    EXPECT_EQ(config.expand(config.agent_log, "n3"), "/s/d.n3.log");
    EXPECT_EQ(config.def_mem_per_cpu, model::MiB{100});
    EXPECT_EQ(config.max_mem_per_node, std::nullopt);
    EXPECT_EQ(config.slurmd_timeout, Seconds{60});
    EXPECT_EQ(config.max_array_size, 20001u);
    EXPECT_EQ(config.first_job_id, 500u);
    EXPECT_FALSE(config.job_requeue);
    EXPECT_EQ(config.return_to_service, 2);
    EXPECT_TRUE(config.enforce_part_limits);
    EXPECT_EQ(config.over_time_limit, 52560000u);
    EXPECT_EQ(config.resv_over_run, 5u);
    EXPECT_THAT(config.licenses,
                ElementsAre(model::License{"fluent", 30}, model::License{"ansys", 1}));
    EXPECT_THAT(config.gres_types, ElementsAre("gpu", "shard"));
    EXPECT_THAT(config.notices, IsEmpty());
}

TEST_F(ConfigTest, WhatIsLoggedAndHowNodesReboot) {
    const Config config = load(
        "ClusterName=c\nSlurmctldDebug=6\nSlurmdDebug=Verbose\nDebugFlags=Steps,Agent\n"
        "SlurmSchedLogLevel=1\nSlurmSchedLogFile=/s/sched.log\nRebootProgram=/sbin/reboot\n"
        "ResumeTimeout=300\nAuthAltParameters=jwt_key=/s/jwt\nUnkillableStepTimeout=90\n"
        "UnkillableStepProgram=/s/unkillable\n");
    EXPECT_EQ(config.controller_debug, "debug2");
    EXPECT_EQ(config.agent_debug, "verbose");
    EXPECT_EQ(config.debug_flags, "Steps,Agent");
    EXPECT_TRUE(config.sched_log);
    EXPECT_EQ(config.sched_log_file, "/s/sched.log");
    EXPECT_EQ(config.reboot_program, "/sbin/reboot");
    EXPECT_EQ(config.resume_timeout, Seconds{300});
    EXPECT_EQ(config.auth_alt_parameters, "jwt_key=/s/jwt");
    EXPECT_EQ(config.unkillable_timeout, Seconds{90});
    EXPECT_EQ(config.unkillable_program, "/s/unkillable");
    EXPECT_THAT(config.notices, IsEmpty());
    EXPECT_THAT(refusal("ClusterName=c\nSlurmctldDebug=loud\n"),
                testing::HasSubstr("\"loud\" is no level"));
}

TEST_F(ConfigTest, OldControllerKeysStillName) {
    const Config config = load("ControlAddr=10.1.1.1\nControlMachine=head\n");
    ASSERT_THAT(config.controllers, SizeIs(1));
    EXPECT_EQ(config.controllers[0].host, "head");
    EXPECT_EQ(config.controllers[0].address, "10.1.1.1");
}

TEST_F(ConfigTest, BadValuesAreErrorsWithTheirPlace) {
    EXPECT_THAT(
        refusal("ReturnToService=3\nJobRequeue=perhaps\nSlurmctldHost=a(\nSelectType=select/moon\n"
                "SlurmctldPort=70000\nDefMemPerCPU=lots\n"),
        ::testing::StartsWith("slurm.conf:1: ReturnToService: 3 is more than 2\n"
                              "slurm.conf:2: JobRequeue: \"perhaps\" is neither YES nor NO\n"
                              "slurm.conf:3: SlurmctldHost: \"a(\" is not host(address)\n"
                              "slurm.conf:4: SelectType: \"select/moon\" is neither "
                              "select/cons_tres nor select/linear\n"
                              "slurm.conf:5: SlurmctldPort: 70000 is more than 65535\n"
                              "slurm.conf:6: DefMemPerCPU: "));
}

TEST_F(ConfigTest, UnusedAndUnknownKeysAreNamedOnceAndDoNoHarm) {
    const Config config = load(
        "ClusterName=c\nAuthType=auth/"
        "munge\nPriorityWeightAge=5\nUsePAM=1\nFlavour=lemon\nUsePAM=0\n"
        "NodeName=n1 Colour=red CpuBind=core\nNodeName=n2 Colour=blue\nPartitionName=p Nodes=n1 "
        "Mood=good\n");
    EXPECT_THAT(
        notices(config),
        ElementsAre(
            "slurm.conf:2: AuthType has no effect: peers are known by the cluster key and by their "
            "sockets",
            "slurm.conf:3: PriorityWeightAge has no effect: jobs are ordered by partition tier and "
            "submission",
            "slurm.conf:4: UsePAM is not supported and has no effect",
            "slurm.conf:5: Flavour is not a key of slurm.conf; it has no effect",
            "slurm.conf:7: Colour is not a key of a NodeName line; it has no effect",
            "slurm.conf:7: CpuBind is not supported and has no effect",
            "slurm.conf:9: Mood is not a key of a PartitionName line; it has no effect"));
    const std::map<std::string, std::string> raw(config.raw.begin(), config.raw.end());
    EXPECT_EQ(raw.at("UsePAM"), "0");
    EXPECT_EQ(raw.at("AuthType"), "auth/munge");
}

TEST_F(ConfigTest, ValuesThatAreOnlyShownAreKeptAndNamed) {
    const Config config = load("CompleteWait=5\n\nNodeName=n1\nPartitionName=p Nodes=n1 LLN=YES\n");
    EXPECT_EQ(config.complete_wait, Seconds{5});
    EXPECT_TRUE(config.partitions[0].lln);
    EXPECT_THAT(notices(config),
                ElementsAre("slurm.conf:1: CompleteWait has no effect: the value is only shown",
                            "slurm.conf:4: LLN has no effect: the value is only shown"));
}

TEST_F(ConfigTest, PreemptionIsByTheTiersOfPartitions) {
    const Config config = load(
        "PreemptType=preempt/partition_prio\nPreemptMode=suspend,gang\nPreemptExemptTime=1:30\n"
        "PreemptParameters=youngest_first,min_exempt_priority=900\nNodeName=n1\n"
        "PartitionName=p Nodes=n1 GraceTime=5 PreemptMode=requeue\n");
    EXPECT_EQ(config.preempt_type, "preempt/partition_prio");
    EXPECT_EQ(config.preempt_mode, (model::PreemptWords{model::PreemptMode::Suspend, true}));
    EXPECT_EQ(config.preempt_exempt_time, Seconds{90});
    EXPECT_EQ(config.partitions[0].grace_time, 5u);
    EXPECT_EQ(config.partitions[0].preempt_mode, model::PreemptMode::Requeue);
    EXPECT_THAT(notices(config), ElementsAre());
}

TEST_F(ConfigTest, WhatPreemptionCannotDoIsSaid) {
    const Config config = load(
        "PreemptType=preempt/partition_prio\nPreemptMode=CANCEL\n"
        "PreemptParameters=reorder_count=3,strict_order,sometimes\nNodeName=n1\n");
    const auto said = notices(config);
    ASSERT_EQ(said.size(), 2u);
    EXPECT_THAT(said[0], testing::HasSubstr("PreemptParameters=reorder_count has no effect"));
    EXPECT_THAT(said[1], testing::HasSubstr("PreemptParameters=sometimes is not known"));
}

TEST_F(ConfigTest, WhatPreemptionIsToBeMustAgree) {
    EXPECT_THAT(refusal("PreemptType=preempt/qos\n"),
                testing::HasSubstr("slurm.conf:1: PreemptType: preempt/qos is not supported"));
    EXPECT_THAT(refusal("PreemptType=preempt/partition_prio\n"),
                testing::HasSubstr("PreemptType and PreemptMode values incompatible"));
    EXPECT_THAT(refusal("PreemptMode=REQUEUE\n"),
                testing::HasSubstr("PreemptType and PreemptMode values incompatible"));
    EXPECT_THAT(refusal("PreemptType=preempt/partition_prio\nPreemptMode=SUSPEND\n"),
                testing::HasSubstr("PreemptMode=SUSPEND requires GANG too"));
    EXPECT_THAT(refusal("PreemptMode=sometimes\n"),
                testing::HasSubstr("PreemptMode=sometimes invalid"));
    EXPECT_THAT(refusal("PreemptExemptTime=soon\n"),
                testing::HasSubstr("PreemptExemptTime=soon invalid"));
}

TEST_F(ConfigTest, ProgramsAroundJobsAddUpAndHaveFlagsAndTimeouts) {
    const Config config = load(
        "Prolog=/x/prolog.d/*\nProlog=mine\nEpilog=none\nPrologFlags=contain,X11,Serial\n"
        "PrologSlurmctld=/x/one\nPrologSlurmctld=two.d/*\nEpilogSlurmctld=three\n"
        "PrologEpilogTimeout=60\nEpilogTimeout=65534\n");
    EXPECT_THAT(config.prolog_controller, ElementsAre("/x/one", path("two.d/*")));
    EXPECT_THAT(config.epilog_controller, ElementsAre(path("three")));
    EXPECT_THAT(config.prolog, ElementsAre("/x/prolog.d/*", path("mine")));
    EXPECT_TRUE(config.epilog.empty());
    EXPECT_TRUE(config.prolog_at_alloc && config.prolog_serial);
    EXPECT_EQ(config.prolog_timeout, Seconds{60});
    EXPECT_EQ(config.epilog_timeout, Seconds{0});
    EXPECT_THAT(notices(config), ElementsAre("slurm.conf: PrologFlags=X11 has no effect"));
    EXPECT_THAT(refusal("PrologFlags=Sometimes\n"),
                HasSubstr("slurm.conf:1: PrologFlags: \"Sometimes\" is no flag of a prolog"));
}

TEST_F(ConfigTest, PlacesThatAreNotGivenDependOnWhoseFileItIs) {
    const Config config = load("ClusterName=c\n");
    if (::getuid() == 0) {
        EXPECT_EQ(config.state_dir, "/var/lib/switchyard/c");
        EXPECT_EQ(config.run_dir, "/run/switchyard/c");
        ASSERT_EQ(::chown(path("slurm.conf").c_str(), 12345, 12345), 0);
    }
    const auto own = load_config(path("slurm.conf"));
    ASSERT_TRUE(own);
    EXPECT_EQ(own->state_dir, folder_ + "/state");
    EXPECT_EQ(own->run_dir, folder_ + "/state/run");
    EXPECT_EQ(own->key_file, folder_ + "/state/cluster.key");
    EXPECT_EQ(own->spool_for("n1"), folder_ + "/state/spool/n1");
    EXPECT_EQ(own->controller_pid_file, folder_ + "/state/run/slurmctld.pid");
}

TEST_F(ConfigTest, WhatIsMeasuredAndHowLongHistoryIsKept) {
    write("slurm.conf",
          "ClusterName=c\nNodeName=n1\nPartitionName=p Nodes=n1\n"
          "JobAcctGatherFrequency=task=10,energy=0\nPurgeJobAfter=12months\n"
          "PurgeStepAfter=48hours\nAccountingStoreFlags=job_comment,job_script\n");
    const auto config = load_config(path("slurm.conf"));
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->sample_period, Seconds{10});
    EXPECT_EQ(config->purge_jobs_after, Seconds{12 * 30 * 24 * 3600});
    EXPECT_EQ(config->purge_steps_after, Seconds{48 * 3600});
    EXPECT_TRUE(config->keep_scripts);
    EXPECT_FALSE(config->keep_environments);
    for (const char* bad : {"PurgeJobAfter=soon", "PurgeStepAfter=3weeks",
                            "JobAcctGatherFrequency=cpu=3", "AccountingStoreFlags=everything"}) {
        write("slurm.conf", std::string("ClusterName=c\nNodeName=n1\n") + bad + "\n");
        EXPECT_FALSE(load_config(path("slurm.conf"))) << bad;
    }
}

}  // namespace
}  // namespace switchyard::config
