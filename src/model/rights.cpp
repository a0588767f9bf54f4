#include "model/rights.hpp"

#include <algorithm>
#include <utility>

namespace switchyard::model {

Rights::Rights(Caller caller, AdminLevel level) : caller_(std::move(caller)), level_(level) {}

Rights Rights::of(const Caller& caller, std::uint32_t slurm_user) {
    const bool admin = caller.uid == 0 || caller.uid == slurm_user;
    return {caller, admin ? AdminLevel::Administrator : AdminLevel::None};
}

bool Rights::is_own_or_admin(std::uint32_t owner) const {
    return is_admin() || caller_.uid == owner;
}

bool Rights::may_administer() const { return is_admin(); }
bool Rights::may_see_hidden_partitions() const { return is_admin(); }
bool Rights::may_make_token(bool own, bool admins_only) const {
    return is_admin() || (own && !admins_only);
}
bool Rights::may_set_triggers(bool users_may) const { return users_may || is_admin(); }
bool Rights::may_clear_trigger(std::uint32_t owner) const {
    return is_root() || caller_.uid == owner;
}
bool Rights::may_change_crontab(std::uint32_t owner) const { return is_own_or_admin(owner); }

bool Rights::may_change_job(std::uint32_t owner) const { return is_own_or_admin(owner); }
bool Rights::may_change_all_jobs() const { return is_admin(); }
bool Rights::may_read_script(std::uint32_t owner) const { return is_own_or_admin(owner); }
bool Rights::may_see_processes(std::uint32_t owner) const { return is_own_or_admin(owner); }
bool Rights::may_use_streams(std::uint32_t owner) const {
    return is_root() || caller_.uid == owner;
}

bool Rights::may_use_partition(const std::vector<std::string>& allow_groups,
                               const std::string& group) const {
    const auto allowed = [&](const std::string& name) {
        return std::ranges::find(allow_groups, name) != allow_groups.end();
    };
    if (is_root() || allow_groups.empty() || allowed("ALL") || allowed(group)) return true;
    return std::ranges::any_of(caller_.groups, allowed);
}
bool Rights::may_use_all_reservations() const { return is_admin(); }
bool Rights::may_raise_priority() const { return is_admin(); }
bool Rights::may_extend_limits() const { return is_admin(); }
bool Rights::may_set_admin_fields() const { return is_admin(); }
bool Rights::may_hold_as_admin() const { return is_admin(); }
bool Rights::may_requeue_unwilling() const { return is_admin(); }

}  // namespace switchyard::model
