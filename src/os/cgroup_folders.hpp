// cgroup_folders.hpp: what both versions of cgroups share: folders found, made, listed and removed.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "os/containment.hpp"

namespace switchyard::os {

// Makes <node>/<job>/<step>. The job's folder may vanish in between, when another step of it ends:
// then it is made anew.
Status make_step_folder(const std::string& node_folder, const StepKey& key);
std::string step_path(const std::string& node_folder, const StepKey& key);

// The node's folder in the unified hierarchy, and a job's in it; empty where there is none.
std::string node_path(const ContainmentPlan& plan);
std::string job_path(const ContainmentPlan& plan, const StepKey& key);

// The processes of a cgroup and of all below it (a job may have made some of its own).
std::vector<pid_t> read_pids(const std::string& folder);

// Nothing in it: no process, no cgroup below.
bool is_empty_cgroup(const std::string& folder);
// With all below it.
Status remove_cgroup(const std::string& folder);

// rmdir of the step's folder with all below it, then of the job's. True: the job's is gone.
Result<bool> remove_step_folder(const std::string& node_folder, const StepKey& key);
std::vector<StepKey> list_steps(const std::string& node_folder);

// The number behind "name " in a file of such lines; 0 if there is none.
std::uint64_t read_entry(const std::string& path, std::string_view name);
std::uint64_t read_number(const std::string& path);

}  // namespace switchyard::os
