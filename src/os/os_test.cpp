// os_test.cpp: the real machine: real processes in real cgroups. What this machine lacks (root, a
// cgroup version) skips the test that needs it, with the reason.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>

#include "os/child.hpp"
#include "os/containment.hpp"
#include "os/daemon.hpp"
#include "os/device_filter.hpp"
#include "os/files.hpp"
#include "os/machine.hpp"
#include "os/no_containment.hpp"
#include "os/processes.hpp"
#include "os/pty.hpp"
#include "os/spawn.hpp"
#include "os/topology.hpp"

namespace switchyard::os {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Folder {
  public:
    Folder() {
        std::string name = "/tmp/sy-os-XXXXXX";
        path = ::mkdtemp(name.data());
    }
    ~Folder() { (void)remove_tree(path); }
    std::string path;
};

// Waits for something that is about to happen, by looking; fails after a minute.
bool eventually(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + Seconds{60};
    while (std::chrono::steady_clock::now() < end) {
        if (holds()) return true;
        ::usleep(2000);
    }
    return holds();
}

const StepKey kKey{JobId{7}, Attempt{0}, StepId{0}};

// A containment of one kind at a place of its own, emptied at the end.
class Walls {
  public:
    explicit Walls(const std::string& kind) {
        plan = find_containment(kind, place_of("os-test", "n1", folder.path));
        if (plan.kind == (kind == "disabled" ? "none" : kind))
            walls = make_containment(plan, [](const StepKey&) { return ::getuid(); });
    }
    ~Walls() {
        if (!walls) return;
        eventually([this] {
            walls->kill_all(kKey);
            while (::waitpid(-1, nullptr, WNOHANG) > 0) {
            }
            return walls->pids(kKey).empty() && bool(walls->remove(kKey));
        });
        drop_spare_walls(plan);
        for (const auto& [controller, path] : plan.folders) {
            ::rmdir(path.c_str());
            ::rmdir(path.substr(0, path.rfind('/')).c_str());
        }
    }
    std::string reason() const {
        std::string text = "this machine offers " + plan.kind;
        for (const std::string& notice : plan.notices) text += "; " + notice;
        return text;
    }
    Result<pid_t> shell(const std::string& script, int output = -1) {
        ChildPlan child;
        child.argv = {"sh", "-c", script};
        child.environment = {"PATH=/usr/bin:/bin",
                             std::string(kStepMarker) + "=" + marker_of(plan.place, kKey)};
        child.programs = {"/bin/sh"};
        child.who = {::getuid(), ::getgid(), {}};
        child.std_out = child.std_err = output;
        SY_TRY(child.entrance, walls->entrance(kKey));
        return start_child(std::move(child));
    }

    Folder folder;
    ContainmentPlan plan;
    std::unique_ptr<Containment> walls;
};

class EveryKind : public testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        ::prctl(PR_SET_CHILD_SUBREAPER, 1);
        if (!place.walls) GTEST_SKIP() << place.reason();
        ASSERT_TRUE(place.walls->create(kKey, {}));
    }
    Walls place{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Containment, EveryKind,
                         testing::Values("cgroup/v1", "cgroup/v2", "disabled"),
                         [](const auto& info) {
                             std::string name = info.param;
                             std::erase(name, '/');
                             return name;
                         });

TEST_P(EveryKind, KillsADaemonisedGrandchildWithASessionOfItsOwn) {
    const std::string file = place.folder.path + "/pid";
    const auto shell =
        place.shell("(setsid sh -c 'echo $$ > " + file + "; exec sleep 1000' &) ; exit 0");
    ASSERT_TRUE(shell) << shell.error().message;
    ASSERT_EQ(::waitpid(*shell, nullptr, 0), *shell);
    ASSERT_TRUE(eventually([&] { return exists(file) && !read_file(file)->empty(); }));
    const pid_t daemon = std::atoi(read_file(file)->c_str());
    EXPECT_THAT(place.walls->pids(kKey), testing::Contains(daemon));

    EXPECT_TRUE(eventually([&] {
        place.walls->kill_all(kKey);
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        return place.walls->pids(kKey).empty();
    }));
    const auto left = read_process(daemon);  // Dead and not yet reaped is gone enough.
    EXPECT_FALSE(left && left->state != 'Z');
    EXPECT_TRUE(eventually([&] { return bool(place.walls->remove(kKey)); }));
    EXPECT_THAT(place.walls->existing(), IsEmpty());
}

TEST_P(EveryKind, AFrozenStepStandsStillUntilItIsThawed) {
    const std::string file = place.folder.path + "/count";
    const auto shell = place.shell("while :; do echo x >> " + file + "; sleep 0.01; done");
    ASSERT_TRUE(shell);
    ASSERT_TRUE(eventually([&] { return exists(file); }));
    ASSERT_TRUE(place.walls->set_frozen(kKey, true));
    // The write that was under way may still land; after that the size stays.
    std::size_t size = 0;
    ASSERT_TRUE(eventually([&] {
        const std::size_t now = read_file(file)->size();
        ::usleep(50000);
        size = read_file(file)->size();
        return size == now;
    }));
    ASSERT_TRUE(place.walls->set_frozen(kKey, false));
    EXPECT_TRUE(eventually([&] { return read_file(file)->size() > size; }));
}

TEST_P(EveryKind, SignalsReachEveryProcess) {
    const std::string file = place.folder.path + "/ready";
    const auto shell = place.shell("sleep 1000 & sleep 1000 & echo > " + file + "; wait");
    ASSERT_TRUE(shell);
    ASSERT_TRUE(eventually([&] { return exists(file) && place.walls->pids(kKey).size() == 3; }));
    place.walls->signal_all(kKey, SIGTERM);
    EXPECT_TRUE(eventually([&] {
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {
        }
        return place.walls->pids(kKey).empty();
    }));
}

TEST_P(EveryKind, AStepIsRemovedOnlyWhenEmptyAndTheJobWithItsLastStep) {
    if (place.plan.kind == "none") GTEST_SKIP() << "nothing to remove without cgroups";
    const StepKey other{kKey.job, kKey.attempt, StepId{1}};
    ASSERT_TRUE(place.walls->create(other, {}));
    const auto shell = place.shell("exec sleep 1000");
    ASSERT_TRUE(shell);
    EXPECT_FALSE(place.walls->remove(kKey));
    EXPECT_EQ(place.walls->existing(), (std::vector<StepKey>{kKey, other}));
    const auto first = place.walls->remove(other);
    ASSERT_TRUE(first);
    if (place.plan.kind == "cgroup/v2") EXPECT_FALSE(*first) << "the job still has a step";
    ::kill(*shell, SIGKILL);
    ::waitpid(*shell, nullptr, 0);
    const auto last = place.walls->remove(kKey);
    ASSERT_TRUE(last) << last.error().message;
    EXPECT_TRUE(*last);
}

TEST_P(EveryKind, AProcessThatMakesStepsOneAfterTheOtherHasEachToItself) {
    const StepKey next{JobId{8}, Attempt{0}, StepId{0}};
    ASSERT_TRUE(place.walls->remove(kKey));
    ASSERT_TRUE(place.walls->create(next, {}));
    EXPECT_THAT(place.walls->pids(kKey), IsEmpty());
    ASSERT_TRUE(place.walls->remove(next));
    EXPECT_THAT(place.walls->existing(), IsEmpty());
    ASSERT_TRUE(place.walls->create(kKey, {}));
    const auto shell = place.shell("exec sleep 1000");
    ASSERT_TRUE(shell);
    EXPECT_THAT(place.walls->pids(kKey), testing::ElementsAre(*shell));
}

TEST(CgroupV1, AStepThatWasFrozenLeavesNothingToTheNext) {
    Walls place("cgroup/v1");
    if (!place.walls) GTEST_SKIP() << place.reason();
    ASSERT_TRUE(place.walls->create(kKey, {}));
    ASSERT_TRUE(place.walls->set_frozen(kKey, true));
    ASSERT_TRUE(place.walls->remove(kKey));
    ASSERT_TRUE(place.walls->create(kKey, {}));
    const std::string file = place.folder.path + "/ran";
    const auto shell = place.shell("echo > " + file);
    ASSERT_TRUE(shell);
    EXPECT_TRUE(eventually([&] { return exists(file); }));
}

TEST(CgroupV1, AFolderWithAProcessInItIsNotKeptForTheNextStep) {
    Walls place("cgroup/v1");
    if (!place.walls) GTEST_SKIP() << place.reason();
    ASSERT_TRUE(place.walls->create(kKey, {}));
    ASSERT_TRUE(place.shell("exec sleep 1000"));
    const auto removed = place.walls->remove(kKey);
    ASSERT_FALSE(removed);
    EXPECT_EQ(removed.error().code, Errc::Busy);
    EXPECT_EQ(place.walls->existing(), std::vector<StepKey>{kKey});
}

// As it was before steps stood alone in the freezer: an agent that was replaced finds such a step.
TEST(CgroupV1, AStepInAFolderOfItsJobIsFoundAndRemoved) {
    Walls place("cgroup/v1");
    if (!place.walls) GTEST_SKIP() << place.reason();
    for (const auto& [controller, folder] : place.plan.folders) {
        if (controller != "freezer") continue;
        ASSERT_TRUE(make_folders(folder + "/job_7_0/step_0", 0755));
    }
    EXPECT_EQ(place.walls->existing(), std::vector<StepKey>{kKey});
    EXPECT_TRUE(place.walls->remove(kKey));
    EXPECT_THAT(place.walls->existing(), IsEmpty());
}

TEST_P(EveryKind, AStepIsOverWithTheLastOfWhatItsTaskStarted) {
    EXPECT_THAT(place.walls->pids(kKey), IsEmpty());
    // The task is gone, what the task started is not.
    const auto shell = place.shell("(setsid sleep 1000 &); exit 0");
    ASSERT_TRUE(shell);
    ASSERT_EQ(::waitpid(*shell, nullptr, 0), *shell);
    EXPECT_TRUE(eventually([&] { return place.walls->pids(kKey).size() == 1; }));
}

TEST_P(EveryKind, ADeniedDeviceCannotBeOpenedAndOthersCan) {
    bool controlled = false;
    for (const auto& [controller, path] : place.plan.folders) {
        controlled = controlled || controller == "devices";
    }
    if (!controlled) GTEST_SKIP() << place.reason();
    StepLimits limits;
    limits.denied_devices.push_back(*device_of("/dev/zero"));
    limits.denied_devices.push_back({'b', 1, 5});  // The numbers of /dev/zero, but a block device.
    ASSERT_TRUE(place.walls->create(kKey, limits));
    const auto zero = place.shell("exec 3< /dev/zero");
    int status = 0;
    ASSERT_EQ(::waitpid(*zero, &status, 0), *zero);
    EXPECT_NE(status, 0);
    const auto full = place.shell("exec 3< /dev/full 4< /dev/urandom");
    ASSERT_EQ(::waitpid(*full, &status, 0), *full);
    EXPECT_EQ(status, 0);
}

TEST(DeviceFilter, NamesNothingMeansAllowsEverything) {
    // Three loads, one mask, an answer of two instructions; five more for each denied device.
    EXPECT_EQ(device_program({}).size(), 6u);
    EXPECT_EQ(device_program({{'c', 195, 0}, {'c', 195, 1}}).size(), 16u);
}

TEST(CgroupV1, AStepThatPassesItsMemoryLimitIsKilledAndCounted) {
    Walls place("cgroup/v1");
    if (!place.walls) GTEST_SKIP() << place.reason();
    if (!place.walls->limits_memory()) GTEST_SKIP() << "no memory controller";
    StepLimits limits;
    limits.job_memory = 32u << 20;
    ASSERT_TRUE(place.walls->create(kKey, limits));
    const auto shell = place.shell("tail /dev/zero");
    ASSERT_TRUE(shell);
    int status = 0;
    ASSERT_EQ(::waitpid(*shell, &status, 0), *shell);
    EXPECT_NE(status, 0);
    EXPECT_GE(place.walls->oom_kills(kKey), 1u);
    EXPECT_GT(place.walls->memory_use(kKey).peak_bytes, 16u << 20);
}

TEST(CgroupV1, AStepRunsOnItsCoresOnly) {
    Walls place("cgroup/v1");
    if (!place.walls) GTEST_SKIP() << place.reason();
    if (!place.walls->pins_cores()) GTEST_SKIP() << "no cpuset controller";
    StepLimits limits;
    limits.job_cpus.insert(0);
    ASSERT_TRUE(place.walls->create(kKey, limits));
    const auto shell = place.shell("exec sleep 1000");
    ASSERT_TRUE(shell);
    cpu_set_t set;
    ASSERT_TRUE(eventually([&] {
        return ::sched_getaffinity(*shell, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1;
    }));
    EXPECT_TRUE(CPU_ISSET(0, &set));
}

TEST(Child, PinsItsCpusByAffinityWhereThereIsNoCpuset) {
    ChildPlan plan;
    plan.argv = {"sleep", "1000"};
    plan.programs = {"/bin/sleep"};
    plan.who = {::getuid(), ::getgid(), {}};
    plan.cpus.insert(0);
    const auto child = start_child(plan);
    ASSERT_TRUE(child);
    cpu_set_t set;
    ASSERT_EQ(::sched_getaffinity(*child, sizeof set, &set), 0);
    EXPECT_EQ(CPU_COUNT(&set), 1);
    EXPECT_TRUE(CPU_ISSET(0, &set));
    ::kill(*child, SIGKILL);
    ::waitpid(*child, nullptr, 0);
}

// Runs a plan to its end and returns its output and its exit code.
struct Ran {
    std::string output;
    int code = -1;
};
Ran run(ChildPlan plan) {
    const Folder folder;
    const std::string path = folder.path + "/out";
    const io::Fd out(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (plan.who.uid == 0) plan.who = {::getuid(), ::getgid(), {}};
    plan.std_out = plan.std_err = out.get();
    const auto child = start_child(std::move(plan));
    int status = 0;
    if (!child || ::waitpid(*child, &status, 0) != *child) return {};
    return {*read_file(path), WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status)};
}

TEST(Child, AProgramThatIsNotThereSaysSoAndExitsWithTheErrorNumber) {
    ChildPlan plan;
    plan.argv = {"nosuchcommand"};
    plan.programs = program_candidates("nosuchcommand", {"PATH=/bin:/usr/bin"}, "/tmp");
    const Ran ran = run(plan);
    EXPECT_EQ(ran.code, ENOENT);
    EXPECT_THAT(ran.output, testing::ContainsRegex(
                                "^\\[[0-9T:.-]+\\] error: execve\\(\\): nosuchcommand: No such "
                                "file or directory\n$"));
}

TEST(Child, AFileThatMayNotBeExecutedIsNamedWithItsFullPath) {
    const Folder folder;
    ASSERT_TRUE(write_new_file(folder.path + "/job.sh", "#!/bin/sh\n", 0644));
    ChildPlan plan;
    plan.argv = {"./job.sh"};
    plan.programs = program_candidates("./job.sh", {}, folder.path);
    const Ran ran = run(plan);
    EXPECT_EQ(ran.code, EACCES);
    EXPECT_THAT(ran.output,
                HasSubstr("error: execve(): " + folder.path + "/./job.sh: Permission denied\n"));
}

TEST(Child, AMissingInterpreterIsNamed) {
    const Folder folder;
    ASSERT_TRUE(write_new_file(folder.path + "/job.sh", "#!/no/such/shell -e\n", 0755));
    ChildPlan plan;
    plan.argv = {"job.sh"};
    plan.programs = {folder.path + "/job.sh"};
    EXPECT_THAT(run(plan).output,
                HasSubstr("execve(): bad interpreter(/no/such/shell): No such file"));
}

TEST(Child, AMissingFolderFallsBackToTmpWithAMessage) {
    ChildPlan plan;
    plan.argv = {"pwd"};
    plan.programs = {"/bin/pwd"};
    plan.work_dir = "/nonexistent";
    const Ran ran = run(plan);
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.output, HasSubstr("error: couldn't chdir to `/nonexistent': No such file or "
                                      "directory: going to /tmp instead\n/tmp\n"));
}

TEST(Child, KnowsItsOwnProcessIdLimitsAndUmask) {
    ChildPlan plan;
    plan.argv = {"sh", "-c", "test $$ = $SLURM_TASK_PID && ulimit -n && umask"};
    plan.programs = {"/bin/sh"};
    plan.pid_variable = "SLURM_TASK_PID";
    plan.umask = 0027;
    plan.limits = {{RLIMIT_NOFILE, 77, 78}};
    EXPECT_EQ(run(plan).output, "77\n0027\n");
}

TEST(Child, RunsAsTheUserWithTheGroupsGiven) {
    if (::getuid() != 0) GTEST_SKIP() << "needs root";
    ChildPlan plan;
    plan.argv = {"id"};
    plan.programs = {"/usr/bin/id"};
    plan.who = {54321, 54322, {54322, 54323}};
    plan.work_dir = "/";
    const Folder folder;
    EXPECT_THAT(run(plan).output, testing::ContainsRegex("uid=54321 gid=54322 groups=54322,54323"));
}

TEST(Child, AUserHasNoMoreThanTheNodesOwnLimits) {
    if (::getuid() != 0) GTEST_SKIP() << "needs root";
    rlimit own{}, nice{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &own), 0);
    ASSERT_EQ(::getrlimit(RLIMIT_NICE, &nice), 0);
    ChildPlan plan;
    plan.argv = {"sh", "-c", "ulimit -H -n; ulimit -S -n; ulimit -e"};
    plan.programs = {"/bin/bash"};
    plan.who = {54321, 54321, {54321}};
    plan.work_dir = "/";
    plan.limits = {
        {RLIMIT_NOFILE, own.rlim_max + 1, own.rlim_max + 1}, {RLIMIT_NICE, 40, 40}, {4711, 1, 1}};
    EXPECT_EQ(run(plan).output, fmt::format("{0}\n{0}\n{1}\n", own.rlim_max, nice.rlim_cur));
}

TEST(Users, FilesOpenedForAUserNeedTheUsersRights) {
    if (::getuid() != 0) GTEST_SKIP() << "needs root";
    const Folder folder;  // Mode 0700, ours.
    const std::string path = folder.path + "/x";
    {
        const ActingAs user({54321, 54322, {54322}});
        ASSERT_TRUE(user.ok());
        EXPECT_LT(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600), 0);
        EXPECT_EQ(errno, EACCES);
    }
    EXPECT_TRUE(write_new_file(path, "root again", 0600));
}

TEST(Users, RootIsFoundByNameAndNumber) {
    ASSERT_TRUE(find_user(uid_t{0}));
    EXPECT_EQ(find_user(uid_t{0})->name, "root");
    EXPECT_EQ(find_user(std::string("root"))->uid, 0u);
    EXPECT_FALSE(find_user(std::string("no-such-user")));
    EXPECT_THAT(groups_of("root", 0), testing::Contains(gid_t{0}));
}

TEST(Topology, CountsWhatTheKernelCounts) {
    const auto found = find_topology();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->cpus(), static_cast<std::uint32_t>(::sysconf(_SC_NPROCESSORS_ONLN)));
    EXPECT_EQ(found->cores(), found->core_cpus.size());
    EXPECT_GT(found->memory.value, 0u);
    EXPECT_EQ(cpus_of_cores(found->core_cpus, model::IndexSet::range(0, 0)), found->core_cpus[0]);
    EXPECT_TRUE(cpus_of_cores(found->core_cpus, model::IndexSet::range(0, 5000)).empty());
}

TEST(Spawn, ClosesWhatIsNotHandedOver) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);  // Not close-on-exec, on purpose.
    SpawnRequest request;
    request.path = "/bin/sh";
    request.argv = {"sh", "-c", "ls /proc/self/fd | tr '\\n' ' ' >&3"};
    request.environment = {"PATH=/usr/bin:/bin"};
    request.descriptors = {{ends[1], 3}};
    const auto pid = spawn(request);
    ASSERT_TRUE(pid);
    int status = -1;
    ASSERT_EQ(::waitpid(*pid, &status, 0), *pid);
    ::close(ends[1]);
    char text[128] = {};
    ASSERT_GT(::read(ends[0], text, sizeof text - 1), 0);
    ::close(ends[0]);
    // 0 1 2 3, and the one with which ls reads the folder.
    EXPECT_THAT(std::string(text), testing::StartsWith("0 1 2 3 "));
    EXPECT_LE(std::string(text).size(), std::string("0 1 2 3 4 5 ").size());
}

TEST(Daemon, APidFileIsNoLinkToAnother) {
    const Folder folder;
    const std::string victim = folder.path + "/victim";
    ASSERT_TRUE(write_new_file(victim, "kept", 0600));
    ASSERT_EQ(::symlink(victim.c_str(), (folder.path + "/pid").c_str()), 0);
    EXPECT_FALSE(lock_pid_file(folder.path + "/pid"));
    EXPECT_EQ(*read_file(victim), "kept");
}

TEST(Daemon, APidFileHasOneHolder) {
    const Folder folder;
    const auto first = lock_pid_file(folder.path + "/pid");
    ASSERT_TRUE(first);
    const auto second = lock_pid_file(folder.path + "/pid");
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::Busy);
    EXPECT_THAT(second.error().message, HasSubstr(std::to_string(::getpid())));
}

TEST(Pty, HasTheSizeItWasGiven) {
    const auto pty = open_pty(33, 111);
    if (!pty) GTEST_SKIP() << pty.error().message;
    ChildPlan plan;
    plan.argv = {"stty", "size"};
    plan.programs = {"/bin/stty", "/usr/bin/stty"};
    plan.who = {::getuid(), ::getgid(), {}};
    plan.std_in = plan.std_out = plan.std_err = pty->slave.get();
    plan.terminal = true;
    const auto child = start_child(plan);
    ASSERT_TRUE(child);
    ::waitpid(*child, nullptr, 0);
    char text[64] = {};
    ASSERT_GT(::read(pty->master.get(), text, sizeof text - 1), 0);
    EXPECT_STREQ(text, "33 111\r\n");
}

TEST(Processes, DescendantsAreFoundThroughGenerations) {
    const std::vector<Process> all = {{.pid = 2, .parent = 1},
                                      {.pid = 3, .parent = 2},
                                      {.pid = 4, .parent = 3},
                                      {.pid = 5, .parent = 1},
                                      {.pid = 6, .parent = 2, .state = 'Z'}};
    EXPECT_THAT(descendants(all, 2), testing::UnorderedElementsAre(3, 4));
}

TEST(Processes, WhatADeadProcessWroteIsKnownUntilItIsWaitedFor) {
    const pid_t child = ::fork();
    if (child == 0) {
        const int nothing = ::open("/dev/null", O_WRONLY);
        ::_exit(::write(nothing, "0123456789", 10) == 10 ? 0 : 1);
    }
    siginfo_t dead{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &dead, WEXITED | WNOWAIT), 0);
    const auto io = read_io(child);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    if (!io) GTEST_SKIP() << "/proc does not tell what a process read and wrote";
    EXPECT_EQ(io->written, 10u);
    EXPECT_FALSE(read_io(child));
}

// Goal: whoever plants the marker of another's job is neither counted nor killed with it.
TEST(Containment, AMarkerCountsInProcessesOfTheJobsOwnUserOnly) {
    if (::getuid() != 0) GTEST_SKIP() << "needs root to be two users";
    constexpr uid_t kOwner = 2001, kOther = 2003;
    ContainmentPlan plan;
    plan.place = "marker-test/n1";
    // As an agent looks for what a dead stepd left: it descends from nobody there.
    const auto walls = make_containment(plan, [](const StepKey&) { return kOwner; });
    const auto start = [&](uid_t uid) -> pid_t {
        ChildPlan child;
        child.argv = {"sleep", "1000"};
        child.programs = {"/bin/sleep"};
        child.environment = {std::string(kStepMarker) + "=" + marker_of(plan.place, kKey)};
        child.who = {uid, uid, {}};
        const auto started = start_child(std::move(child));
        return started ? *started : -1;
    };
    const pid_t own = start(kOwner), planted = start(kOther);
    EXPECT_TRUE(eventually([&] { return !walls->pids(kKey).empty(); }));
    const std::string marker = std::string(kStepMarker) + "=" + marker_of(plan.place, kKey);
    EXPECT_TRUE(eventually([&] { return has_environment(planted, kOther, marker); }));
    EXPECT_THAT(walls->pids(kKey), testing::ElementsAre(own));
    walls->kill_all(kKey);
    int status = 0;
    EXPECT_EQ(::waitpid(own, &status, 0), own);
    EXPECT_EQ(read_process(planted)->state, 'S');
    EXPECT_EQ(::waitpid(planted, &status, WNOHANG), 0);
    ::kill(planted, SIGKILL);
    ::waitpid(planted, &status, 0);
}

TEST(Processes, ASignalReachesTheProcessThatWasSeenAndNoOtherOfItsNumber) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(::pause());
    auto seen = read_process(child);
    ASSERT_TRUE(seen);
    EXPECT_GT(seen->started, 0u);
    Process earlier = *seen;
    --earlier.started;
    signal_process(earlier, SIGKILL);
    ::usleep(10'000);
    EXPECT_EQ(::waitpid(child, nullptr, WNOHANG), 0);
    signal_process(*seen, SIGKILL);
    EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST(Containment, PlacesOfTwoClustersOfOneNameDiffer) {
    EXPECT_NE(place_of("c", "n1", "/a"), place_of("c", "n1", "/b"));
    EXPECT_EQ(parse_folders("job_12_3", "step_4294967291"),
              (StepKey{JobId{12}, Attempt{3}, kBatchStep}));
    EXPECT_FALSE(parse_folders("job_12", "step_0"));
    EXPECT_FALSE(parse_folders("job_12_3", "step_x"));
}

}  // namespace
}  // namespace switchyard::os
