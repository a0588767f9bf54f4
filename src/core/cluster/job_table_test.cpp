#include "core/cluster/job_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "core/testing/drawers.hpp"

namespace switchyard::core {
namespace {

using testing::Drawers;

model::Job job(std::uint32_t id, std::uint32_t uid = 1000) {
    model::JobSpec spec;
    spec.uid = uid;
    spec.name = "job-" + std::to_string(id);
    model::Job out;
    out.id = JobId{id};
    out.spec = std::make_shared<const model::JobSpec>(std::move(spec));
    return out;
}

std::vector<std::uint32_t> walked(const JobTable& table) {
    std::vector<std::uint32_t> ids;
    for (const auto& [id, one] : table) {
        EXPECT_EQ(one.id, id);
        ids.push_back(id.value);
    }
    return ids;
}

TEST(JobTable, keeps_a_few_open_and_folds_the_rest) {
    const auto drawers = std::make_shared<Drawers>();
    JobTable table({.folding = drawers, .open_max = 2});
    for (std::uint32_t id = 1; id <= 5; ++id) table.add(job(id));
    EXPECT_TRUE(table.glance(JobId{1}).folded().empty());
    table.fold_idle();
    EXPECT_FALSE(table.glance(JobId{3}).folded().empty());
    EXPECT_TRUE(table.glance(JobId{4}).folded().empty());
    EXPECT_EQ(table.at(JobId{3}).spec->name, "job-3");
    EXPECT_TRUE(table.glance(JobId{3}).folded().empty());
}

TEST(JobTable, remembers_what_was_changed_while_a_job_was_open) {
    JobTable table({.folding = std::make_shared<Drawers>(), .open_max = 0});
    table.add(job(1));
    table.at(JobId{1}).priority = 7;
    table.fold_idle();
    EXPECT_FALSE(table.glance(JobId{1}).folded().empty());
    EXPECT_EQ(table.glance(JobId{1})->second.priority, 7u);
    table.at(JobId{1}).priority = 8;
    table.fold_idle();
    EXPECT_EQ(table.at(JobId{1}).priority, 8u);
}

std::vector<std::uint32_t> met(const JobTable& table, std::uint32_t after) {
    std::vector<std::uint32_t> ids;
    auto at = table.upper_bound(JobId{after}, JobTable::Walk::PassesEnded);
    for (; at != table.end(); ++at) ids.push_back(at.id().value);
    return ids;
}

TEST(JobTable, a_walk_about_the_living_passes_over_folded_jobs_that_have_ended) {
    JobTable table({.folding = std::make_shared<Drawers>(), .open_max = 0});
    for (std::uint32_t id = 1; id <= 300; ++id) {
        model::Job& added = table.add(job(id));
        if (id % 100 != 0) added.phase = model::Ended{};
    }
    EXPECT_EQ(met(table, 0).size(), 300u) << "open ones are left to whoever walks";
    table.fold_idle();
    EXPECT_EQ(met(table, 0), (std::vector<std::uint32_t>{100, 200, 300}));
    EXPECT_EQ(met(table, 100), (std::vector<std::uint32_t>{200, 300}));
    EXPECT_EQ(walked(table).size(), 300u);

    // One comes back, one is over, one is gone.
    table.at(JobId{150}).phase = model::Pending{};
    table.at(JobId{200}).phase = model::Ended{};
    table.erase(JobId{300});
    table.fold_idle();
    EXPECT_EQ(met(table, 0), (std::vector<std::uint32_t>{100, 150}));
    // A new job under the number of one that had ended.
    table.erase(JobId{7});
    table.add(job(7));
    EXPECT_EQ(met(table, 0), (std::vector<std::uint32_t>{7, 100, 150}));
}

TEST(JobTable, gives_references_that_hold_until_it_folds) {
    JobTable table({.folding = std::make_shared<Drawers>(), .open_max = 0});
    for (std::uint32_t id = 1; id <= 200; ++id) table.add(job(id));
    table.fold_idle();
    model::Job& first = table.at(JobId{1});
    for (std::uint32_t id = 2; id <= 200; ++id) table.at(JobId{id});
    EXPECT_EQ(&first, &table.at(JobId{1}));
}

TEST(JobTable, is_walked_in_order_without_opening_anybody) {
    const auto drawers = std::make_shared<Drawers>();
    JobTable table({.folding = drawers, .open_max = 0});
    for (const std::uint32_t id : {700u, 3u, 64u, 63u, 128u}) table.add(job(id));
    table.fold_idle();
    EXPECT_EQ(walked(table), (std::vector<std::uint32_t>{3, 63, 64, 128, 700}));
    EXPECT_EQ(drawers->unfolded(), 5);
    EXPECT_FALSE(table.glance(JobId{64}).folded().empty());
    EXPECT_EQ(table.upper_bound(JobId{64}).id(), JobId{128});
    EXPECT_EQ(table.upper_bound(JobId{700}), table.end());
    EXPECT_EQ(table.find(JobId{65}), table.end());
    EXPECT_EQ(table.ids().size(), 5u);
    EXPECT_EQ(drawers->unfolded(), 5);
}

TEST(JobTable, finds_the_jobs_of_a_user) {
    JobTable table;
    table.add(job(3, 100));
    table.add(job(1, 200));
    table.add(job(2, 100));
    EXPECT_EQ(table.of_user(100), (std::vector{JobId{2}, JobId{3}}));
    table.erase(JobId{2});
    EXPECT_EQ(table.of_user(100), std::vector{JobId{3}});
    EXPECT_TRUE(table.of_user(300).empty());
    EXPECT_EQ(table.get(JobId{2}), nullptr);
    EXPECT_EQ(table.size(), 2u);
}

TEST(JobTable, agrees_with_a_map_under_random_changes) {
    for (std::uint32_t seed = 1; seed <= 10; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        JobTable table({.folding = std::make_shared<Drawers>(), .open_max = random() % 20});
        std::map<std::uint32_t, std::uint32_t> priorities;
        for (int i = 0; i < 3000; ++i) {
            const std::uint32_t id = 1 + random() % 400;
            switch (random() % 5) {
                case 0:
                    table.fold_idle();
                    break;
                case 1:
                    if (priorities.erase(id) > 0) table.erase(JobId{id});
                    break;
                default:
                    if (!priorities.contains(id)) table.add(job(id));
                    table.at(JobId{id}).priority = priorities[id] =
                        static_cast<std::uint32_t>(random());
            }
        }
        ASSERT_EQ(table.size(), priorities.size());
        auto expected = priorities.begin();
        for (const auto& [id, one] : table) {
            ASSERT_EQ(id.value, expected->first);
            ASSERT_EQ(one.priority, expected->second);
            ++expected;
        }
    }
}

}  // namespace
}  // namespace switchyard::core
