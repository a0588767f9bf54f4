// binding.hpp: which cpus each task of a step runs on (--cpu-bind).
//
// Pure. Without a wish, tasks are bound if the step's cores divide evenly among them, as Slurm
// does; otherwise every task runs on all of the step's cpus.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/index_set.hpp"

namespace switchyard::stepd {

struct BindRequest {
    std::vector<model::IndexSet>
        cores;  // The step's cores, each with its cpus. Empty: nothing to bind.
    std::uint32_t tasks = 1;
    std::uint32_t cpus_per_task = 1;
    std::string wish;  // "cores", "verbose,map_cpu:0,2", "none", ""
};

struct Binding {
    std::vector<model::IndexSet> tasks;  // By local task; an empty set is not bound.
    bool verbose = false;
};

// InvalidArgument for a malformed wish.
Result<Binding> bind_tasks(const BindRequest& request);

// What --cpu-bind=verbose prints for one task.
std::string binding_line(const std::string& node, std::uint32_t global, std::uint32_t local,
                         int pid, const model::IndexSet& cpus);

}  // namespace switchyard::stepd
