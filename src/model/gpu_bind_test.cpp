#include "model/gpu_bind.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace switchyard::model {
namespace {

using testing::ElementsAre;
using Seen = std::vector<std::vector<std::uint32_t>>;

Seen bound(std::string_view text, std::uint32_t cards, std::uint32_t tasks) {
    std::vector<BindableCard> all;
    for (std::uint32_t i = 0; i < cards; ++i) all.push_back({i, {}});
    return assign_gpus(*parse_gpu_bind(text), all, tasks, {});
}

TEST(GpuBind, EveryTaskSeesAllUnlessItIsBound) {
    EXPECT_EQ(bound("none", 2, 2), (Seen{{0, 1}, {0, 1}}));
    EXPECT_EQ(bound("verbose", 2, 1), (Seen{{0, 1}}));
    EXPECT_EQ(bound("closest", 2, 1), (Seen{{0, 1}}));
}

TEST(GpuBind, InBlocks) {
    EXPECT_EQ(bound("single:2", 2, 4), (Seen{{0}, {0}, {1}, {1}}));
    EXPECT_EQ(bound("single:1", 2, 3), (Seen{{0}, {1}, {0}}));
    EXPECT_EQ(bound("per_task:2", 4, 2), (Seen{{0, 1}, {2, 3}}));
    EXPECT_EQ(bound("per_task:3", 2, 1), (Seen{{0, 1}}));
}

TEST(GpuBind, ByLists) {
    EXPECT_EQ(bound("map_gpu:1,0", 2, 3), (Seen{{1}, {0}, {1}}));
    EXPECT_EQ(bound("map_gpu:0*2,1*2", 2, 4), (Seen{{0}, {0}, {1}, {1}}));
    EXPECT_EQ(bound("verbose,mask_gpu:0x3,c", 4, 2), (Seen{{0, 1}, {2, 3}}));
    EXPECT_EQ(bound("map_gpu:7", 2, 1), (Seen{{0, 1}}));
}

TEST(GpuBind, ByWhatIsNear) {
    const std::vector<BindableCard> cards{{0, IndexSet::range(0, 3)}, {1, IndexSet::range(4, 7)}};
    const std::vector<IndexSet> cores{IndexSet::range(4, 4), IndexSet::range(0, 0)};
    EXPECT_EQ(assign_gpus(*parse_gpu_bind("closest"), cards, 2, cores), (Seen{{1}, {0}}));
    EXPECT_EQ(assign_gpus(*parse_gpu_bind("single:1"), cards, 2, cores), (Seen{{1}, {0}}));
}

TEST(GpuBind, WhatCannotBeReadIsRefused) {
    for (const char* text :
         {"", "x", "single", "single:0", "single:-1", "per_task:", "per_task:99999999999999999999",
          "map_gpu:", "map_gpu:a", "map_gpu:1*0", "map_gpu:0*99999999,1", "mask_gpu:0x",
          "mask_gpu:g", "verbose,x", "map_gpu:1,,2", "none,verbose"}) {
        EXPECT_FALSE(is_gpu_bind(text)) << text;
    }
}

}  // namespace
}  // namespace switchyard::model
