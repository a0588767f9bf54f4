// freezer_folders.hpp: a step's folder in the freezer of cgroups v1, which every step enters.
//
//   <node>/job_<id>_<attempt>.step_<id>    a step
//   <node>/spare_<pid>                     of a stepd that waits for its next step
//
// To make a cgroup and to remove it costs the kernel more than all else of a short step does, and
// holds a lock of the whole machine. So a stepd whose step is over keeps the empty folder under
// another name, and gives it that of its next step. Steps of versions before lie in a folder of
// their job each; they are found too.
#pragma once

#include <string>
#include <vector>

#include "os/containment.hpp"

namespace switchyard::os {

class FreezerFolders {
  public:
    explicit FreezerFolders(std::string node) : node_(std::move(node)) {}

    // Where the step is, or would be if it is nowhere.
    std::string path_of(const StepKey& key) const;
    Status make(const StepKey& key);
    // Busy while a process is in it. Kept for the next step if `keep` and nothing is below it.
    Status remove(const StepKey& key, bool keep);
    std::vector<StepKey> existing() const;

    // Of this process; when it ends.
    void drop_spare() const;
    // Of whoever is gone without that.
    void drop_all_spares() const;

  private:
    std::string flat_path(const StepKey& key) const;
    std::string spare_path() const;

    std::string node_;
    std::optional<StepKey> made_;
};

}  // namespace switchyard::os
