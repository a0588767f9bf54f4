#include "core/testing/reservation_words.hpp"

#include "base/assert.hpp"
#include "model/hostlist.hpp"

namespace switchyard::core::testing {
namespace {

using model::NameListChange;

// Users are numbers; what is no number is nobody.
NameListChange names(const std::string& list, NameListChange::Mode mode) {
    NameListChange change;
    change.mode = mode;
    for (const auto name : split(list, ',')) {
        const auto uid = parse_uint(name);
        change.names.push_back({std::string(name), {}});
        if (uid) change.names.back().uids = {static_cast<std::uint32_t>(*uid)};
    }
    return change;
}

}  // namespace

model::ReservationUpdate reservation_update(const Words& words, Instant now) {
    using Action = model::ReservationUpdate::Action;
    using Mode = NameListChange::Mode;
    model::ReservationUpdate update;
    const std::string& action = words.plain.at(1);
    update.action = action == "create"   ? Action::Create
                    : action == "delete" ? Action::Delete
                                         : Action::Update;
    update.skip = words.has("skip");
    for (const auto& [key, value] : words.values) {
        if (key == "name")
            update.name = value;
        else if (key == "start")
            update.start = now + Seconds{std::stoll(value)};
        else if (key == "len")
            update.duration = minutes(value).seconds;
        else if (key == "nodes")
            update.nodes =
                value == "ALL" ? std::vector<std::string>{"ALL"} : *model::expand_hostlist(value);
        else if (key == "addnodes")
            update.nodes_added = *model::expand_hostlist(value);
        else if (key == "delnodes")
            update.nodes_removed = *model::expand_hostlist(value);
        else if (key == "count")
            update.node_count = words.number("count");
        else if (key == "cores")
            update.core_count = words.number("cores");
        else if (key == "percores") {
            update.core_count = words.number("percores");
            update.cores_per_node = true;
        } else if (key == "part")
            update.partition = value;
        else if (key == "feat")
            update.features = value;
        else if (key == "lic")
            update.licenses = value;
        else if (key == "flags")
            update.flags = *model::parse_reservation_flags(value, false);
        else if (key == "delay")
            update.max_start_delay = minutes(value).seconds;
        else if (key == "users")
            update.users = names(value, Mode::Set);
        else if (key == "addusers")
            update.users = names(value, Mode::Add);
        else if (key == "delusers")
            update.users = names(value, Mode::Remove);
        else if (key == "deny")
            update.users = names(value, Mode::Deny);
        else if (key == "groups")
            update.groups = names(value, Mode::Set);
        else if (key == "accounts")
            update.accounts = names(value, Mode::Set);
        else if (key == "qos")
            update.qos = names(value, Mode::Set);
        else if (key == "parts")
            update.allowed_partitions = names(value, Mode::Set);
        else if (key == "denyparts")
            update.allowed_partitions = names(value, Mode::Deny);
        else if (key == "delparts")
            update.allowed_partitions = names(value, Mode::Remove);
        else
            SY_ASSERT(key == "user");
    }
    return update;
}

}  // namespace switchyard::core::testing
