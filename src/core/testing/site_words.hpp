// site_words.hpp: the site of a scenario: its settings, nodes and partitions.
//
//   set KEY=VALUE ...                      before `start`
//   node NAMES [cpus= sockets= threads= mem= weight= features=a,b gres=gpu:x:2,shard:x:128]
//   partition NAME nodes=NAMES [default] [max=MIN] [deftime=MIN] [state=down] [tier=N]
//   [share=force:4|exclusive] [preempt=MODE] [grace=SECONDS]
#pragma once

#include "core/cluster/settings.hpp"
#include "core/testing/transcript_words.hpp"

namespace switchyard::core::testing {

void configure(const Words& words, Settings& settings, Unknown& unknown);
void add_node(const Words& words, Settings& settings);
void add_partition(const Words& words, Settings& settings);

}  // namespace switchyard::core::testing
