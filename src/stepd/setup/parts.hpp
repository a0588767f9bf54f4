// parts.hpp: the parts of a step's setup; setup.cpp has them in their order.
#pragma once

#include "stepd/setup/setup.hpp"

namespace switchyard::stepd::setup {

// cgroup.cpp
Status make_cgroup(Step& step);
Status mark(Step& step, std::uint32_t local, os::ChildPlan& plan);
// gpu.cpp
Status guard_cards(Step& step);
Status limit_cards(Step& step);
Status say_cards(Step& step, std::uint32_t local, os::ChildPlan& plan);
// names.cpp
Status resolve_names(Step& step);
// files.cpp
Status write_script(Step& step);
Status open_batch_files(Step& step, std::uint32_t local, os::ChildPlan& plan);
// affinity.cpp
Status choose_cores(Step& step);
Status bind_to_cores(Step& step, std::uint32_t local, os::ChildPlan& plan);
// memory.cpp
Status choose_memory(Step& step);
Status bind_to_memory(Step& step, std::uint32_t local, os::ChildPlan& plan);
// pmi.cpp
Status open_pmi(Step& step);
// program.cpp
Status become_user(Step& step, std::uint32_t local, os::ChildPlan& plan);
Status choose_program(Step& step, std::uint32_t local, os::ChildPlan& plan);

}  // namespace switchyard::stepd::setup
