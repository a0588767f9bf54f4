// job_scripts.hpp: the site's programs around a job on this node: Prolog before its first step (or
// when it gets the node), Epilog when nothing of it is left.
//
// They run one after the other, as whoever the agent is (root on a real node), with SLURM_JOB_*
// variables. A file in the spool says that a job's Prolog has run, so that a restarted agent does
// not run it again.
#pragma once

#include <sys/types.h>

#include <functional>
#include <list>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/job_key.hpp"
#include "agent/user_names.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "io/loop.hpp"
#include "os/log.hpp"
#include "os/programs.hpp"

namespace switchyard::wire {
class Job;
}  // namespace switchyard::wire

namespace switchyard::agent {

struct ScriptSetup {
    std::vector<std::string> prolog, epilog;  // Glob patterns.
    Seconds prolog_timeout{0}, epilog_timeout{0};
    bool serial = false;  // One at a time on this node.
    std::string spool, cluster, config_path, node;
};

// Whom a script is run for.
struct ScriptJob {
    JobKey key;
    const wire::Job& record;
    uid_t uid;
    gid_t gid;
};

class JobScripts {
  public:
    using Done = std::function<void(const Status& status)>;

    JobScripts(io::Loop& loop, const os::Log& log);
    ~JobScripts();
    void set_setup(ScriptSetup setup);

    bool any() const { return !setup_.prolog.empty() || !setup_.epilog.empty(); }
    // Whether a launch need not wait: its Prolog has run, or there is none.
    bool is_prepared(const JobKey& job) const;
    bool is_preparing(const JobKey& job) const;
    // `done` is called later, with the first failure.
    void prepare(const ScriptJob& job, Done done);
    // The same for the Epilog. False: it has run already, or there is none, and `done` is not
    // called.
    bool clean_up(const ScriptJob& job, Done done);

    // Another program of the site.
    void run(const std::string& program, std::vector<std::string> environment, Seconds timeout,
             Done done);

    void forget(const JobKey& job);  // It is gone, and will not be prepared again.
    void forget_before(
        Instant time);  // What was prepared before, because the machine has rebooted.

    // A child of the agent has ended: false if it is none of these.
    bool on_exit(pid_t pid, int status) { return programs_.on_exit(pid, status); }
    bool owns(pid_t pid) const { return programs_.owns(pid); }

  private:
    std::string marker(const JobKey& job) const;
    std::vector<std::string> environment(const ScriptJob& job, bool epilog) const;
    void add(const ScriptJob& job, bool epilog, Done done);
    void finish(const JobKey& job, bool epilog, const Status& status);

    const os::Log& log_;
    ScriptSetup setup_;
    os::Programs programs_;
    UserNames names_;
    std::set<JobKey> preparing_;
    // Whose Epilog has run: the order to end a job may be repeated. The last ones only.
    std::set<JobKey> cleaned_;
    std::list<JobKey> cleaned_order_;
};

}  // namespace switchyard::agent
