// Goal: what a slurm.conf, gres.conf and cgroup.conf say is what Config holds, and every complaint
// names its place. Method: write the files into a folder of the test's own, load them, compare.
#include "config/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "model/hostlist.hpp"

namespace switchyard::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ConfigTest : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = ::testing::TempDir() + "/config_test_XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string path(const std::string& name) const { return folder_ + "/" + name; }
    void write(const std::string& name, const std::string& text) const {
        std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
        std::ofstream(path(name)) << text;
    }

    Config load(const std::string& text) const {
        write("slurm.conf", text);
        auto config = load_config(path("slurm.conf"));
        EXPECT_TRUE(config) << (config ? "" : config.error().message);
        return config ? *config : Config{};
    }
    // The message of the refusal, with the folder cut out.
    std::string refusal(const std::string& text) const {
        write("slurm.conf", text);
        const auto config = load_config(path("slurm.conf"));
        return config ? "accepted" : without_folder(config.error().message);
    }
    std::string without_folder(std::string message) const {
        for (std::size_t at; (at = message.find(folder_ + "/")) != std::string::npos;) {
            message.erase(at, folder_.size() + 1);
        }
        return message;
    }
    std::vector<std::string> notices(const Config& config) const {
        std::vector<std::string> out;
        for (const auto& notice : config.notices) {
            out.push_back(without_folder(notice.where) + ": " + notice.text);
        }
        return out;
    }

    std::string folder_;
};

std::string node_names(const Config& config) {
    std::vector<std::string> names;
    for (const auto& node : config.nodes) names.push_back(node.name);
    return model::compress_hostlist(names);
}

// --- the text form ---

TEST_F(ConfigTest, ReadsSeveralPairsPerLineInAnyCaseWithBlanksAroundTheEqualsSign) {
    const Config config = load("CLUSTERNAME=Alpha  killwait = 45\tMinJobAge=7\n");
    EXPECT_EQ(config.cluster_name, "alpha");
    EXPECT_EQ(config.kill_wait, Seconds{45});
    EXPECT_EQ(config.min_job_age, Seconds{7});
}

TEST_F(ConfigTest, CommentsEndAtTheLineUnlessEscapedOrQuoted) {
    const Config config = load(
        "# ClusterName=no\n"
        "ClusterName=c # KillWait=1\n"
        "MailDomain=a\\#b\n"
        "NodeName=n1 Reason=\"bad # disk\" State=DOWN\n");
    EXPECT_EQ(config.cluster_name, "c");
    EXPECT_EQ(config.kill_wait, Seconds{30});
    EXPECT_EQ(config.mail_domain, "a#b");
    ASSERT_THAT(config.nodes, SizeIs(1));
    EXPECT_EQ(config.nodes[0].reason, "bad # disk");
    EXPECT_EQ(config.nodes[0].start, model::NodeConfig::Start::Down);
}

TEST_F(ConfigTest, ABackslashAtTheEndJoinsLinesAndErrorsNameTheFirstOfThem) {
    const Config config =
        load("NodeName=n[1-2] \\\n  CPUs=4 \\  \n  RealMemory=1000\nClusterName=c\n");
    EXPECT_EQ(node_names(config), "n[1-2]");
    EXPECT_EQ(config.nodes[1].memory, model::MiB{1000});
    EXPECT_EQ(refusal("ClusterName=c\nNodeName=n1 \\\n CPUs=x\nKillWait=y\n"),
              "slurm.conf:2: CPUs: \"x\" is not a number\n"
              "slurm.conf:4: KillWait: \"y\" is not a number");
}

TEST_F(ConfigTest, WindowsLineEndsAndAMissingLastNewlineAreHarmless) {
    const Config config = load("ClusterName=c\r\nKillWait=5\r\nMailProg=/bin/x");
    EXPECT_EQ(config.cluster_name, "c");
    EXPECT_EQ(config.kill_wait, Seconds{5});
    EXPECT_EQ(config.mail_prog, "/bin/x");
}

TEST_F(ConfigTest, MalformedLinesAreRefusedTogetherWithTheirPlaces) {
    EXPECT_EQ(
        refusal(
            "ClusterName=c\nthis is no pair\n\nReason=\"open\nKillWait=\nKillWait=\"5\"x\n=3\n"),
        "slurm.conf:2: expected Key=Value, found \"this\" without a value\n"
        "slurm.conf:4: the quote after Reason= is not closed\n"
        "slurm.conf:5: KillWait= has no value\n"
        "slurm.conf:6: unexpected text after the closing quote of KillWait=\n"
        "slurm.conf:7: expected Key=Value, found \"=3\"");
}

TEST_F(ConfigTest, IncludesAreRelativeToTheirFileAndKnowTheClusterName) {
    write("parts/nodes.conf", "NodeName=a[1-2]\nInclude more.conf\n");
    write("parts/more.conf", "NodeName=b1\n");
    write("c1.conf", "KillWait=9\n");
    const Config config =
        load("ClusterName=C1\nInclude parts/nodes.conf\ninclude %c.conf # here\n");
    EXPECT_EQ(node_names(config), "a[1-2],b1");
    EXPECT_EQ(config.kill_wait, Seconds{9});
}

TEST_F(ConfigTest, AMissingIncludeSaysWhoAskedForIt) {
    EXPECT_EQ(refusal("\nInclude nothing.conf\n"),
              "slurm.conf:2: cannot read nothing.conf: No such file or directory");
}

TEST_F(ConfigTest, FilesThatIncludeThemselvesAreRefused) {
    EXPECT_THAT(refusal("Include slurm.conf\n"),
                HasSubstr("files include each other more than 16 deep"));
}

TEST_F(ConfigTest, AMissingFileIsNotFound) {
    const auto config = load_config(path("none.conf"));
    ASSERT_FALSE(config);
    EXPECT_EQ(config.error().code, Errc::NotFound);
    EXPECT_FALSE(load_config(folder_));
}

// --- single keys ---

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
        "ResumeTimeout=300\nAuthAltParameters=jwt_key=/s/jwt\n");
    EXPECT_EQ(config.controller_debug, "debug2");
    EXPECT_EQ(config.agent_debug, "verbose");
    EXPECT_EQ(config.debug_flags, "Steps,Agent");
    EXPECT_TRUE(config.sched_log);
    EXPECT_EQ(config.sched_log_file, "/s/sched.log");
    EXPECT_EQ(config.reboot_program, "/sbin/reboot");
    EXPECT_EQ(config.resume_timeout, Seconds{300});
    EXPECT_EQ(config.auth_alt_parameters, "jwt_key=/s/jwt");
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

// --- nodes ---

TEST_F(ConfigTest, NodeRangesArePairedWithHostsAddressesAndPorts) {
    const Config config = load(
        "NodeName=n[01-03] NodeHostname=host[7-9] NodeAddr=10.0.0.[1-3] Port=[17001-17003]\n"
        "NodeName=m[1-2] NodeHostname=vm Port=6818\n");
    ASSERT_THAT(config.nodes, SizeIs(5));
    EXPECT_EQ(config.nodes[2].name, "n03");
    EXPECT_EQ(config.nodes[2].host_name, "host9");
    EXPECT_EQ(config.nodes[2].address, "10.0.0.3");
    EXPECT_EQ(config.nodes[2].port, 17003);
    EXPECT_EQ(config.nodes[4].host_name, "vm");
    EXPECT_EQ(config.nodes[4].port, 6818);
    EXPECT_EQ(config.expand("/x/%h/%n", "n02"), "/x/host8/n02");
    EXPECT_EQ(refusal("NodeName=n[1-3] NodeAddr=a[1-2]\n"),
              "slurm.conf:1: NodeAddr=a[1-2] names 2 hosts for 3 nodes");
}

TEST_F(ConfigTest, NodeDefaultsHoldForTheLinesBelowThem) {
    const Config config = load(
        "NodeName=a\nNodeName=DEFAULT RealMemory=1000 Feature=x,y Weight=3\nNodeName=b "
        "RealMemory=2G\n"
        "NodeName=DEFAULT Weight=5\nNodeName=c\n");
    ASSERT_THAT(config.nodes, SizeIs(3));
    EXPECT_EQ(config.nodes[0].memory, model::MiB{0});
    EXPECT_EQ(config.nodes[1].memory, model::MiB{2048});
    EXPECT_THAT(config.nodes[1].features, ElementsAre("x", "y"));
    EXPECT_EQ(config.nodes[1].weight, 3u);
    EXPECT_EQ(config.nodes[2].memory, model::MiB{1000});
    EXPECT_EQ(config.nodes[2].weight, 5u);
    EXPECT_EQ(refusal("NodeName=DEFAULT CPUs=x\nNodeName=a,b\n"),
              "slurm.conf:1: CPUs: \"x\" is not a number");
}

std::string counts(const model::NodeConfig& node) {
    return std::to_string(node.cpus) + "=" + std::to_string(node.sockets) + "x" +
           std::to_string(node.cores_per_socket) + "x" + std::to_string(node.threads_per_core);
}

TEST_F(ConfigTest, CountsLeftOutFollowFromTheOthers) {
    const Config config = load(
        "NodeName=none\nNodeName=cpus CPUs=8\nNodeName=procs Procs=4\nNodeName=topo Sockets=2 "
        "CoresPerSocket=4\n"
        "NodeName=boards Boards=2 SocketsPerBoard=2 CoresPerSocket=4 ThreadsPerCore=2\n"
        "NodeName=guess CPUs=16 ThreadsPerCore=2 Sockets=2\nNodeName=cores CPUs=8 Sockets=2 "
        "CoresPerSocket=4 "
        "ThreadsPerCore=2\n");
    std::vector<std::string> found;
    for (const auto& node : config.nodes) found.push_back(node.name + " " + counts(node));
    EXPECT_THAT(found, ElementsAre("none 0=0x0x0", "cpus 8=1x8x1", "procs 4=1x4x1", "topo 8=2x4x1",
                                   "boards 32=4x4x2", "guess 16=2x4x2", "cores 8=2x4x2"));
    EXPECT_THAT(config.notices, IsEmpty());
}

TEST_F(ConfigTest, CountsThatDoNotAgreeAreSettledByTheTopology) {
    const Config config = load("NodeName=n CPUs=7 Sockets=1 CoresPerSocket=4 ThreadsPerCore=2\n");
    EXPECT_EQ(counts(config.nodes[0]), "8=1x4x2");
    EXPECT_THAT(notices(config), ElementsAre(HasSubstr("slurm.conf:1: CPUs=7 matches neither")));
}

TEST_F(ConfigTest, ANodeIsDefinedOnce) {
    EXPECT_EQ(refusal("NodeName=a,b\nNodeName=b\n"),
              "slurm.conf:2: node b is defined a second time (first at slurm.conf:1)");
}

TEST_F(ConfigTest, DownNodesMarkNodesWhereverTheyStand) {
    const Config config =
        load("DownNodes=n[1-2] State=DRAIN Reason=\"power, tomorrow\"\nNodeName=n[1-3]\n");
    EXPECT_EQ(config.nodes[1].start, model::NodeConfig::Start::Drain);
    EXPECT_EQ(config.nodes[1].reason, "power, tomorrow");
    EXPECT_EQ(config.nodes[2].start, model::NodeConfig::Start::Unknown);
    EXPECT_EQ(refusal("DownNodes=x\n"),
              "slurm.conf:1: DownNodes names node x, which no NodeName line defines");
}

// --- partitions ---

TEST_F(ConfigTest, PartitionsHaveTheirRules) {
    const Config config = load(R"(NodeName=n[1-4]
PartitionName=DEFAULT MaxTime=1-00:00:00 State=UP
PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE
PartitionName=gpu Nodes=n[2-3] DefaultTime=01:00:00 MaxNodes=2 OverSubscribe=FORCE:3 AllowGroups=a,b AllowAccounts=ALL
PartitionName=old Nodes=n4 Priority=7 Shared=EXCLUSIVE State=DOWN Hidden=YES RootOnly=yes MaxNodes=UNLIMITED DefMemPerNode=500
)");
    ASSERT_THAT(config.partitions, SizeIs(3));
    const auto& debug = config.partitions[0];
    EXPECT_THAT(debug.nodes, ElementsAre("n1", "n2", "n3", "n4"));
    EXPECT_TRUE(debug.is_default);
    EXPECT_TRUE(debug.max_time.unlimited);
    const auto& gpu = config.partitions[1];
    EXPECT_THAT(gpu.nodes, ElementsAre("n2", "n3"));
    EXPECT_EQ(gpu.max_time.seconds, Seconds{86400});
    ASSERT_TRUE(gpu.default_time);
    EXPECT_EQ(gpu.default_time->seconds, Seconds{3600});
    EXPECT_EQ(gpu.max_nodes, 2u);
    EXPECT_EQ(gpu.over_subscribe, model::Partition::OverSubscribe::Force);
    EXPECT_EQ(gpu.over_subscribe_count, 3u);
    EXPECT_THAT(gpu.allow_groups, ElementsAre("a", "b"));
    EXPECT_THAT(gpu.allow_accounts, IsEmpty());
    const auto& old = config.partitions[2];
    EXPECT_EQ(old.priority_tier, 7u);
    EXPECT_EQ(old.priority_job_factor, 7u);
    EXPECT_EQ(old.over_subscribe, model::Partition::OverSubscribe::Exclusive);
    EXPECT_EQ(old.state, model::PartitionState::Down);
    EXPECT_TRUE(old.hidden);
    EXPECT_TRUE(old.root_only);
    EXPECT_EQ(old.max_nodes, std::nullopt);
    EXPECT_EQ(old.def_mem_per_node, model::MiB{500});
}

TEST_F(ConfigTest, NodeSetsStandForTheirNodes) {
    const Config config = load(
        "NodeSet=fast Feature=ssd\nNodeSet=both Nodes=n4 Feature=big\n"
        "NodeName=n[1-2] Feature=ssd\nNodeName=n[3-4] Feature=big\n"
        "PartitionName=p Nodes=fast,n2,n3\nPartitionName=q Nodes=both\n");
    EXPECT_THAT(config.partitions[0].nodes, ElementsAre("n1", "n2", "n3"));
    EXPECT_THAT(config.partitions[1].nodes, ElementsAre("n4", "n3"));
}

TEST_F(ConfigTest, MistakesInPartitionsNameTheirLine) {
    EXPECT_EQ(refusal("NodeName=n1\nPartitionName=p Nodes=n[1-2]\n"),
              "slurm.conf:2: partition p names node n2, which no NodeName line defines");
    EXPECT_EQ(refusal("NodeName=n1\nPartitionName=p Nodes=n1\n\nPartitionName=p Nodes=n1\n"),
              "slurm.conf:4: partition p is defined a second time (first at slurm.conf:2)");
    EXPECT_EQ(refusal("PartitionName=r OverSubscribe=maybe\n"),
              "slurm.conf:1: OverSubscribe: \"maybe\" is none of NO, YES, FORCE and EXCLUSIVE");
    EXPECT_THAT(refusal("PartitionName=r State=sideways\n"), HasSubstr("slurm.conf:1: State: "));
}

TEST_F(ConfigTest, TheLastDefaultPartitionCounts) {
    const Config config = load("PartitionName=a Default=YES\nPartitionName=b Default=YES\n");
    EXPECT_FALSE(config.partitions[0].is_default);
    EXPECT_TRUE(config.partitions[1].is_default);
    EXPECT_THAT(notices(config), ElementsAre(HasSubstr("partition b is the default, not a")));
}

// --- generic resources ---

std::string inventory(const model::NodeConfig& node) {
    std::string out;
    for (const auto& gres : node.gres) {
        out += gres.name + ":" + gres.type + ":" + std::to_string(gres.count);
        out += "[" + to_string(gres.devices) + "]";
        for (const std::string& file : gres.files) out += " " + file;
        if (!gres.cores.empty()) out += " cores " + to_string(gres.cores);
        out += ";";
    }
    return out;
}

TEST_F(ConfigTest, GresWithoutGresConfIsCountedAndCardsHaveIndexes) {
    const Config config = load(
        "GresTypes=gpu,shard,disk\nNodeName=n1 Gres=gpu:rtx4000:2,shard:rtx4000:128,disk:4K\n"
        "NodeName=n2 Gres=gpu:4(S:0-1)\nNodeName=n3 Gres=gpu:a100\nNodeName=n4 "
        "Gres=(null)\nNodeName=n5 Gres=gpu:0\n");
    EXPECT_EQ(inventory(config.nodes[0]),
              "gpu:rtx4000:2[0-1];disk::4096[];shard:rtx4000:128[0-1];");
    EXPECT_EQ(config.nodes[0].gres[2].per_device(), 64u);
    EXPECT_EQ(inventory(config.nodes[1]), "gpu::4[0-3];");
    EXPECT_EQ(inventory(config.nodes[2]), "gpu:a100:1[0];");
    EXPECT_EQ(inventory(config.nodes[3]), "");
    EXPECT_EQ(inventory(config.nodes[4]), "");
    EXPECT_THAT(config.notices, IsEmpty());
}

TEST_F(ConfigTest, GresConfGivesFilesTypesAndCores) {
    write("gres.conf",
          "NodeName=n[1-2] Name=gpu Type=a100 File=/dev/nvidia[0-1] Cores=0-3\n"
          "NodeName=n[1-2] Name=gpu Type=t4 File=/dev/nvidia3 Cores=4-7\n"
          "Name=disk Count=8 Flags=CountOnly\n");
    const Config config = load(
        "GresTypes=gpu,disk\nNodeName=n1 Gres=gpu:3,disk:8\nNodeName=n2 "
        "Gres=gpu:t4:1,gpu:a100:2\n");
    EXPECT_EQ(inventory(config.nodes[0]),
              "gpu:a100:2[0-1] /dev/nvidia0 /dev/nvidia1 cores 0-3;gpu:t4:1[2] /dev/nvidia3 cores "
              "4-7;disk::8[];");
    EXPECT_EQ(
        inventory(config.nodes[1]),
        "gpu:t4:1[0] /dev/nvidia3 cores 4-7;gpu:a100:2[1-2] /dev/nvidia0 /dev/nvidia1 cores 0-3;");
    EXPECT_THAT(config.notices, IsEmpty());
}

TEST_F(ConfigTest, SharesSpreadOverTheCards) {
    write("gres.conf",
          "Name=gpu File=/dev/nvidia[0-1]\nName=shard Count=64 File=/dev/nvidia0\nName=shard "
          "Count=64 "
          "File=/dev/nvidia1\n");
    const Config config = load(
        "GresTypes=gpu,shard,mps\nNodeName=n1 Gres=gpu:2,shard:128\nNodeName=n2 Gres=mps:100\n"
        "NodeName=n3 Gres=gpu:2,shard:129\n");
    EXPECT_EQ(inventory(config.nodes[0]), "gpu::2[0-1] /dev/nvidia0 /dev/nvidia1;shard::128[0-1];");
    EXPECT_EQ(inventory(config.nodes[1]), "mps::100[];");
    EXPECT_EQ(config.nodes[2].gres[1].count, 128u);
    EXPECT_THAT(
        notices(config),
        ElementsAre(
            "slurm.conf:3: node n2 has mps but no gpu to share; they are only counted",
            HasSubstr("gres.conf:2: shard are spread evenly"),
            HasSubstr("gres.conf:3: shard are spread evenly"),
            "slurm.conf:4: node n3: 129 shard do not spread evenly over 2 cards; 128 are used"));
}

TEST_F(ConfigTest, CardsOfOneTypeMayBeNearDifferentCoresAndLinked) {
    write("gres.conf",
          "Name=gpu File=/dev/nvidia0 Cores=0-3 Links=-1,16\n"
          "Name=gpu File=/dev/nvidia1 Cores=4-7 Links=16,-1\n");
    const Config config = load("GresTypes=gpu\nNodeName=n1 Gres=gpu:2\n");
    const auto& cards = config.nodes[0].gres[0];
    ASSERT_EQ(cards.device_cores.size(), 2u);
    EXPECT_EQ(to_string(cards.device_cores[0]), "0-3");
    EXPECT_EQ(to_string(cards.device_cores[1]), "4-7");
    ASSERT_EQ(cards.device_links.size(), 2u);
    EXPECT_EQ(to_string(cards.device_links[0]), "1");
    EXPECT_EQ(to_string(cards.device_links[1]), "0");
    EXPECT_THAT(config.notices, IsEmpty());
}

TEST_F(ConfigTest, GresConfChoosesHowCardsAreFoundAndSharesAreKept) {
    write(
        "gres.conf",
        "AutoDetect=nvml\nNodeName=n2 AutoDetect=off\n"
        "NodeName=n1 Name=shard Count=64 Flags=guard,strict\n"
        "NodeName=n2 Name=shard Count=64 Flags=unprotected\n"
        "NodeName=n3 Name=shard Count=64 Flags=mps\nNodeName=n4 Name=shard Count=64 Flags=wild\n");
    const Config config = load("GresTypes=gpu,shard\nNodeName=n[1-4] Gres=gpu:1,shard:64\n");
    EXPECT_EQ(config.auto_detect.at(""), "nvml");
    EXPECT_EQ(config.auto_detect.at("n2"), "off");
    EXPECT_EQ(config.nodes[0].gres[1].protection, "guard+strict");
    EXPECT_EQ(config.nodes[1].gres[1].protection, "none");
    EXPECT_EQ(config.nodes[2].gres[1].protection, "mps");
    EXPECT_EQ(config.nodes[3].gres[1].protection, "");
    EXPECT_THAT(notices(config), ElementsAre("gres.conf:6: Flags: \"wild\" is not supported"));
    write("gres.conf", "AutoDetect=rsmi\n");
    EXPECT_THAT(notices(load("NodeName=n1\n")),
                ElementsAre("gres.conf:1: AutoDetect=rsmi is not supported: only nvml"));
    write("gres.conf", "AutoDetect=nvidia\n");
    const Config found = load("NodeName=n1\n");
    EXPECT_EQ(found.auto_detect.at(""), "nvml");
    EXPECT_THAT(found.gres_types, ElementsAre("gpu"));
}

TEST_F(ConfigTest, ADeviceMayHaveSeveralFiles) {
    write("gres.conf",
          "Name=gpu Type=1g.5gb MultipleFiles=/dev/nvidia0,/dev/nvidia-caps/nvidia-cap[30-31]\n"
          "Name=gpu Type=1g.5gb MultipleFiles=/dev/nvidia0,/dev/nvidia-caps/nvidia-cap39\n");
    const Config config = load("GresTypes=gpu\nNodeName=n1 Gres=gpu:1g.5gb:2\n");
    EXPECT_EQ(inventory(config.nodes[0]),
              "gpu:1g.5gb:2[0-1] "
              "/dev/nvidia0,/dev/nvidia-caps/nvidia-cap30,/dev/nvidia-caps/nvidia-cap31 "
              "/dev/nvidia0,/dev/nvidia-caps/nvidia-cap39;");
    EXPECT_THAT(config.notices, IsEmpty());
}

TEST_F(ConfigTest, MistakesInGresAreNamed) {
    EXPECT_EQ(refusal("GresTypes=gpu\nNodeName=n1 Gres=gpu:a:b:c\n"),
              "slurm.conf:2: Gres=gpu:a:b:c: cannot read \"gpu:a:b:c\"");
    write("gres.conf", "Name=gpu Count=3 File=/dev/nvidia[0-1]\nType=x\n");
    EXPECT_EQ(refusal("GresTypes=gpu\nNodeName=n1 Gres=gpu:2\n"),
              "gres.conf:1: Count=3 does not agree with 2 device files\n"
              "gres.conf:2: a line of gres.conf needs Name=");
    write("gres.conf",
          "NodeName=n1 Name=gpu File=/dev/nvidia0\nNodeName=n1 Name=nic "
          "File=/dev/x\nAutoDetect=nvml\n");
    const Config config = load("NodeName=n1 Gres=gpu:2\n");
    EXPECT_EQ(inventory(config.nodes[0]), "gpu::2[0-1] /dev/nvidia0;");
    EXPECT_THAT(config.gres_types, ElementsAre("gpu"));
    EXPECT_THAT(notices(config),
                ElementsAre(HasSubstr("node n1 has 2 gpu by Gres= but 1 in gres.conf"),
                            HasSubstr("gres.conf:2: nic of this line are not in Gres= of node n1"),
                            "slurm.conf:1: GresTypes does not name gpu; it is added"));
}

TEST_F(ConfigTest, CgroupConfSaysWhatIsConstrained) {
    write("cgroup.conf",
          "CgroupPlugin=cgroup/"
          "v2\nConstrainCores=no\nConstrainDevices=yes\nAllowedRAMSpace=90\nX=1\n");
    const Config config = load("ClusterName=c\n");
    EXPECT_FALSE(config.constrain_cores);
    EXPECT_TRUE(config.constrain_memory);
    EXPECT_EQ(config.cgroup_plugin, "cgroup/v2");
    EXPECT_THAT(notices(config),
                ElementsAre("cgroup.conf:4: AllowedRAMSpace is not supported and has no effect",
                            "cgroup.conf:5: X is not a key of cgroup.conf; it has no effect"));
}

// --- what commands read ---

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

TEST_F(ConfigTest, TheClientsFormKnowsHowToReachTheControllerAndReadsNoNodes) {
    write("more.conf", "SwitchyardRunDir=/r\nSlurmctldPort=7001\n");
    write("slurm.conf",
          "ClusterName=c "
          "SlurmctldHost=h(1.2.3.4)\nKillWait=oops\nNodeName=n[1-broken\nPartitionName=p "
          "Nodes=nowhere\n"
          "Include more.conf\nStateSaveLocation=/s\n");
    const auto refused = load_client_config(path("slurm.conf"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(without_folder(refused.error().message),
              "slurm.conf:2: KillWait: \"oops\" is not a number");
    write("slurm.conf",
          "ClusterName=c SlurmctldHost=h(1.2.3.4)\nNodeName=n[1-broken\nPartitionName=p "
          "Nodes=nowhere\n"
          "Include more.conf\nStateSaveLocation=/s\n");
    const auto config = load_client_config(path("slurm.conf"));
    ASSERT_TRUE(config);
    EXPECT_EQ(config->cluster_name, "c");
    EXPECT_EQ(config->controllers.at(0).address, "1.2.3.4");
    EXPECT_EQ(config->run_dir, "/r");
    EXPECT_EQ(config->controller_port, 7001);
    EXPECT_EQ(config->key_file, "/s/cluster.key");
    EXPECT_THAT(config->nodes, IsEmpty());
}

TEST_F(ConfigTest, TheClientsFormIsQuickAlsoOnALargeCluster) {
    std::string text = "ClusterName=c\n";
    for (int i = 0; i < 2000; ++i)
        text += "NodeName=n" + std::to_string(i) + " CPUs=8 RealMemory=4000\n";
    write("slurm.conf", text);
    const auto start = std::chrono::steady_clock::now();
    constexpr int kRounds = 20;
    for (int i = 0; i < kRounds; ++i) ASSERT_TRUE(load_client_config(path("slurm.conf")));
    const auto each = (std::chrono::steady_clock::now() - start) / kRounds;
    // About 50 us on an idle machine; the margin is for sanitizers and busy ones.
    EXPECT_LT(each, std::chrono::milliseconds(10));
}

TEST_F(ConfigTest, TheFileIsTheOneSlurmConfNamesElseTheUsersOwn) {
    ::setenv("SLURM_CONF", "/some/where.conf", 1);
    EXPECT_EQ(*find_config_file(), "/some/where.conf");
    ::unsetenv("SLURM_CONF");
    if (std::filesystem::exists("/etc/slurm/slurm.conf") ||
        std::filesystem::exists("/etc/switchyard/slurm.conf")) {
        GTEST_SKIP() << "this machine has a configuration of its own in /etc";
    }
    const char* home = std::getenv("HOME");
    const std::string before = home != nullptr ? home : "";
    ::setenv("HOME", folder_.c_str(), 1);
    write(".switchyard/slurm.conf", "ClusterName=mine\n");
    EXPECT_EQ(*find_config_file(), path(".switchyard/slurm.conf"));
    std::filesystem::remove(path(".switchyard/slurm.conf"));
    if (!std::filesystem::exists("/var/lib/switchyard/slurm.conf")) {
        const auto none = find_config_file();
        ASSERT_FALSE(none);
        EXPECT_EQ(none.error().code, Errc::NotFound);
        EXPECT_THAT(none.error().message, HasSubstr("\"switchyard up\" starts a cluster"));
    }
    ::setenv("HOME", before.c_str(), 1);
}

}  // namespace
}  // namespace switchyard::config
