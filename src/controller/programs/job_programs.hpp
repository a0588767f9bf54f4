// job_programs.hpp: PrologSlurmctld and EpilogSlurmctld: the site's programs around a job on this
// host, run without waiting for them; the core is told how each ended.
//
// They do not outlive the controller: one that is stopped kills them, and what a killed one left
// behind is killed when its successor starts, before that runs them again.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "config/config.hpp"
#include "controller/turn/outbox.hpp"
#include "core/cluster/event.hpp"
#include "io/loop.hpp"
#include "os/log.hpp"
#include "os/programs.hpp"

namespace switchyard::controller {

// What the programs are told of the job, as it was when they were ordered.
std::vector<std::string> program_environment(const config::Config& config, const model::Job& job,
                                             bool epilog);

class JobPrograms {
  public:
    using Ended = std::function<void(const core::event::ProgramEnded& event)>;
    JobPrograms(io::Loop& loop, const config::Config& config, os::Log& log, Ended ended);
    ~JobPrograms() { programs_.stop_all(); }
    JobPrograms(const JobPrograms&) = delete;
    JobPrograms& operator=(const JobPrograms&) = delete;

    void run(const config::Config& config, const ToProgram& order);
    void stop(const core::effect::StopProgram& order);

  private:
    os::Log& log_;
    Ended ended_;
    os::Programs programs_;
    std::map<std::pair<JobId, Attempt>, os::Programs::Id> prologs_;
};

}  // namespace switchyard::controller
