#include "model/rights.hpp"

#include <gtest/gtest.h>

namespace switchyard::model {
namespace {

constexpr std::uint32_t kSlurmUser = 64030, kAlice = 1000, kBob = 1001;

Rights of(std::uint32_t uid, std::vector<std::string> groups = {}) {
    return Rights::of(Caller{.uid = uid, .gid = uid, .groups = std::move(groups)}, kSlurmUser);
}

TEST(Rights, RootAndSlurmUserAdminister) {
    for (const std::uint32_t uid : {0u, kSlurmUser}) {
        EXPECT_TRUE(of(uid).may_administer());
        EXPECT_TRUE(of(uid).may_see_hidden_partitions());
        EXPECT_TRUE(of(uid).may_change_all_jobs());
        EXPECT_TRUE(of(uid).may_use_all_reservations());
        EXPECT_TRUE(of(uid).may_raise_priority());
        EXPECT_TRUE(of(uid).may_extend_limits());
        EXPECT_TRUE(of(uid).may_set_admin_fields());
        EXPECT_TRUE(of(uid).may_hold_as_admin());
        EXPECT_TRUE(of(uid).may_requeue_unwilling());
    }
}

TEST(Rights, AUserAdministersNothing) {
    EXPECT_FALSE(of(kAlice).may_administer());
    EXPECT_FALSE(of(kAlice).may_see_hidden_partitions());
    EXPECT_FALSE(of(kAlice).may_change_all_jobs());
    EXPECT_FALSE(of(kAlice).may_use_all_reservations());
    EXPECT_FALSE(of(kAlice).may_raise_priority());
    EXPECT_FALSE(of(kAlice).may_extend_limits());
    EXPECT_FALSE(of(kAlice).may_set_admin_fields());
    EXPECT_FALSE(of(kAlice).may_hold_as_admin());
    EXPECT_FALSE(of(kAlice).may_requeue_unwilling());
}

TEST(Rights, AUsersOwnAreTheirs) {
    for (const auto may :
         {&Rights::may_change_job, &Rights::may_read_script, &Rights::may_see_processes,
          &Rights::may_use_streams, &Rights::may_change_crontab, &Rights::may_clear_trigger}) {
        EXPECT_TRUE((of(kAlice).*may)(kAlice));
        EXPECT_FALSE((of(kAlice).*may)(kBob));
        EXPECT_FALSE((of(kAlice).*may)(0));
        EXPECT_TRUE((of(0).*may)(kBob));
    }
}

TEST(Rights, SlurmUserActsForOthersButForStreamsAndTriggers) {
    for (const auto may : {&Rights::may_change_job, &Rights::may_read_script,
                           &Rights::may_see_processes, &Rights::may_change_crontab})
        EXPECT_TRUE((of(kSlurmUser).*may)(kAlice));
    EXPECT_FALSE(of(kSlurmUser).may_use_streams(kAlice));
    EXPECT_FALSE(of(kSlurmUser).may_clear_trigger(kAlice));
}

TEST(Rights, AllUsersSetTriggersWhereTheSiteLetsThem) {
    EXPECT_TRUE(of(kAlice).may_set_triggers(true));
    EXPECT_FALSE(of(kAlice).may_set_triggers(false));
    EXPECT_TRUE(of(kSlurmUser).may_set_triggers(false));
}

TEST(Rights, AUserMakesTokensOfTheirOwnWhereTheSiteLetsThem) {
    EXPECT_TRUE(of(kAlice).may_make_token(true, false));
    EXPECT_FALSE(of(kAlice).may_make_token(true, true));
    EXPECT_FALSE(of(kAlice).may_make_token(false, false));
    EXPECT_TRUE(of(kSlurmUser).may_make_token(false, true));
}

TEST(Rights, APartitionIsForMembersOfItsGroups) {
    EXPECT_TRUE(of(kAlice).may_use_partition({}, "users"));
    EXPECT_TRUE(of(kAlice).may_use_partition({"staff", "ALL"}, "users"));
    EXPECT_FALSE(of(kAlice).may_use_partition({"staff"}, "users"));
    EXPECT_TRUE(of(kAlice).may_use_partition({"staff"}, "staff"));  // The job's own group.
    EXPECT_TRUE(of(kAlice, {"users", "staff"}).may_use_partition({"staff"}, "users"));
    EXPECT_TRUE(of(0).may_use_partition({"staff"}, "root"));
    EXPECT_FALSE(of(kSlurmUser).may_use_partition({"staff"}, "slurm"));
}

TEST(Rights, LimitsOfUsersAreNotForRoot) {
    EXPECT_TRUE(has_user_limits(kAlice));
    EXPECT_TRUE(has_user_limits(kSlurmUser));
    EXPECT_FALSE(has_user_limits(0));
}

}  // namespace
}  // namespace switchyard::model
