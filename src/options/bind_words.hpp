// bind_words.hpp: --cpu-bind and --mem-bind in one form, whichever of their spellings was used:
// "quiet,mask_cpu:1,2". It is what SLURM_CPU_BIND and SLURM_MEM_BIND tell tasks, and what nodes
// bind by.
#pragma once

#include <string>
#include <string_view>

namespace switchyard::options {

// `level` is what other options bind to ("cores") where the wish names no level itself. Empty if
// nothing is asked for.
std::string canonical_bind(std::string_view wish, std::string_view level);

}  // namespace switchyard::options
