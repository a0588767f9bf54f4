// codec_node.cpp: a node as configured, as its agent described it, and as it is now.
#include "wire/codec_parts.hpp"

namespace switchyard::wire {

void encode(const model::NodeConfig& from, NodeConfig* to) {
    if (!from.name.empty()) to->set_name(from.name);
    if (!from.host_name.empty()) to->set_host_name(from.host_name);
    if (!from.address.empty()) to->set_address(from.address);
    to->set_cpus(from.cpus);
    to->set_boards(from.boards);
    to->set_sockets(from.sockets);
    to->set_cores_per_socket(from.cores_per_socket);
    to->set_threads_per_core(from.threads_per_core);
    to->set_memory(from.memory.value);
    to->set_tmp_disk(from.tmp_disk.value);
    to->set_weight(from.weight);
    put_strings(from.features, to->mutable_features());
    to->set_some_active(from.active_features.has_value());
    if (from.active_features) put_strings(*from.active_features, to->mutable_active_features());
    encode_all(from.gres, to->mutable_gres());
    to->set_core_spec_count(from.core_spec_count);
    to->set_mem_spec_limit(from.mem_spec_limit.value);
    to->set_port(from.port);
    to->set_start(number_of(from.start));
    if (!from.reason.empty()) to->set_reason(from.reason);
}

Status decode_into(const NodeConfig& from, model::NodeConfig& to) {
    to.name = from.name();
    to.host_name = from.host_name();
    to.address = from.address();
    to.cpus = from.cpus();
    to.boards = from.boards();
    to.sockets = from.sockets();
    to.cores_per_socket = from.cores_per_socket();
    to.threads_per_core = from.threads_per_core();
    to.memory = model::MiB{from.memory()};
    to.tmp_disk = model::MiB{from.tmp_disk()};
    to.weight = from.weight();
    to.features = strings_of(from.features());
    if (from.some_active()) to.active_features = strings_of(from.active_features());
    SY_CHECK(decode_all(from.gres(), to.gres));
    to.core_spec_count = from.core_spec_count();
    to.mem_spec_limit = model::MiB{from.mem_spec_limit()};
    SY_CHECK(read_small(from.port(), "port", to.port));
    SY_CHECK(read_enum(from.start(), model::NodeConfig::Start::Future, "start", to.start));
    to.reason = from.reason();
    return {};
}

void encode(const model::NodeMark& from, NodeMark* to) {
    if (!from.reason.empty()) to->set_reason(from.reason);
    if (!from.by.empty()) to->set_by(from.by);
    to->set_at(millis_of(from.at));
}

Status decode_into(const NodeMark& from, model::NodeMark& to) {
    to.reason = from.reason();
    to.by = from.by();
    to.at = instant_of(from.at());
    return {};
}

void encode(const model::NodeReboot& from, NodeReboot* to) {
    to->set_asap(from.asap);
    to->set_after(number_of(from.after));
    if (from.issued) to->set_issued(millis_of(*from.issued));
    to->set_drained(from.drained);
}

Status decode_into(const NodeReboot& from, model::NodeReboot& to) {
    to.asap = from.asap();
    SY_CHECK(read_enum(from.after(), model::NodeReboot::After::Down, "after", to.after));
    if (from.has_issued()) to.issued = instant_of(from.issued());
    to.drained = from.drained();
    return {};
}

void encode(const model::CardUse& from, CardUse* to) {
    to->set_device(from.device);
    if (from.percent) to->set_percent(*from.percent);
    if (from.memory) to->set_memory(from.memory->value);
    if (from.watts) to->set_watts(*from.watts);
}

Status decode_into(const CardUse& from, model::CardUse& to) {
    to.device = from.device();
    if (from.has_percent()) to.percent = from.percent();
    if (from.has_memory()) to.memory = model::MiB{from.memory()};
    if (from.has_watts()) to.watts = from.watts();
    return {};
}

void encode(const model::NodeFacts& from, NodeFacts* to) {
    if (!from.host_name.empty()) to->set_host_name(from.host_name);
    if (!from.address.empty()) to->set_address(from.address);
    if (!from.arch.empty()) to->set_arch(from.arch);
    if (!from.os.empty()) to->set_os(from.os);
    if (!from.version.empty()) to->set_version(from.version);
    to->set_cpus(from.cpus);
    to->set_sockets(from.sockets);
    to->set_cores_per_socket(from.cores_per_socket);
    to->set_threads_per_core(from.threads_per_core);
    to->set_memory(from.memory.value);
    to->set_free_memory(from.free_memory.value);
    to->set_tmp_disk(from.tmp_disk.value);
    to->set_cpu_load(from.cpu_load);
    to->set_booted(millis_of(from.booted));
    to->set_agent_started(millis_of(from.agent_started));
    if (!from.containment.empty()) to->set_containment(from.containment);
    encode_all(from.gres, to->mutable_gres());
    if (!from.problem.empty()) to->set_problem(from.problem);
    encode_all(from.card_use, to->mutable_card_use());
}

Status decode_into(const NodeFacts& from, model::NodeFacts& to) {
    to.host_name = from.host_name();
    to.address = from.address();
    to.arch = from.arch();
    to.os = from.os();
    to.version = from.version();
    to.cpus = from.cpus();
    to.sockets = from.sockets();
    to.cores_per_socket = from.cores_per_socket();
    to.threads_per_core = from.threads_per_core();
    to.memory = model::MiB{from.memory()};
    to.free_memory = model::MiB{from.free_memory()};
    to.tmp_disk = model::MiB{from.tmp_disk()};
    to.cpu_load = from.cpu_load();
    to.booted = instant_of(from.booted());
    to.agent_started = instant_of(from.agent_started());
    to.containment = from.containment();
    SY_CHECK(decode_all(from.gres(), to.gres));
    to.problem = from.problem();
    SY_CHECK(decode_all(from.card_use(), to.card_use));
    return {};
}

void encode(const model::Node& from, Node* to) {
    encode(from.config, to->mutable_config());
    if (from.facts) encode(*from.facts, to->mutable_facts());
    to->set_responding(from.responding);
    to->set_down(from.down);
    to->set_drain(from.drain);
    if (from.mark) encode(*from.mark, to->mutable_mark());
    if (from.reboot) encode(*from.reboot, to->mutable_reboot());
    if (from.last_busy) to->set_last_busy(millis_of(*from.last_busy));
    if (!from.comment.empty()) to->set_comment(from.comment);
    if (!from.extra.empty()) to->set_extra(from.extra);
    if (!from.instance_id.empty()) to->set_instance_id(from.instance_id);
    if (!from.instance_type.empty()) to->set_instance_type(from.instance_type);
    if (from.resume_at) to->set_resume_at(millis_of(*from.resume_at));
    if (!from.used_cores.empty()) to->set_used_cores(to_string(from.used_cores));
    to->set_used_cpus(from.used_cpus);
    to->set_used_memory(from.used_memory.value);
    encode_all(from.used_gres, to->mutable_used_gres());
    to->set_running_jobs(from.running_jobs);
    to->set_completing_jobs(from.completing_jobs);
    put_strings(from.partitions, to->mutable_partitions());
    to->set_exclusive(from.exclusive);
    if (!from.reservation.empty()) to->set_reservation(from.reservation);
    to->set_maint(from.maint);
}

Status decode_into(const Node& from, model::Node& to) {
    if (from.has_config()) SY_CHECK(read_message(from.config(), to.config));
    if (from.has_facts()) SY_CHECK(read_message(from.facts(), to.facts));
    to.responding = from.responding();
    to.down = from.down();
    to.drain = from.drain();
    if (from.has_mark()) SY_CHECK(read_message(from.mark(), to.mark));
    if (from.has_reboot()) SY_CHECK(read_message(from.reboot(), to.reboot));
    if (from.has_last_busy()) to.last_busy = instant_of(from.last_busy());
    to.comment = from.comment();
    to.extra = from.extra();
    to.instance_id = from.instance_id();
    to.instance_type = from.instance_type();
    if (from.has_resume_at()) to.resume_at = instant_of(from.resume_at());
    SY_CHECK(read_set(from.used_cores(), to.used_cores));
    to.used_cpus = from.used_cpus();
    to.used_memory = model::MiB{from.used_memory()};
    SY_CHECK(decode_all(from.used_gres(), to.used_gres));
    to.running_jobs = from.running_jobs();
    to.completing_jobs = from.completing_jobs();
    to.partitions = strings_of(from.partitions());
    to.exclusive = from.exclusive();
    to.reservation = from.reservation();
    to.maint = from.maint();
    return {};
}

}  // namespace switchyard::wire
