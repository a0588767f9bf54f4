// gpu_bind.hpp: --gpu-bind: which of the cards that a step has on a node each of its tasks sees.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/index_set.hpp"

namespace switchyard::model {

struct GpuBind {
    enum class Kind : std::uint8_t { None, Closest, Map, Mask, PerTask, Single };
    Kind kind = Kind::None;
    bool verbose = false;
    std::vector<IndexSet> list;  // Map and Mask: numbers of cards, by task.
    std::uint32_t count = 1;     // PerTask: cards of each task; Single: tasks of each card.
    bool operator==(const GpuBind&) const = default;
};

// "none", "closest", "map_gpu:0,1*2", "mask_gpu:0x3*2,c", "per_task:2", "single:4", each with
// "verbose," in front; "verbose" alone. InvalidArgument for anything else.
Result<GpuBind> parse_gpu_bind(std::string_view text);
bool is_gpu_bind(std::string_view text);

// A card of the step on this node.
struct BindableCard {
    std::uint32_t number = 0;  // As the lists of map_gpu and mask_gpu name it.
    IndexSet cores;            // Near it; empty: all.
};
// Positions in `cards`, for each task. `task_cores`: the cores of each task; a task without an
// entry may run anywhere. A task that would see nothing sees all, as one that is not bound.
std::vector<std::vector<std::uint32_t>> assign_gpus(const GpuBind& bind,
                                                    const std::vector<BindableCard>& cards,
                                                    std::uint32_t tasks,
                                                    const std::vector<IndexSet>& task_cores);

}  // namespace switchyard::model
