// describe.hpp: effects, jobs and keys in one line of words each; for transcripts and for traces of
// the simulator.
#pragma once

#include <string>

#include "core/cluster/effect.hpp"
#include "model/job.hpp"
#include "model/node.hpp"

namespace switchyard::core::testing {

std::string describe(const Effect& effect);
// "3 PENDING (Resources)", "4_2 RUNNING n1[0-1] 100M until +60s"
std::string describe(const model::Job& job);
std::string describe(const model::Node& node);
std::string describe(const model::Allocation& allocation);
// "12.batch", "12#1.0": the attempt is shown when it is not the first.
std::string name_of(const StepKey& key);

}  // namespace switchyard::core::testing
