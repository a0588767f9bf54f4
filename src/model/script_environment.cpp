#include "model/script_environment.hpp"

#include <fmt/format.h>

#include "base/visible.hpp"
#include "model/array_environment.hpp"
#include "model/hostlist.hpp"

namespace switchyard::model {
namespace {

// The site's programs run as root, and some of what they are told is in users' words: no variable
// holds a line break or anything else that is more than text.
class Variables {
  public:
    void add(std::string_view name, std::string_view value) {
        if (value.empty()) return;
        all_.push_back(fmt::format("{}={}", name, without_control_characters(value)));
    }
    void add(std::string_view name, std::int64_t value) { add(name, fmt::to_string(value)); }
    std::vector<std::string> take() { return std::move(all_); }

  private:
    std::vector<std::string> all_;
};

void add_run(const Job& job, Variables& out) {
    const Running* run = run_of(job);
    if (run == nullptr) return;
    std::vector<std::string> nodes;
    for (const NodeGrant& grant : run->allocation.nodes) nodes.push_back(grant.node);
    out.add("SLURM_JOB_NODELIST", compress_hostlist(nodes));
    out.add("SLURM_JOB_NUM_NODES", static_cast<std::int64_t>(nodes.size()));
    out.add("SLURM_JOB_START_TIME", unix_seconds(run->started));
    if (const auto end = end_of(job)) out.add("SLURM_JOB_END_TIME", unix_seconds(*end));
    out.add("SLURM_JOB_RESERVATION", run->reservation);
    out.add("SLURM_JOB_LICENSES", run->licenses);
}

void add_outcome(const Outcome& outcome, Variables& out) {
    out.add("SLURM_JOB_DERIVED_EC", outcome.derived_exit.to_wait());
    out.add("SLURM_JOB_EXIT_CODE", outcome.exit.to_wait());
    out.add("SLURM_JOB_EXIT_CODE2", to_string(outcome.exit));
}

}  // namespace

std::vector<std::string> script_environment(const ScriptFacts& facts, const Job* record) {
    Variables out;
    out.add("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    out.add("SLURM_JOB_ID", facts.job.value);
    out.add("SLURM_JOBID", facts.job.value);
    out.add("SLURM_JOB_UID", facts.uid);
    out.add("SLURM_UID", facts.uid);
    out.add("SLURM_JOB_GID", facts.gid);
    out.add("SLURM_JOB_USER", facts.user);
    out.add("SLURM_CLUSTER_NAME", facts.cluster);
    out.add("SLURM_CONF", facts.config_path);
    out.add("SLURM_SCRIPT_CONTEXT", facts.context);
    if (record == nullptr || !record->spec) return out.take();
    const JobSpec& spec = *record->spec;
    out.add("SLURM_JOB_NAME", spec.name);
    out.add("SLURM_JOB_PARTITION", record->partition);
    out.add("SLURM_JOB_ACCOUNT", spec.account);
    out.add("SLURM_JOB_GROUP", spec.group);
    out.add("SLURM_JOB_QOS", spec.qos);
    out.add("SLURM_WCKEY", spec.wckey);
    out.add("SLURM_JOB_COMMENT", spec.comment);
    out.add("SLURM_JOB_EXTRA", spec.extra);
    out.add("SLURM_JOB_CONSTRAINTS", spec.constraint);
    out.add("SLURM_JOB_WORK_DIR", spec.work_dir);
    out.add("SLURM_JOB_RESTART_COUNT", record->restarts);
    if (record->array && record->array->element) {
        for (const auto& [name, value] : array_variables(*record->array)) out.add(name, value);
    }
    add_run(*record, out);
    if (const Outcome* outcome = outcome_of(*record)) add_outcome(*outcome, out);
    return out.take();
}

}  // namespace switchyard::model
