// steps_stuck.cpp: a step that was ordered to end and does not: its processes cannot be killed, or
// its stepd does not react. The node says so and gets no more work, and the job is over.
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "agent/steps.hpp"
#include "base/text.hpp"
#include "os/files.hpp"
#include "os/processes.hpp"
#include "wire/codec.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::agent {
namespace {

constexpr Seconds kProgramMax{300};
// After its stepd was killed: how long what it left may take to go.
constexpr Seconds kLeftWait{2};

// Said by Slurm in the same words; sites look for them.
constexpr const char* kReason = "Kill task failed";

std::vector<std::string> words_of(pid_t pid) {
    std::vector<std::string> words;
    const auto line = os::read_file(fmt::format("/proc/{}/cmdline", pid));
    if (!line) return words;
    for (const std::string_view word : split(*line, '\0')) words.emplace_back(trim(word));
    return words;
}

// By what the agent wrote into their command lines: a stepd that an earlier agent started, and that
// never answered this one, is known by nothing else. Nobody but the agent's user can be mistaken
// for one.
std::vector<pid_t> find_stepds(const StepKey& key, const std::string& spool) {
    std::vector<pid_t> found;
    for (const os::Process& process : os::list_processes()) {
        struct stat facts{};
        if (::stat(fmt::format("/proc/{}", process.pid).c_str(), &facts) != 0 ||
            facts.st_uid != ::geteuid())
            continue;
        const auto words = words_of(process.pid);
        if (words.size() >= 4 && words[0] == "slurmstepd" && words[1] == model::to_string(key) &&
            words[3] == spool)
            found.push_back(process.pid);
    }
    return found;
}

}  // namespace

// The earliest order counts: they are repeated.
void Steps::expect_end(const StepKey& key, Seconds grace) {
    Step& step = steps_[key];
    const Instant by = loop_.now() + grace + setup_.unkillable_timeout;
    if (setup_.unkillable_timeout.count() == 0 || (step.ends_by && *step.ends_by <= by)) return;
    step.ends_by = by;
    step.last_call = loop_.after(grace + Millis{setup_.unkillable_timeout} / 2,
                                 [this, key] { call_once_more(key); });
    step.stuck = loop_.after(grace + setup_.unkillable_timeout, [this, key] { on_stuck(key); });
}

// Its processes may be gone while it waits for an srun that does not read: that is over now, and is
// no fault of the node.
void Steps::call_once_more(const StepKey& key) {
    const auto it = steps_.find(key);
    if (it == steps_.end() || it->second.report || !it->second.ready) return;
    wire::AgentToStepd message;
    wire::encode_key(key, message.mutable_end()->mutable_key());
    it->second.channel->send(message.SerializeAsString());
}

void Steps::on_stuck(const StepKey& key) {
    const auto it = steps_.find(key);
    if (it == steps_.end() || it->second.report || it->second.last) return;
    log_.error(fmt::format("{}: {}: it did not end within UnkillableStepTimeout ({} s)",
                           model::to_string(key), kReason, setup_.unkillable_timeout.count()));
    if (fault_) fault_(kReason);
    if (setup_.unkillable_program.empty()) return kill_stuck(key);
    const std::string name = model::to_string(key);
    const std::string job = fmt::to_string(key.job.value);
    const std::string step = name.substr(name.find('.') + 1);
    std::vector<std::string> environment = {
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "SLURM_JOB_ID=" + job,
        "SLURM_JOBID=" + job,
        "SLURM_STEP_ID=" + step,
        "SLURM_STEPID=" + step,
        "SLURM_CLUSTER_NAME=" + setup_.scripts.cluster,
        "SLURM_CONF=" + setup_.scripts.config_path,
        "SLURMD_NODENAME=" + setup_.node};
    scripts_.run(
        setup_.unkillable_program, std::move(environment), kProgramMax,
        [this, key](const Status& status) {
            if (!status)
                log_.error(fmt::format("UnkillableStepProgram: {}", status.error().message));
            kill_stuck(key);
        });
}

// Its channel closes then, and what it left is cleaned away as of any dead stepd. One that hangs in
// the kernel does not even die: its step is over all the same.
void Steps::kill_stuck(const StepKey& key) {
    const auto it = steps_.find(key);
    if (it == steps_.end() || it->second.report || it->second.last) return;
    for (const pid_t pid : find_stepds(key, setup_.spool)) ::kill(pid, SIGKILL);
    it->second.left_at = loop_.now() + kLeftWait;
    it->second.cleaning = loop_.after(kLeftWait, [this, key] { clean(key); });
}

}  // namespace switchyard::agent
