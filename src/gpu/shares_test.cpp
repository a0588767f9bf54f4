// Goal: the level of protection is what it says, never silently less; files and variables for the
// guard are right; a step is refused exactly the cards it was not granted.
#include "gpu/shares.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "gpu/device_access.hpp"

namespace switchyard::gpu {
namespace {

constexpr ShareMeans kAll{.dmem = false, .mps = true, .guard = true};

model::GresInventory two_cards() {
    model::GresInventory cards;
    cards.name = "gpu";
    cards.count = 2;
    cards.devices = model::IndexSet::range(0, 1);
    cards.files = {"/dev/nvidia0", "/dev/nvidia1"};
    cards.device_names = {"GPU-a", "GPU-b"};
    return cards;
}

model::GresInventory shards(const std::string& protection) {
    model::GresInventory shard;
    shard.name = "shard";
    shard.count = 128;
    shard.devices = model::IndexSet::range(0, 1);
    shard.protection = protection;
    return shard;
}

std::vector<model::GresGrant> cards(const std::vector<std::uint32_t>& numbers) {
    model::GresGrant grant;
    grant.name = "gpu";
    for (const std::uint32_t number : numbers) grant.devices.insert(number);
    return {grant};
}

TEST(Shares, the_guard_is_used_unless_something_else_is_chosen) {
    EXPECT_EQ(choose_level("", kAll).level, "guard");
    EXPECT_EQ(choose_level("guard", kAll).level, "guard");
    EXPECT_EQ(choose_level("strict", kAll).level, "guard+strict");
    EXPECT_EQ(choose_level("guard+strict", kAll).level, "guard+strict");
    EXPECT_EQ(choose_level("mps", kAll).level, "mps");
    EXPECT_EQ(choose_level("", kAll).notice, "");
}

TEST(Shares, less_than_was_wanted_is_said) {
    const ShareChoice no_mps = choose_level("mps", {.guard = true});
    EXPECT_EQ(no_mps.level, "guard");
    EXPECT_NE(no_mps.notice.find("mps-control"), std::string::npos);
    EXPECT_EQ(choose_level("", {}).level, "none");
    EXPECT_NE(choose_level("", {}).notice, "");
    EXPECT_EQ(choose_level("none", kAll).level, "none");
    EXPECT_NE(choose_level("none", kAll).notice, "");
    EXPECT_EQ(choose_level("dmem", kAll).level, "guard");
    EXPECT_NE(choose_level("dmem", kAll).notice, "");
}

TEST(Shares, limits_of_the_driver_come_before_the_guard_unless_something_else_is_chosen) {
    constexpr ShareMeans kDriver{.dmem = true, .mps = true, .guard = true};
    EXPECT_EQ(choose_level("", kDriver).level, "dmem");
    EXPECT_EQ(choose_level("strict", kDriver).level, "dmem+strict");
    EXPECT_EQ(choose_level("dmem", kDriver).notice, "");
    EXPECT_EQ(choose_level("guard", kDriver).level, "guard");
    EXPECT_EQ(choose_level("mps", kDriver).level, "mps");
    EXPECT_EQ(choose_level("none", kDriver).level, "none");
}

TEST(Shares, the_library_is_inside_this_program) {
    ASSERT_GT(guard_image().size(), 10'000u);
    EXPECT_EQ(static_cast<char>(guard_image()[1]), 'E');
    EXPECT_EQ(static_cast<char>(guard_image()[2]), 'L');
}

TEST(Shares, the_guards_files_are_made_and_a_ledger_goes_with_its_job) {
    char name[] = "/tmp/sy_shares_XXXXXX";
    const std::string folder = std::string(::mkdtemp(name)) + "/guard";
    ASSERT_TRUE(prepare_guard(folder));
    ASSERT_TRUE(prepare_guard(folder));  // Again, at every start of the agent.
    EXPECT_EQ(std::filesystem::file_size(guard_library(folder)), guard_image().size());
    struct stat facts{};
    const GuardedStep step{{JobId{7}, Attempt{1}, StepId{3}}, 65534, 65534};
    ASSERT_TRUE(make_ledger(folder, step));
    // Of a stepd that was killed, and of another job.
    for (const char* file : {"/job_7_1.3.card0.turns", "/job_7_10.ledger"})
        std::ofstream(folder + file);
    ASSERT_EQ(::stat((folder + "/job_7_1.ledger").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0600u);
    if (::geteuid() == 0) EXPECT_EQ(facts.st_uid, 65534u);
    EXPECT_EQ(turns_socket(folder, step.key, 0), folder + "/job_7_1.3.card0.turns");
    remove_files_of(folder, step.key.job, step.key.attempt);
    EXPECT_NE(::stat((folder + "/job_7_1.ledger").c_str(), &facts), 0);
    EXPECT_NE(::stat((folder + "/job_7_1.3.card0.turns").c_str(), &facts), 0);
    EXPECT_EQ(::stat((folder + "/job_7_10.ledger").c_str(), &facts), 0);
    std::filesystem::remove_all(name);
}

TEST(Shares, a_folder_of_somebody_else_and_a_link_are_moved_away) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    char name[] = "/tmp/sy_shares_XXXXXX";
    const std::string above = ::mkdtemp(name), folder = above + "/guard";
    const auto is_ours = [&] {
        struct stat facts{};
        return ::lstat(folder.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == 0;
    };
    ASSERT_EQ(::mkdir(folder.c_str(), 0777), 0);
    ASSERT_EQ(::chown(folder.c_str(), 65534, 65534), 0);
    EXPECT_TRUE(prepare_guard(folder));
    EXPECT_TRUE(is_ours());
    std::filesystem::remove_all(folder);
    // What a link leads to is not touched.
    const std::string target = above + "/target";
    ASSERT_EQ(::mkdir(target.c_str(), 0755), 0);
    ASSERT_EQ(::symlink(target.c_str(), folder.c_str()), 0);
    EXPECT_TRUE(prepare_guard(folder));
    EXPECT_TRUE(is_ours());
    EXPECT_TRUE(std::filesystem::is_empty(target));
    std::filesystem::remove_all(above);
}

TEST(Shares, the_variable_names_each_card_with_its_share) {
    model::GresGrant grant;
    grant.name = "shard";
    grant.count = 24;
    grant.shares = {{0, 8}, {1, 16}};
    const GuardedStep step{{JobId{7}, Attempt{0}, StepId{3}}, 0, 0};
    EXPECT_EQ(guard_variable("/x", step, grant, shards("guard"), {two_cards()}),
              "job=7;ledger=/x/job_7_0.ledger;card=GPU-a,8,64,/x/job_7_0.3.card0.turns;"
              "card=GPU-b,16,64,/x/job_7_0.3.card1.turns");
    EXPECT_EQ(guard_variable("/x", step, grant, shards("guard+strict"), {}),
              "job=7;ledger=/x/job_7_0.ledger;strict;card=*,8,64,/x/job_7_0.3.card0.turns;"
              "card=*,16,64,/x/job_7_0.3.card1.turns");
    // Where the driver keeps the limit, the guard keeps the same one, whatever the driver tells.
    model::GresInventory sized = two_cards();
    sized.device_memory = {8192, 8192};
    EXPECT_EQ(guard_variable("/x", step, grant, shards("dmem"), {sized}),
              "job=7;ledger=/x/job_7_0.ledger;card=GPU-a,8,64,/x/job_7_0.3.card0.turns,1073741824;"
              "card=GPU-b,16,64,/x/job_7_0.3.card1.turns,2147483648");
}

TEST(Shares, a_share_in_percent_is_never_nothing) {
    EXPECT_EQ(share_percent(16, 64), 25u);
    EXPECT_EQ(share_percent(1, 200), 1u);
    EXPECT_EQ(share_percent(64, 64), 100u);
}

TEST(DeviceAccess, every_card_that_was_not_granted_is_refused) {
    const std::vector<std::string> present{"/dev/nvidia0", "/dev/nvidia1", "/dev/nvidia2"};
    const std::vector<model::GresInventory> node{two_cards(), shards("guard")};
    EXPECT_EQ(denied_files(node, cards({1}), present),
              (std::vector<std::string>{"/dev/nvidia0", "/dev/nvidia2"}));
    EXPECT_EQ(denied_files(node, {}, present), present);
    EXPECT_TRUE(denied_files(node, cards({0, 1}), {"/dev/nvidia0", "/dev/nvidia1"}).empty());
}

TEST(DeviceAccess, a_node_that_hands_out_no_cards_refuses_none) {
    EXPECT_TRUE(denied_files({}, {}, {"/dev/nvidia0"}).empty());
    model::GresInventory counted = two_cards();
    counted.files.clear();
    EXPECT_TRUE(denied_files({counted}, {}, {"/dev/nvidia0"}).empty());
}

TEST(DeviceAccess, a_slice_has_its_card_and_its_own_capabilities) {
    model::GresInventory slices = two_cards();
    slices.files = {"/dev/nvidia0,/dev/nvidia-caps/nvidia-cap30,/dev/nvidia-caps/nvidia-cap31",
                    "/dev/nvidia0,/dev/nvidia-caps/nvidia-cap39,/dev/nvidia-caps/nvidia-cap40"};
    EXPECT_EQ(denied_files({slices}, cards({0}), {"/dev/nvidia0"}),
              (std::vector<std::string>{"/dev/nvidia-caps/nvidia-cap39",
                                        "/dev/nvidia-caps/nvidia-cap40"}));
}

TEST(DeviceAccess, devices_of_other_kinds_are_refused_too) {
    model::GresInventory nic;
    nic.name = "nic";
    nic.count = 1;
    nic.devices = model::IndexSet::range(0, 0);
    nic.files = {"/dev/nic0"};
    EXPECT_EQ(denied_files({nic}, cards({0}), {}), (std::vector<std::string>{"/dev/nic0"}));
    model::GresGrant own;
    own.name = "nic";
    own.devices.insert(0);
    EXPECT_TRUE(denied_files({nic}, {own}, {}).empty());
}

TEST(DeviceAccess, a_share_opens_its_card) {
    model::GresGrant share;
    share.name = "shard";
    share.shares = {{1, 16}};
    EXPECT_EQ(denied_files({two_cards(), shards("guard")}, {share}, {}),
              (std::vector<std::string>{"/dev/nvidia0"}));
}

}  // namespace
}  // namespace switchyard::gpu
