// codec_parts.cpp: the small values: resources, gres, places in arrays, dependencies, keys.
#include "wire/codec_parts.hpp"

namespace switchyard::wire {

void encode(const model::TimeLimit& from, TimeLimit* to) {
    to->set_seconds(from.seconds.count());
    to->set_unlimited(from.unlimited);
}

Status decode_into(const TimeLimit& from, model::TimeLimit& to) {
    to.seconds = Seconds{from.seconds()};
    to.unlimited = from.unlimited();
    return {};
}

void encode(const model::GresRequest& from, GresRequest* to) {
    if (!from.name.empty()) to->set_name(from.name);
    if (!from.type.empty()) to->set_type(from.type);
    to->set_count(from.count);
}

Status decode_into(const GresRequest& from, model::GresRequest& to) {
    to.name = from.name();
    to.type = from.type();
    to.count = from.count();
    return {};
}

void encode(const model::GresInventory& from, GresInventory* to) {
    if (!from.name.empty()) to->set_name(from.name);
    if (!from.type.empty()) to->set_type(from.type);
    to->set_count(from.count);
    if (!from.devices.empty()) to->set_devices(to_string(from.devices));
    put_strings(from.files, to->mutable_files());
    if (!from.cores.empty()) to->set_cores(to_string(from.cores));
    for (const model::IndexSet& each : from.device_cores) to->add_device_cores(to_string(each));
    for (const model::IndexSet& each : from.device_links) to->add_device_links(to_string(each));
    if (!from.protection.empty()) to->set_protection(from.protection);
    put_strings(from.device_names, to->mutable_device_names());
    to->mutable_device_memory()->Add(from.device_memory.begin(), from.device_memory.end());
}

Status decode_into(const GresInventory& from, model::GresInventory& to) {
    to.name = from.name();
    to.type = from.type();
    to.count = from.count();
    SY_CHECK(read_set(from.devices(), to.devices));
    to.files = strings_of(from.files());
    SY_CHECK(read_set(from.cores(), to.cores));
    for (const auto& each : from.device_cores()) {
        SY_CHECK(read_set(each, to.device_cores.emplace_back()));
    }
    for (const auto& each : from.device_links()) {
        SY_CHECK(read_set(each, to.device_links.emplace_back()));
    }
    to.protection = from.protection();
    to.device_names = strings_of(from.device_names());
    to.device_memory.assign(from.device_memory().begin(), from.device_memory().end());
    return {};
}

void encode(const model::GresGrant& from, GresGrant* to) {
    if (!from.name.empty()) to->set_name(from.name);
    if (!from.type.empty()) to->set_type(from.type);
    to->set_count(from.count);
    if (!from.devices.empty()) to->set_devices(to_string(from.devices));
    for (const auto& each : from.shares) {
        GresShare* share = to->add_shares();
        share->set_device(each.device);
        share->set_amount(each.amount);
    }
}

Status decode_into(const GresGrant& from, model::GresGrant& to) {
    to.name = from.name();
    to.type = from.type();
    to.count = from.count();
    SY_CHECK(read_set(from.devices(), to.devices));
    for (const GresShare& each : from.shares()) to.shares.push_back({each.device(), each.amount()});
    return {};
}

void encode(const model::HetPlace& from, HetPlace* to) {
    to->set_leader(from.leader.value);
    to->set_offset(from.offset);
    to->set_size(from.size);
}

Status decode_into(const HetPlace& from, model::HetPlace& to) {
    to.leader.value = from.leader();
    to.offset = from.offset();
    to.size = from.size();
    return {};
}

void encode(const model::ArraySpec& from, ArraySpec* to) {
    if (!from.elements.empty()) to->set_elements(to_string(from.elements));
    to->set_throttle(from.throttle);
    to->set_step(from.step);
}

Status decode_into(const ArraySpec& from, model::ArraySpec& to) {
    SY_CHECK(read_set(from.elements(), to.elements));
    to.throttle = from.throttle();
    to.step = from.step();
    return {};
}

void encode(const model::ArrayPlace& from, ArrayPlace* to) {
    to->set_array_id(from.array_id.value);
    if (from.element) to->set_element(*from.element);
    if (!from.pending.empty()) to->set_pending(to_string(from.pending));
    to->set_throttle(from.throttle);
    to->set_count(from.count);
    to->set_min(from.min);
    to->set_max(from.max);
    to->set_step(from.step);
}

Status decode_into(const ArrayPlace& from, model::ArrayPlace& to) {
    to.array_id.value = from.array_id();
    if (from.has_element()) to.element = from.element();
    SY_CHECK(read_set(from.pending(), to.pending));
    to.throttle = from.throttle();
    to.count = from.count();
    to.min = from.min();
    to.max = from.max();
    to.step = from.step();
    return {};
}

void encode(const model::DependencyTerm& from, DependencyTerm* to) {
    to->set_kind(number_of(from.kind));
    to->set_job(from.job.value);
    if (from.element) to->set_element(*from.element);
    to->set_whole_array(from.whole_array);
    to->set_status(number_of(from.status));
    to->set_delay_minutes(from.delay.count());
}

Status decode_into(const DependencyTerm& from, model::DependencyTerm& to) {
    SY_CHECK(read_enum(from.kind(), model::DependencyKind::Singleton, "kind", to.kind));
    to.job.value = from.job();
    if (from.has_element()) to.element = from.element();
    to.whole_array = from.whole_array();
    SY_CHECK(read_enum(from.status(), model::DependencyStatus::Failed, "status", to.status));
    to.delay = Minutes{from.delay_minutes()};
    return {};
}

void encode(const model::Dependency& from, Dependency* to) {
    encode_all(from.terms, to->mutable_terms());
    to->set_any(from.any);
}

Status decode_into(const Dependency& from, model::Dependency& to) {
    SY_CHECK(decode_all(from.terms(), to.terms));
    to.any = from.any();
    return {};
}

void encode(const model::WarnSignal& from, WarnSignal* to) {
    to->set_signal(from.signal);
    to->set_before(from.before.count());
    to->set_batch_only(from.batch_only);
    to->set_for_reservation(from.for_reservation);
}

Status decode_into(const WarnSignal& from, model::WarnSignal& to) {
    to.signal = from.signal();
    to.before = Seconds{from.before()};
    to.batch_only = from.batch_only();
    to.for_reservation = from.for_reservation();
    return {};
}

void encode(const model::MemoryRequest& from, MemoryRequest* to) {
    to->set_per(number_of(from.per));
    to->set_amount(from.amount.value);
}

Status decode_into(const MemoryRequest& from, model::MemoryRequest& to) {
    SY_CHECK(read_enum(from.per(), model::MemoryRequest::Per::Gpu, "per", to.per));
    to.amount = model::MiB{from.amount()};
    return {};
}

void encode(const model::Distribution& from, Distribution* to) {
    to->set_nodes(number_of(from.nodes));
    to->set_plane_size(from.plane_size);
    to->set_pack(from.pack);
    to->set_no_pack(from.no_pack);
    if (!from.sockets.empty()) to->set_sockets(from.sockets);
}

Status decode_into(const Distribution& from, model::Distribution& to) {
    SY_CHECK(read_enum(from.nodes(), model::Distribution::Nodes::Arbitrary, "nodes", to.nodes));
    to.plane_size = from.plane_size();
    to.pack = from.pack();
    to.no_pack = from.no_pack();
    to.sockets = from.sockets();
    return {};
}

void encode(const model::ExitStatus& from, ExitStatus* to) {
    to->set_code(from.code);
    to->set_signal(from.signal);
}

Status decode_into(const ExitStatus& from, model::ExitStatus& to) {
    to.code = from.code();
    to.signal = from.signal();
    return {};
}

void encode_key(const switchyard::StepKey& from, StepKey* to) {
    to->set_job(from.job.value);
    to->set_attempt(from.attempt.value);
    to->set_step(from.step.value);
}

switchyard::StepKey decode(const StepKey& from) {
    return {JobId{from.job()}, Attempt{from.attempt()}, StepId{from.step()}};
}

}  // namespace switchyard::wire
