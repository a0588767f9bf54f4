// cards_asked.hpp: what follows from asking for cards in several ways at once. --gpus,
// --gpus-per-node,
// --gpus-per-task and --ntasks-per-gpu describe the same cards: two of them give the count of tasks
// or nodes that was not given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/job.hpp"

namespace switchyard::view {

std::uint64_t gpus_in(const std::vector<model::GresRequest>& requests);

// None: cards say nothing about it.
std::optional<std::uint32_t> tasks_by_cards(const model::JobSpec& spec, std::uint32_t nodes);
std::optional<std::uint32_t> nodes_by_cards(const model::JobSpec& spec);

// All generic resources of a job with so many nodes and tasks, each card counted once.
std::vector<model::GresGrant> gres_asked(const model::JobSpec& spec, std::uint64_t nodes,
                                         std::uint64_t tasks);

// "cpu=2,gres/gpu=1"; empty: nothing is asked for each task.
std::string tres_per_task(const model::JobSpec& spec);
// "gres/gpu:per_task:1": what was given, or what follows from cards for each task.
std::string tres_bind(const model::JobSpec& spec);

}  // namespace switchyard::view
