// trigger_programs.hpp: the programs that strigger names, run on this host as the users who set
// them, without waiting for them. They outlive a controller that is stopped.
#pragma once

#include <string>

#include "controller/programs/user_programs.hpp"
#include "core/cluster/effect.hpp"
#include "io/loop.hpp"
#include "os/log.hpp"

namespace switchyard::controller {

class TriggerPrograms {
  public:
    TriggerPrograms(io::Loop& loop, os::Log& log);
    TriggerPrograms(const TriggerPrograms&) = delete;
    TriggerPrograms& operator=(const TriggerPrograms&) = delete;

    void run(const core::effect::RunTrigger& order, const std::string& config_path);

  private:
    os::Log& log_;
    UserPrograms programs_;
};

}  // namespace switchyard::controller
