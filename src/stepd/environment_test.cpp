// environment_test.cpp: names and values of the variables, against what a Slurm of the same shape
// of job sets. Each test lists all variables of Slurm and of the GPU libraries that the job must
// see, and no others.
#include "stepd/environment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "model/sluid.hpp"
#include "stepd/gpu_environment.hpp"

namespace switchyard::stepd {
namespace {

constexpr std::int64_t kStart = 1794706956;

model::NodeGrant grant(const std::string& node, std::uint32_t cpus, std::uint32_t tasks) {
    model::NodeGrant out;
    out.node = node;
    out.cores = model::IndexSet::range(0, cpus - 1);
    out.cpus = cpus;
    out.tasks = tasks;
    return out;
}

void add_gpu(model::NodeGrant& to, const std::string& devices) {
    model::GresGrant gpu;
    gpu.name = "gpu";
    gpu.type = "rtx4000";
    gpu.devices = *model::parse_index_set(devices);
    gpu.count = gpu.devices.size();
    to.gres.push_back(gpu);
}

model::JobSpec plain_spec() {
    model::JobSpec spec;
    spec.name = "env-batch-plain.sh";
    spec.uid = spec.gid = 2001;
    spec.user = spec.group = "alice";
    spec.account = "test";
    spec.qos = "normal";
    spec.submit_host = "vm";
    spec.work_dir = "/srv/slurm/home/alice/golden";
    spec.memory = {model::MemoryRequest::Per::Cpu, model::MiB{100}};
    return spec;
}

Launch batch(const model::JobSpec& spec, std::uint32_t id, std::vector<model::NodeGrant> nodes,
             std::string partition = "debug") {
    Launch launch;
    launch.job.id = JobId{id};
    launch.job.spec = std::make_shared<const model::JobSpec>(spec);
    launch.job.partition = std::move(partition);
    model::Running run;
    run.started = from_unix_seconds(kStart);
    run.allocation.nodes = std::move(nodes);
    launch.job.phase = run;
    launch.key = {launch.job.id, Attempt{0}, kBatchStep};
    launch.node = "n1";
    launch.cluster = "peer";
    launch.config_path = "/srv/slurm/etc/slurm.conf";
    launch.user = "alice";
    launch.job_grant = run.allocation.nodes[0];
    launch.layout.nodes = {{launch.job_grant, {0}}};
    launch.payload.environment = {"CUDA_HOME=/usr/local/cuda", "PATH=/bin"};
    return launch;
}

// One line a variable, sorted, as `env | grep ... | sort` prints them. The SLUID has a test of its
// own.
std::vector<std::string> shown(std::vector<std::string> env) {
    std::erase_if(env, [](const std::string& entry) {
        const std::string name = entry.substr(0, entry.find('='));
        if (name == "SLURM_JOB_SLUID") return true;
        for (const char* word : {"SLURM", "CUDA", "ROCR", "GPU", "ZE_", "HOSTNAME", "TMPDIR"}) {
            if (name.contains(word)) return false;
        }
        return true;
    });
    std::ranges::sort(env);
    return env;
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> out;
    for (const std::string_view line : split(text, '\n')) {
        if (!trim(line).empty()) out.emplace_back(trim(line));
    }
    std::ranges::sort(out);
    return out;
}

const std::string kCommon = R"(
    CUDA_HOME=/usr/local/cuda
    SLURM_CLUSTER_NAME=peer
    SLURM_CONF=/srv/slurm/etc/slurm.conf
    SLURM_JOB_ACCOUNT=test
    SLURM_JOB_GID=2001
    SLURM_JOB_QOS=normal
    SLURM_JOB_START_TIME=1794706956
    SLURM_JOB_UID=2001
    SLURM_JOB_USER=alice
    SLURM_OOM_KILL_STEP=0
    SLURM_PRIO_PROCESS=0
    SLURM_SUBMIT_DIR=/srv/slurm/home/alice/golden
    SLURM_SUBMIT_HOST=vm
    SLURM_TOPOLOGY_ADDR_PATTERN=node
)";
const std::string kBatch = kCommon + R"(
    HOSTNAME=n1
    TMPDIR=/tmp
    SLURMD_NODENAME=n1
    SLURM_GTIDS=0
    SLURM_JOB_EXCLUSIVE=NO
    SLURM_JOB_OVERSUBSCRIBE=NO
    SLURM_LOCALID=0
    SLURM_NODEID=0
    SLURM_PROCID=0
    SLURM_STEPID=-5
    SLURM_STEP_ID=-5
    SLURM_TOPOLOGY_ADDR=n1
)";
const std::string kOneNode = R"(
    SLURM_JOB_NODELIST=n1
    SLURM_JOB_NUM_NODES=1
    SLURM_NNODES=1
    SLURM_NODELIST=n1
    SLURM_TASKS_PER_NODE=1
)";
const std::string kYear = "\nSLURM_JOB_END_TIME=1826242956\n";

TEST(Environment, HasTheNameOfTheJobThatNoOtherHas) {
    const Launch launch = batch(plain_spec(), 79, {grant("n1", 1, 1)});
    const std::string entry = "SLURM_JOB_SLUID=" + model::sluid_of(launch.job, launch.cluster);
    EXPECT_THAT(batch_environment(launch), testing::Contains(entry));
}

TEST(Environment, OfAPlainBatchJob) {
    const Launch launch = batch(plain_spec(), 79, {grant("n1", 1, 1)});
    EXPECT_EQ(shown(batch_environment(launch)), lines(kBatch + kOneNode + kYear + R"(
        SLURM_CPUS_ON_NODE=1
        SLURM_JOBID=79
        SLURM_JOB_CPUS_PER_NODE=1
        SLURM_JOB_ID=79
        SLURM_JOB_NAME=env-batch-plain.sh
        SLURM_JOB_PARTITION=debug
        SLURM_MEM_PER_CPU=100)"));
}

TEST(Environment, OfABatchJobWithACard) {
    model::JobSpec spec = plain_spec();
    spec.name = "envgpu";
    spec.cpus_per_task = 2;
    spec.memory = {model::MemoryRequest::Per::Node, model::MiB{500}};
    model::NodeGrant node = grant("n1", 2, 1);
    add_gpu(node, "0");
    Launch launch = batch(spec, 78, {node}, "gpu");
    std::get<model::Running>(launch.job.phase).ends_by = from_unix_seconds(kStart + 3600);
    EXPECT_EQ(shown(batch_environment(launch)), lines(kBatch + kOneNode + R"(
        CUDA_VISIBLE_DEVICES=0
        GPU_DEVICE_ORDINAL=0
        ROCR_VISIBLE_DEVICES=0
        ZE_AFFINITY_MASK=0
        SLURM_CPUS_ON_NODE=2
        SLURM_CPUS_PER_TASK=2
        SLURM_GPUS_ON_NODE=1
        SLURM_JOBID=78
        SLURM_JOB_CPUS_PER_NODE=2
        SLURM_JOB_END_TIME=1794710556
        SLURM_JOB_GPUS=0
        SLURM_JOB_ID=78
        SLURM_JOB_NAME=envgpu
        SLURM_JOB_PARTITION=gpu
        SLURM_MEM_PER_NODE=500
        SLURM_TRES_PER_TASK=cpu=2)"));
}

TEST(Environment, OfAJobWithShardsOfACard) {
    model::NodeGrant node = grant("n1", 1, 1);
    model::GresGrant shard;
    shard.name = "shard";
    shard.count = 16;
    shard.shares = {{0, 16}};
    node.gres.push_back(shard);
    const std::vector<std::string> env = batch_environment(batch(plain_spec(), 81, {node}));
    EXPECT_THAT(env, testing::IsSupersetOf({"CUDA_VISIBLE_DEVICES=0", "SLURM_GPUS_ON_NODE=1",
                                            "SLURM_JOB_GPUS=0", "SLURM_SHARDS_ON_NODE=16"}));
}

TEST(Environment, OfAnArrayElement) {
    Launch launch = batch(plain_spec(), 86, {grant("n1", 1, 1)});
    model::ArrayPlace place;
    place.array_id = JobId{84};
    place.element = 7;
    place.count = 3;
    place.min = 3;
    place.max = 9;
    launch.job.array = place;
    EXPECT_EQ(shown(batch_environment(launch)), lines(kBatch + kOneNode + kYear + R"(
        SLURM_ARRAY_JOB_ID=84
        SLURM_ARRAY_TASK_COUNT=3
        SLURM_ARRAY_TASK_ID=7
        SLURM_ARRAY_TASK_MAX=9
        SLURM_ARRAY_TASK_MIN=3
        SLURM_ARRAY_TASK_STEP=1
        SLURM_CPUS_ON_NODE=1
        SLURM_JOBID=86
        SLURM_JOB_CPUS_PER_NODE=1
        SLURM_JOB_ID=86
        SLURM_JOB_NAME=env-batch-plain.sh
        SLURM_JOB_PARTITION=debug
        SLURM_MEM_PER_CPU=100)"));
}

TEST(Environment, OfABatchJobOnTwoNodesWithTasks) {
    model::JobSpec spec = plain_spec();
    spec.tasks_per_node = 2;
    const std::vector<std::string> env =
        batch_environment(batch(spec, 80, {grant("n1", 2, 2), grant("n2", 2, 2)}));
    EXPECT_THAT(env,
                testing::IsSupersetOf({"SLURM_JOB_CPUS_PER_NODE=2(x2)", "SLURM_JOB_NODELIST=n[1-2]",
                                       "SLURM_NNODES=2", "SLURM_NTASKS=4", "SLURM_NPROCS=4",
                                       "SLURM_NTASKS_PER_NODE=2", "SLURM_TASKS_PER_NODE=2(x2)"}));
}

// Turns a batch launch into the launch of a step on this node.
Launch step(Launch launch, std::uint32_t node_index,
            std::vector<std::vector<std::uint32_t>> tasks) {
    const model::Allocation& allocation = *model::allocation_of(launch.job);
    launch.key.step = StepId{0};
    launch.layout.nodes.clear();
    for (std::size_t i = 0; i < tasks.size(); ++i)
        launch.layout.nodes.push_back({allocation.nodes[i], tasks[i]});
    launch.node_index = node_index;
    launch.node = allocation.nodes[node_index].node;
    launch.job_grant = allocation.nodes[node_index];
    launch.command.srun.addresses = {"127.0.0.1"};
    launch.command.srun.port = 42281;
    launch.payload.umask = 022;
    return launch;
}

const std::string kStep = kCommon + R"(
    SLURMD_DEBUG=2
    SLURM_JOB_GROUP=alice
    SLURM_LAUNCH_NODE_IPADDR=127.0.0.1
    SLURM_SRUN_COMM_HOST=127.0.0.1
    SLURM_SRUN_COMM_PORT=42281
    SLURM_STEPID=0
    SLURM_STEP_ID=0
    SLURM_STEP_LAUNCHER_PORT=42281
    SLURM_UMASK=0022
)";
const std::string kTwoNodes = R"(
    SLURM_JOB_NODELIST=n[1-2]
    SLURM_JOB_NUM_NODES=2
    SLURM_NNODES=2
    SLURM_NODELIST=n[1-2]
    SLURM_STEP_NODELIST=n[1-2]
    SLURM_STEP_NUM_NODES=2
)";

TEST(Environment, OfATaskOfSrunInABatchJobOnTwoNodes) {
    model::NodeGrant one = grant("n1", 2, 2), two = grant("n2", 2, 2);
    add_gpu(one, "0");
    add_gpu(two, "0");
    Launch launch = step(batch(plain_spec(), 82, {one, two}), 1, {{0, 1}, {2, 3}});
    launch.command.distribution = "block";
    // What srun has from the batch script.
    launch.payload.environment.insert(
        launch.payload.environment.end(),
        {"SLURM_JOB_EXCLUSIVE=NO", "SLURM_JOB_OVERSUBSCRIBE=NO", "SLURM_MEM_PER_CPU=100",
         "SLURM_NTASKS_PER_NODE=2", "SLURM_PROCID=0", "SLURM_NODEID=0", "SLURM_STEP_ID=-5"});
    EXPECT_EQ(shown(task_environment(launch, 1)), lines(kStep + kTwoNodes + kYear + R"(
        CUDA_VISIBLE_DEVICES=0
        GPU_DEVICE_ORDINAL=0
        ROCR_VISIBLE_DEVICES=0
        ZE_AFFINITY_MASK=0
        SLURMD_NODENAME=n2
        SLURM_CPUS_ON_NODE=2
        SLURM_DISTRIBUTION=block
        SLURM_GPUS_ON_NODE=1
        SLURM_GTIDS=2,3
        SLURM_JOBID=82
        SLURM_JOB_CPUS_PER_NODE=2(x2)
        SLURM_JOB_EXCLUSIVE=NO
        SLURM_JOB_GPUS=0
        SLURM_JOB_ID=82
        SLURM_JOB_NAME=env-batch-plain.sh
        SLURM_JOB_OVERSUBSCRIBE=NO
        SLURM_JOB_PARTITION=debug
        SLURM_LOCALID=1
        SLURM_MEM_PER_CPU=100
        SLURM_NODEID=1
        SLURM_NPROCS=4
        SLURM_NTASKS=4
        SLURM_NTASKS_PER_NODE=2
        SLURM_PROCID=3
        SLURM_STEP_GPUS=0
        SLURM_STEP_NUM_TASKS=4
        SLURM_STEP_TASKS_PER_NODE=2(x2)
        SLURM_TASKS_PER_NODE=2(x2)
        SLURM_TOPOLOGY_ADDR=n2)"));
}

TEST(Environment, OfATaskOfSrunAlone) {
    Launch launch =
        step(batch(plain_spec(), 83, {grant("n1", 1, 1), grant("n2", 1, 1)}), 0, {{0}, {1}});
    launch.spec.tasks_per_node = 1;
    EXPECT_EQ(shown(task_environment(launch, 0)), lines(kStep + kTwoNodes + kYear + R"(
        SLURMD_NODENAME=n1
        SLURM_CPUS_ON_NODE=1
        SLURM_GTIDS=0
        SLURM_JOBID=83
        SLURM_JOB_CPUS_PER_NODE=1(x2)
        SLURM_JOB_ID=83
        SLURM_JOB_NAME=env-batch-plain.sh
        SLURM_JOB_PARTITION=debug
        SLURM_LOCALID=0
        SLURM_NODEID=0
        SLURM_NPROCS=2
        SLURM_NTASKS=2
        SLURM_NTASKS_PER_NODE=1
        SLURM_PROCID=0
        SLURM_STEP_NUM_TASKS=2
        SLURM_STEP_TASKS_PER_NODE=1(x2)
        SLURM_TASKS_PER_NODE=1(x2)
        SLURM_TOPOLOGY_ADDR=n1
        TMPDIR=/tmp)"));
}

TEST(Environment, WhatSrunSaysOfItselfIsKept) {
    Launch launch = step(batch(plain_spec(), 88, {grant("n1", 2, 2)}), 0, {{0, 1}});
    launch.payload.environment = {"SLURM_JOB_NAME=own", "SLURM_PRIO_PROCESS=5",
                                  "SLURM_MEM_PER_NODE=200", "HYDRA_BOOTSTRAP=ssh"};
    launch.spec.memory = {model::MemoryRequest::Per::Node, model::MiB{50}};
    launch.command.cpu_bind = "verbose,mask_cpu:1,2";
    launch.command.mem_bind = "quiet,prefer,map_mem:0";
    launch.command.distribution = "plane=2";
    launch.spec.distribution.plane_size = 2;
    const std::vector<std::string> env = task_environment(launch, 1);
    EXPECT_THAT(env, testing::IsSupersetOf(
                         {"SLURM_JOB_NAME=own", "SLURM_PRIO_PROCESS=5", "SLURM_MEM_PER_NODE=200",
                          "OMPI_MCA_plm_slurm_args=--external-launcher", "HYDRA_BOOTSTRAP=ssh",
                          "I_MPI_HYDRA_BOOTSTRAP=slurm", "SLURM_CPU_BIND=verbose,mask_cpu:1,2",
                          "SLURM_CPU_BIND_TYPE=mask_cpu:", "SLURM_CPU_BIND_LIST=1,2",
                          "SLURM_CPU_BIND_VERBOSE=verbose", "SLURM_MEM_BIND_PREFER=prefer",
                          "SLURM_MEM_BIND_TYPE=map_mem:", "SLURM_DISTRIBUTION=plane",
                          "SLURM_DIST_PLANESIZE=2"}));
    EXPECT_THAT(env,
                testing::Not(testing::Contains("HYDRA_LAUNCHER_EXTRA_ARGS=--external-launcher")));
    // The first task of a node has a TMPDIR, the others only if it was handed to them.
    EXPECT_THAT(env, testing::Not(testing::Contains("TMPDIR=/tmp")));
    EXPECT_THAT(task_environment(launch, 0), testing::Contains("TMPDIR=/tmp"));
}

TEST(Environment, AStepSmallerThanItsJobKeepsTheJobsNodeList) {
    Launch launch = step(batch(plain_spec(), 88, {grant("n1", 2, 2), grant("n2", 2, 2)}), 0, {{0}});
    const std::vector<std::string> env = task_environment(launch, 0);
    EXPECT_THAT(
        env, testing::IsSupersetOf({"SLURM_JOB_NODELIST=n[1-2]", "SLURM_JOB_NUM_NODES=2",
                                    "SLURM_NODELIST=n[1-2]", "SLURM_STEP_NODELIST=n1",
                                    "SLURM_NNODES=1", "SLURM_NTASKS=1", "SLURM_TASKS_PER_NODE=1"}));
}

TEST(Environment, WhereOtherCardsAreHiddenTheVisibleOnesAreCountedFromZero) {
    model::NodeGrant node = grant("n1", 1, 1);
    add_gpu(node, "2-3");
    Launch launch = batch(plain_spec(), 5, {node});
    model::GresInventory cards;
    cards.name = "gpu";
    cards.files = {"/dev/nvidia0", "/dev/nvidia1", "/dev/nvidia2", "/dev/nvidia3"};
    launch.setup.gres = {cards};
    EXPECT_THAT(batch_environment(launch), testing::Contains("CUDA_VISIBLE_DEVICES=2,3"));
    launch.setup.containment.folders = {{"devices", "/x"}};
    EXPECT_THAT(batch_environment(launch),
                testing::IsSupersetOf({"CUDA_VISIBLE_DEVICES=0,1", "SLURM_JOB_GPUS=2,3"}));
}

// A step of `tasks` tasks on a node with the cards 2 to 5, of which the job holds 2, 3 and 5.
Launch bound_step(const std::string& bind, std::uint32_t tasks) {
    model::NodeGrant node = grant("n1", tasks, tasks);
    add_gpu(node, "2-3,5");
    Launch launch = batch(plain_spec(), 7, {node});
    launch.key.step = StepId{0};
    launch.spec.gpu_bind = bind;
    launch.layout.nodes[0].tasks.clear();
    for (std::uint32_t i = 0; i < tasks; ++i) launch.layout.nodes[0].tasks.push_back(i);
    return launch;
}

std::string seen(const Launch& launch, std::uint32_t local) {
    const Environment env(task_environment(launch, local));
    return std::string(env.get("CUDA_VISIBLE_DEVICES"));
}

TEST(Environment, EveryTaskSeesAllCardsUnlessItIsBound) {
    for (const char* bind : {"", "none", "verbose"}) {
        EXPECT_EQ(seen(bound_step(bind, 3), 1), "2,3,5");
    }
    const Launch single = bound_step("single:1", 3);
    EXPECT_EQ(seen(single, 0) + " " + seen(single, 1) + " " + seen(single, 2), "2 3 5");
    EXPECT_EQ(Environment(task_environment(single, 1)).get("SLURM_STEP_GPUS"), "2,3,5");
    EXPECT_EQ(seen(bound_step("map_gpu:5,2", 2), 0), "5");
    EXPECT_EQ(seen(bound_step("per_task:2", 2), 0), "2,3");
    // One task has nobody to share with.
    EXPECT_EQ(seen(bound_step("per_task:1", 1), 0), "2,3,5");
    EXPECT_EQ(gpu_binding_line(bound_step("verbose,single:1", 3), 1),
              "gpu-bind: usable_gres=0x8; bit_alloc=0x2C; local_inx=1; global_list=3; "
              "local_list=3\n");
}

Launch shard_job(const std::string& protection) {
    model::NodeGrant node = grant("n1", 1, 1);
    model::GresGrant shares;
    shares.name = "shard";
    shares.count = 16;
    shares.shares = {{1, 16}};
    node.gres = {shares};
    Launch launch = batch(plain_spec(), 7, {node});
    model::GresInventory cards, shard;
    cards.name = "gpu";
    cards.count = 2;
    cards.devices = model::IndexSet::range(0, 1);
    cards.device_names = {"GPU-a", "GPU-b"};
    cards.device_memory = {8192, 8192};
    shard.name = "shard";
    shard.count = 128;
    shard.devices = cards.devices;
    shard.protection = protection;
    launch.setup.gres = {cards, shard};
    launch.setup.share_folder = "/f";
    return launch;
}

TEST(Environment, AShardJobIsToldToTheGuardOrToMps) {
    Launch launch = shard_job("guard");
    launch.payload.environment.push_back("LD_PRELOAD=/old/libswitchyard_guard.so:/mine.so");
    launch.payload.environment.push_back("SWITCHYARD_GUARD=of another job");
    Environment env(batch_environment(launch));
    EXPECT_EQ(env.get("LD_PRELOAD"), "/f/libswitchyard_guard.so:/mine.so");
    EXPECT_EQ(env.get("SWITCHYARD_GUARD"),
              "job=7;ledger=/f/job_7_0.ledger;card=GPU-b,16,64,/f/job_7_0.4294967291.card1.turns");
    EXPECT_TRUE(is_guarded(launch));
    EXPECT_EQ(env.get("SLURM_SHARDS_ON_NODE"), "16");

    const Launch by_mps = shard_job("mps");
    env = Environment(batch_environment(by_mps));
    EXPECT_EQ(env.get("CUDA_MPS_PIPE_DIRECTORY"), "/f/mps1");
    EXPECT_EQ(env.get("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"), "25");
    EXPECT_EQ(env.get("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"), "0=2048M");
    EXPECT_FALSE(env.has("LD_PRELOAD"));
    EXPECT_FALSE(is_guarded(by_mps));

    // The driver keeps the memory, the guard the turns and the view of a smaller card.
    const Launch by_driver = shard_job("dmem");
    env = Environment(batch_environment(by_driver));
    EXPECT_EQ(env.get("SWITCHYARD_GUARD"),
              "job=7;ledger=/f/job_7_0.ledger;card=GPU-b,16,64,/f/"
              "job_7_0.4294967291.card1.turns,2147483648");
    EXPECT_TRUE(is_guarded(by_driver));
    // A share that the driver does not take is not given.
    EXPECT_FALSE(limit_cards(by_driver, "libno-such-library.so.1"));
    EXPECT_TRUE(limit_cards(launch, "libno-such-library.so.1"));

    launch.setup.gres[1].protection = "none";
    env = Environment(batch_environment(launch));
    EXPECT_EQ(env.get("LD_PRELOAD"), "/mine.so");
    EXPECT_FALSE(env.has("SWITCHYARD_GUARD"));
}

TEST(Environment, WhatTheUserSetIsReplacedNotRepeated) {
    Environment env({"A=1", "SLURM_JOB_ID=9", "AB=2"});
    env.set("SLURM_JOB_ID", std::uint64_t{12});
    env.set("A", "3");
    env.unset("AB");
    EXPECT_EQ(env.take(), (std::vector<std::string>{"A=3", "SLURM_JOB_ID=12"}));
}

}  // namespace
}  // namespace switchyard::stepd
