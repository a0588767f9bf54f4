// environment.hpp: the variables that a batch script and the tasks of a step see.
//
// Pure: a function of the launch. What the user exported comes first; Slurm's variables replace
// what stands there. Names and values are those of golden/env (see environment_test.cpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stepd/launch.hpp"

namespace switchyard::stepd {

// An environment that is being put together; a name that is set again is replaced in place.
class Environment {
  public:
    explicit Environment(std::vector<std::string> entries) : entries_(std::move(entries)) {}
    void set(std::string_view name, std::string_view value);
    void set(std::string_view name, std::uint64_t value);
    void unset(std::string_view name);
    bool has(std::string_view name) const;
    std::string_view get(std::string_view name) const;  // "" if it is not there.
    std::vector<std::string> take() { return std::move(entries_); }

  private:
    std::vector<std::string> entries_;
};

// Without SLURM_TASK_PID, which only the task itself knows.
std::vector<std::string> batch_environment(const Launch& launch);
// `local`: which of this node's tasks.
std::vector<std::string> task_environment(const Launch& launch, std::uint32_t local);

}  // namespace switchyard::stepd
