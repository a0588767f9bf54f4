#include "wire/codec_parts.hpp"

namespace switchyard::wire {
namespace {

using Users = google::protobuf::RepeatedPtrField<NamedUsers>;

void put_users(const std::vector<model::NamedUsers>& from, Users* to) {
    for (const model::NamedUsers& each : from) {
        NamedUsers* named = to->Add();
        named->set_name(each.name);
        for (const std::uint32_t uid : each.uids) named->add_uids(uid);
    }
}

std::vector<model::NamedUsers> users_of(const Users& from) {
    std::vector<model::NamedUsers> users;
    for (const NamedUsers& each : from)
        users.push_back({each.name(), {each.uids().begin(), each.uids().end()}});
    return users;
}

void encode(const model::NameListChange& from, NameListChange* to) {
    to->set_mode(number_of(from.mode));
    put_users(from.names, to->mutable_names());
}

Status decode_into(const NameListChange& from, model::NameListChange& to) {
    SY_CHECK(read_enum(from.mode(), model::NameListChange::Mode::Deny, "mode", to.mode));
    to.names = users_of(from.names());
    return {};
}

}  // namespace

void encode(const model::Reservation& from, Reservation* to) {
    to->set_id(from.id);
    to->set_name(from.name);
    to->set_start(millis_of(from.start));
    to->set_end(millis_of(from.end));
    put_strings(from.nodes, to->mutable_nodes());
    if (from.node_count) to->set_node_count(*from.node_count);
    to->set_features(from.features);
    to->set_partition(from.partition);
    to->set_licenses(from.licenses);
    to->set_comment(from.comment);
    to->set_flags(from.flags);
    put_users(from.users, to->mutable_users());
    put_users(from.groups, to->mutable_groups());
    put_strings(from.accounts, to->mutable_accounts());
    to->set_users_denied(from.users_denied);
    to->set_accounts_denied(from.accounts_denied);
    put_strings(from.qos, to->mutable_qos());
    to->set_qos_denied(from.qos_denied);
    put_strings(from.allowed_partitions, to->mutable_allowed_partitions());
    to->set_partitions_denied(from.partitions_denied);
    if (from.max_start_delay) to->set_max_start_delay(from.max_start_delay->count());
    to->set_purge_after(from.purge_after.count());
    if (from.idle_since) to->set_idle_since(millis_of(*from.idle_since));
    if (from.floats) to->set_floats(from.floats->count());
    for (const auto& [node, cores] : from.cores) {
        NodeCores* each = to->add_cores();
        each->set_node(node);
        each->set_cores(to_string(cores));
    }
}

Status decode_into(const Reservation& from, model::Reservation& to) {
    to.id = from.id();
    to.name = from.name();
    to.start = instant_of(from.start());
    to.end = instant_of(from.end());
    to.nodes = strings_of(from.nodes());
    if (from.has_node_count()) to.node_count = from.node_count();
    to.features = from.features();
    to.partition = from.partition();
    to.licenses = from.licenses();
    to.comment = from.comment();
    to.flags = from.flags();
    to.users = users_of(from.users());
    to.groups = users_of(from.groups());
    to.accounts = strings_of(from.accounts());
    to.users_denied = from.users_denied();
    to.accounts_denied = from.accounts_denied();
    to.qos = strings_of(from.qos());
    to.qos_denied = from.qos_denied();
    to.allowed_partitions = strings_of(from.allowed_partitions());
    to.partitions_denied = from.partitions_denied();
    if (from.has_max_start_delay()) to.max_start_delay = Seconds{from.max_start_delay()};
    to.purge_after = Seconds{from.purge_after()};
    if (from.has_idle_since()) to.idle_since = instant_of(from.idle_since());
    if (from.has_floats()) to.floats = Seconds{from.floats()};
    for (const NodeCores& each : from.cores())
        SY_CHECK(read_set(each.cores(), to.cores[each.node()]));
    return {};
}

void encode(const model::ReservationUpdate& from, ReservationUpdate* to) {
    to->set_action(number_of(from.action));
    to->set_name(from.name);
    if (from.start) to->set_start(millis_of(*from.start));
    if (from.end) to->set_end(millis_of(*from.end));
    if (from.duration) to->set_duration(from.duration->count());
    if (from.nodes) put_strings(*from.nodes, to->mutable_nodes()->mutable_values());
    if (from.node_count) to->set_node_count(*from.node_count);
    put_strings(from.nodes_added, to->mutable_nodes_added());
    put_strings(from.nodes_removed, to->mutable_nodes_removed());
    if (from.core_count) to->set_core_count(*from.core_count);
    to->set_cores_per_node(from.cores_per_node);
    if (from.features) to->set_features(*from.features);
    if (from.partition) to->set_partition(*from.partition);
    if (from.licenses) to->set_licenses(*from.licenses);
    if (from.comment) to->set_comment(*from.comment);
    encode(from.users, to->mutable_users());
    encode(from.groups, to->mutable_groups());
    encode(from.accounts, to->mutable_accounts());
    encode(from.qos, to->mutable_qos());
    encode(from.allowed_partitions, to->mutable_allowed_partitions());
    to->set_flags_set(from.flags.set);
    to->set_flags_cleared(from.flags.cleared);
    if (from.flags.purge_after) to->set_purge_after(from.flags.purge_after->count());
    if (from.max_start_delay) to->set_max_start_delay(from.max_start_delay->count());
    to->set_skip(from.skip);
}

Status decode_into(const ReservationUpdate& from, model::ReservationUpdate& to) {
    SY_CHECK(
        read_enum(from.action(), model::ReservationUpdate::Action::Delete, "action", to.action));
    to.name = from.name();
    if (from.has_start()) to.start = instant_of(from.start());
    if (from.has_end()) to.end = instant_of(from.end());
    if (from.has_duration()) to.duration = Seconds{from.duration()};
    if (from.has_nodes()) to.nodes = strings_of(from.nodes().values());
    if (from.has_node_count()) to.node_count = from.node_count();
    to.nodes_added = strings_of(from.nodes_added());
    to.nodes_removed = strings_of(from.nodes_removed());
    if (from.has_core_count()) to.core_count = from.core_count();
    to.cores_per_node = from.cores_per_node();
    if (from.has_features()) to.features = from.features();
    if (from.has_partition()) to.partition = from.partition();
    if (from.has_licenses()) to.licenses = from.licenses();
    if (from.has_comment()) to.comment = from.comment();
    SY_CHECK(decode_into(from.users(), to.users));
    SY_CHECK(decode_into(from.groups(), to.groups));
    SY_CHECK(decode_into(from.accounts(), to.accounts));
    SY_CHECK(decode_into(from.qos(), to.qos));
    SY_CHECK(decode_into(from.allowed_partitions(), to.allowed_partitions));
    to.flags.set = from.flags_set();
    to.flags.cleared = from.flags_cleared();
    if (from.has_purge_after()) to.flags.purge_after = Seconds{from.purge_after()};
    if (from.has_max_start_delay()) to.max_start_delay = Seconds{from.max_start_delay()};
    to.skip = from.skip();
    return {};
}

}  // namespace switchyard::wire
