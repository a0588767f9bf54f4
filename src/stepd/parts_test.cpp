// parts_test.cpp: the pure parts of stepd: bindings, host names, messages, socket
// names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stepd/binding.hpp"
#include "stepd/hosts.hpp"
#include "stepd/launch.hpp"
#include "stepd/stepd.hpp"
#include "stepd/task_scripts.hpp"

namespace switchyard::stepd {
namespace {

using model::IndexSet;

// `count` cores of two hardware threads: core i has cpus i and i + count.
std::vector<IndexSet> cores(std::uint32_t count) {
    std::vector<IndexSet> out(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        out[i].insert(i);
        out[i].insert(i + count);
    }
    return out;
}

std::vector<std::string> bound(BindRequest request) {
    const auto binding = bind_tasks(request);
    std::vector<std::string> out;
    if (!binding) return {binding.error().message};
    for (const IndexSet& set : binding->tasks) out.push_back(to_string(set));
    return out;
}

TEST(Binding, EvenSharesAreBoundByThemselves) {
    EXPECT_EQ(bound({cores(4), 2, 1, ""}), (std::vector<std::string>{"0-1,4-5", "2-3,6-7"}));
    EXPECT_EQ(bound({cores(4), 3, 1, ""}), (std::vector<std::string>{"", "", ""}));
    EXPECT_EQ(bound({cores(4), 2, 1, "none"}), (std::vector<std::string>{"", ""}));
    EXPECT_EQ(bound({{}, 2, 1, ""}), (std::vector<std::string>{"", ""}));
}

TEST(Binding, WishesAreFollowedWithinTheStepsOwnCpus) {
    EXPECT_EQ(bound({cores(4), 2, 4, "cores"}), (std::vector<std::string>{"0-1,4-5", "2-3,6-7"}));
    EXPECT_EQ(bound({cores(4), 3, 1, "verbose,map_cpu:1,2"}),
              (std::vector<std::string>{"1", "2", "1"}));
    EXPECT_EQ(bound({cores(4), 2, 1, "q,mask_cpu:0x3,0x110"}),
              (std::vector<std::string>{"0-1", "4"}));
    EXPECT_EQ(bound({cores(4), 1, 1, "map_cpu:x"}),
              (std::vector<std::string>{"bad list in --cpu-bind"}));
    EXPECT_TRUE(bind_tasks({cores(2), 1, 1, "verbose"})->verbose);
}

// Four cores of one thread: two in each socket, and each its own memory domain.
BindRequest two_sockets(std::uint32_t tasks, std::string wish, std::string distribution = {}) {
    BindRequest request{{}, tasks, 1, std::move(wish)};
    for (std::uint32_t i = 0; i < 4; ++i) request.cores.emplace_back().insert(i);
    request.sockets = {0, 0, 1, 1};
    request.ldoms = {0, 1, 2, 3};
    request.distribution = std::move(distribution);
    return request;
}

TEST(Binding, TasksGoToSocketsAndDomains) {
    using Sets = std::vector<std::string>;
    EXPECT_EQ(bound(two_sockets(2, "sockets")), (Sets{"0-1", "0-1"}));
    EXPECT_EQ(bound(two_sockets(2, "sockets", "cyclic")), (Sets{"0-1", "2-3"}));
    EXPECT_EQ(bound(two_sockets(3, "ldoms")), (Sets{"0", "1", "2"}));
    EXPECT_EQ(bound(two_sockets(2, "quiet,cores,none")), (Sets{"", ""}));
    EXPECT_EQ(bound(two_sockets(5, "rank_ldom")), (Sets{"0", "1", "2", "3", "0"}));
    EXPECT_EQ(bound(two_sockets(2, "map_ldom:3,1")), (Sets{"3", "1"}));
    EXPECT_EQ(bound(two_sockets(2, "mask_ldom=0x3,0xc")), (Sets{"0-1", "2-3"}));
    EXPECT_EQ(bound(two_sockets(1, "map_ldom:x")), (Sets{"bad list in --cpu-bind"}));
}

TEST(Binding, TheSecondPartOfADistributionDealsOverSockets) {
    using Sets = std::vector<std::string>;
    EXPECT_EQ(bound(two_sockets(4, "cores")), (Sets{"0", "1", "2", "3"}));
    EXPECT_EQ(bound(two_sockets(4, "cores", "cyclic")), (Sets{"0", "2", "1", "3"}));
    EXPECT_EQ(bound(two_sockets(2, "", "cyclic")), (Sets{"0-1", "2-3"}));
    EXPECT_EQ(bound(two_sockets(2, "", "fcyclic")), (Sets{"0,2", "1,3"}));
    EXPECT_EQ(bound({cores(2), 4, 1, "threads"}), (Sets{"0", "1", "2", "3"}));
}

TEST(MemoryBinding, EveryFormIsUnderstood) {
    using Policy = MemoryBinding::Policy;
    EXPECT_EQ(bind_memory("", 2)->at(1).policy, Policy::Inherited);
    EXPECT_EQ(bind_memory("none", 1)->at(0).policy, Policy::Inherited);
    EXPECT_EQ(bind_memory("verbose,local", 1)->at(0).policy, Policy::Local);
    EXPECT_TRUE(bind_memory("verbose,local", 1)->at(0).verbose);
    const auto ranks = *bind_memory("rank", 3);
    EXPECT_EQ(ranks[2].policy, Policy::Bound);
    EXPECT_EQ(to_string(ranks[2].domains), "2");
    const auto masks = *bind_memory("prefer,mask_mem:0x3,4", 3);
    EXPECT_EQ(masks[0].policy, Policy::Preferred);
    EXPECT_EQ(to_string(masks[0].domains), "0-1");
    EXPECT_EQ(to_string(masks[1].domains), "2");
    EXPECT_EQ(to_string(masks[2].domains), "0-1");
    EXPECT_FALSE(bind_memory("map_mem:x", 1));
    EXPECT_EQ(memory_line("n1", 3, 1, masks[0]), "mem-bind=MASK - n1, task  3  1: mask 0x3 set\n");
}

TEST(Hosts, OnlyWhatIsMissingAndKnownIsAdded) {
    const std::string present = "127.0.0.1\tlocalhost\n10.0.0.1 n1 n1.cluster # n2";
    EXPECT_FALSE(extended_hosts(present, {{"n1", "10.0.0.9"}}, true));
    EXPECT_EQ(extended_hosts(present, {{"n1", ""}, {"n2", "10.0.0.2"}}, false),
              present + "\n10.0.0.2 n2\n");
    EXPECT_FALSE(extended_hosts(present, {{"n2", "n2"}}, false))
        << "left to the site's name service";
    EXPECT_EQ(extended_hosts(present, {{"n2", "vm"}}, true), present + "\n127.0.0.1 n2\n");
    EXPECT_EQ(extended_hosts("", {{"n2", "fd00::2"}}, false), "fd00::2 n2\n");
    EXPECT_FALSE(extended_hosts("", {{"n2", "127.0.0.1"}}, false)) << "a real node's own name";
}

TEST(Messages, AreSlurms) {
    const Instant at = from_unix_seconds(0);
    const StepKey batch{JobId{53}, Attempt{0}, kBatchStep}, step{JobId{54}, Attempt{0}, StepId{0}};
    const auto has = [&](const StepKey& key, model::EndCause cause, bool at_once) {
        return end_message(key, "n1", cause, at_once, at);
    };
    using testing::EndsWith;
    using testing::StartsWith;
    EXPECT_THAT(has(batch, model::EndCause::TimeLimit, false),
                StartsWith("*** JOB 53 ON n1 CANCELLED AT "));
    EXPECT_THAT(has(batch, model::EndCause::TimeLimit, false), EndsWith(" DUE TO TIME LIMIT ***"));
    EXPECT_THAT(has(step, model::EndCause::Cancelled, false),
                StartsWith("*** STEP 54.0 ON n1 CANCELLED AT "));
    EXPECT_THAT(has(step, model::EndCause::Cancelled, false),
                EndsWith(" DUE to SIGNAL Terminated ***"));
    EXPECT_THAT(has(step, model::EndCause::Cancelled, true), EndsWith(" DUE to SIGNAL Killed ***"));
    EXPECT_THAT(has(step, model::EndCause::TaskFailed, false),
                EndsWith(" DUE TO TASK FAILURE ***"));
    EXPECT_EQ(has(step, model::EndCause::Finished, false), "");
}

TEST(TaskProlog, ChangesTheEnvironmentAndPrints) {
    std::vector<std::string> env = {"A=1", "B=2"};
    EXPECT_EQ(apply_task_prolog(
                  "export A=x y\nunset B\nprint hello you\nnoise\nexport C\nexport D=\n", env),
              "hello you\n");
    EXPECT_EQ(env, (std::vector<std::string>{"A=x y", "D="}));
}

TEST(SocketNames, NameTheStepAndNothingElseIsTakenForOne) {
    const StepKey key{JobId{12}, Attempt{3}, kBatchStep};
    EXPECT_EQ(socket_name({key, 2001}), "12.4294967291.3.2001.sock");
    EXPECT_EQ(parse_socket_name("12.4294967291.3.2001.sock"), (StepSocket{key, 2001}));
    for (const char* other :
         {"", "12.0.sock", "a.0.0.sock", "1.2.3.sock.x", "1.2.99999999999.sock", "pid"}) {
        EXPECT_FALSE(parse_socket_name(other)) << other;
    }
}

}  // namespace
}  // namespace switchyard::stepd
