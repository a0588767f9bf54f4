// binding.hpp: which cpus each task of a step runs on (--cpu-bind).
//
// Pure. Without a wish, tasks are bound if the step's cores divide evenly among them, as Slurm
// does; otherwise every task runs on all of the step's cpus.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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
    std::vector<std::uint32_t> sockets = {}, ldoms = {};  // Of each core; empty: there is but one.
    std::string distribution = {};  // Over sockets: "block", "cyclic", "fcyclic", "".
};

// Where a task's memory comes from (--mem-bind).
struct MemoryBinding {
    enum class Policy : std::uint8_t { Inherited, Local, Bound, Preferred };
    Policy policy = Policy::Inherited;
    model::IndexSet domains;
    bool verbose = false;
    bool operator==(const MemoryBinding&) const = default;
};

struct Binding {
    std::vector<model::IndexSet> tasks;  // By local task; an empty set is not bound.
    bool verbose = false;
    std::vector<MemoryBinding> memory = {};  // By local task.
};

// InvalidArgument for a malformed wish.
Result<Binding> bind_tasks(const BindRequest& request);

// By local task: "local", "rank", "map_mem:0,1", "mask_mem:0x3", each with "prefer" and "verbose".
Result<std::vector<MemoryBinding>> bind_memory(std::string_view wish, std::uint32_t tasks);
std::string memory_line(const std::string& node, std::uint32_t global, std::uint32_t local,
                        const MemoryBinding& binding);

// What --cpu-bind=verbose prints for one task.
std::string binding_line(const std::string& node, std::uint32_t global, std::uint32_t local,
                         int pid, const model::IndexSet& cpus);

}  // namespace switchyard::stepd
