// no_containment.hpp: a step without cgroups: a container without rights, or a user's own cluster.
//
// A process belongs to a step if it descends from the step's stepd (which is a subreaper, so that
// daemonised children stay below it), or if it is the job's user's and its environment carries the
// step's marker, by which an agent finds what a dead stepd left. Other users can set the marker
// too, and would be counted, killed and waited for with a job that is not theirs. A stepd without
// children looks no further: a process with the marker that descends from none of its tasks was
// started by somebody else for them (atd), and is ended only if the step leaves something behind
// itself. Memory and cores are not limited here: stepd watches the one and sets the affinity of its
// tasks for the other.
#pragma once

#include "os/containment.hpp"

namespace switchyard::os {

inline constexpr const char* kStepMarker = "SWITCHYARD_STEP";

// The value of the marker for a step at this place.
std::string marker_of(const std::string& place, const StepKey& key);
std::unique_ptr<Containment> make_no_containment(const ContainmentPlan& plan, OwnerOf owner_of);

}  // namespace switchyard::os
