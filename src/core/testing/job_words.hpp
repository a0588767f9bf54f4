// job_words.hpp: what a scenario says of a job: when it is submitted, changed, or makes a step.
#pragma once

#include "base/time.hpp"
#include "core/testing/transcript_words.hpp"
#include "model/job_spec.hpp"
#include "model/step.hpp"
#include "model/update.hpp"

namespace switchyard::core::testing {

// The options of sbatch as words: n=4 N=2 or N=1-2, c=, t=MINUTES, p=a,b, w=, x=, C=, gres=, gpus=,
// mem=, memcpu=, tpn=, array=, dep=, begin=SECONDS, name=, nice=, nonce=, mail=TYPES, and flags.
model::JobSpec job_options(const Words& words, Instant now, Unknown& unknown);
// Of srun: n= N= c= tpn= r= w= gres= ports=, and flags.
model::StepSpec step_options(const Words& words);
// update IDS KEY=VALUE ...: time=[+-]MINUTES, begin=SECONDS, and others.
model::JobUpdate job_update(const Words& words, Instant now, Unknown& unknown);

}  // namespace switchyard::core::testing
