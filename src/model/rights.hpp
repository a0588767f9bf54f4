// rights.hpp: who may do what. One function for each question; all parts that must know ask here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/caller.hpp"

namespace switchyard::model {

enum class AdminLevel : std::uint8_t {
    None,
    Administrator,  // root and SlurmUser.
};

class Rights {
  public:
    Rights(Caller caller, AdminLevel level);
    // Those of a caller where nothing but root and SlurmUser makes an administrator.
    static Rights of(const Caller& caller, std::uint32_t slurm_user);

    // --- the cluster ---
    // Nodes, partitions, reservations, configuration, the log, the daemons.
    bool may_administer() const;
    bool may_see_hidden_partitions() const;
    // `own`: a token of the caller; `admins_only`: the site lets no user make one.
    bool may_make_token(bool own, bool admins_only) const;
    // `users_may`: the site lets all users have triggers.
    bool may_set_triggers(bool users_may) const;
    bool may_clear_trigger(std::uint32_t owner) const;
    bool may_change_crontab(std::uint32_t owner) const;

    // --- jobs ---
    // Ends, holds, requeues, suspends, changes it, runs steps in it, is told of its end.
    bool may_change_job(std::uint32_t owner) const;
    // A command that names neither jobs nor users means everybody's, not only the caller's own.
    bool may_change_all_jobs() const;
    bool may_read_script(std::uint32_t owner) const;
    bool may_see_processes(std::uint32_t owner) const;
    bool may_use_streams(std::uint32_t owner) const;  // sattach

    // --- what a job may ask for and be given ---
    // `group`: the one that the job runs with, beside the caller's own.
    bool may_use_partition(const std::vector<std::string>& allow_groups,
                           const std::string& group) const;
    bool may_use_all_reservations() const;
    bool may_raise_priority() const;     // --priority, a negative --nice; scontrol top of all.
    bool may_extend_limits() const;      // More time for what runs, or than the partition has.
    bool may_set_admin_fields() const;   // AdminComment, CoreSpec.
    bool may_hold_as_admin() const;      // So that the owner cannot release it.
    bool may_requeue_unwilling() const;  // A job submitted with --no-requeue.

  private:
    bool is_root() const { return caller_.uid == 0; }
    bool is_admin() const { return level_ == AdminLevel::Administrator; }
    bool is_own_or_admin(std::uint32_t owner) const;

    Caller caller_;
    AdminLevel level_;
};

// Limits of connections, requests and memory are those of users: root has none.
constexpr bool has_user_limits(std::uint32_t uid) { return uid != 0; }

}  // namespace switchyard::model
