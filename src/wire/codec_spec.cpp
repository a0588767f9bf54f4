// codec_spec.cpp: what a user asked for, and the script that goes with it.
#include "wire/codec_parts.hpp"

namespace switchyard::wire {

namespace {

// Who and under which names.
void encode_identity(const model::JobSpec& from, JobSpec* to) {
    to->set_kind(number_of(from.kind));
    if (!from.name.empty()) to->set_name(from.name);
    to->set_uid(from.uid);
    to->set_gid(from.gid);
    if (!from.user.empty()) to->set_user(from.user);
    if (!from.group.empty()) to->set_group(from.group);
    put_strings(from.partitions, to->mutable_partitions());
    if (!from.account.empty()) to->set_account(from.account);
    if (!from.qos.empty()) to->set_qos(from.qos);
    if (!from.wckey.empty()) to->set_wckey(from.wckey);
    if (!from.reservation.empty()) to->set_reservation(from.reservation);
    if (!from.comment.empty()) to->set_comment(from.comment);
    if (!from.licenses.empty()) to->set_licenses(from.licenses);
    if (!from.network.empty()) to->set_network(from.network);
    if (!from.mcs_label.empty()) to->set_mcs_label(from.mcs_label);
    if (!from.extra.empty()) to->set_extra(from.extra);
}
Status decode_identity(const JobSpec& from, model::JobSpec& to) {
    SY_CHECK(read_enum(from.kind(), model::JobKind::Allocation, "kind", to.kind));
    to.name = from.name();
    to.uid = from.uid();
    to.gid = from.gid();
    to.user = from.user();
    to.group = from.group();
    to.partitions = strings_of(from.partitions());
    to.account = from.account();
    to.qos = from.qos();
    to.wckey = from.wckey();
    to.reservation = from.reservation();
    to.comment = from.comment();
    to.licenses = from.licenses();
    to.network = from.network();
    to.mcs_label = from.mcs_label();
    to.extra = from.extra();
    return {};
}

// How much of what.
void encode_size(const model::JobSpec& from, JobSpec* to) {
    if (from.nodes_min) to->set_nodes_min(*from.nodes_min);
    if (from.nodes_max) to->set_nodes_max(*from.nodes_max);
    if (from.tasks) to->set_tasks(*from.tasks);
    if (from.cpus_per_task) to->set_cpus_per_task(*from.cpus_per_task);
    if (from.tasks_per_node) to->set_tasks_per_node(*from.tasks_per_node);
    if (from.tasks_per_socket) to->set_tasks_per_socket(*from.tasks_per_socket);
    if (from.tasks_per_core) to->set_tasks_per_core(*from.tasks_per_core);
    if (from.tasks_per_gpu) to->set_tasks_per_gpu(*from.tasks_per_gpu);
    if (from.sockets_per_node) to->set_sockets_per_node(*from.sockets_per_node);
    if (from.cores_per_socket) to->set_cores_per_socket(*from.cores_per_socket);
    if (from.threads_per_core) to->set_threads_per_core(*from.threads_per_core);
    if (from.cpus_per_node_min) to->set_cpus_per_node_min(*from.cpus_per_node_min);
    if (from.core_spec) to->set_core_spec(*from.core_spec);
    if (!is_default(from.memory)) encode(from.memory, to->mutable_memory());
    to->set_tmp_disk(from.tmp_disk.value);
    to->set_overcommit(from.overcommit);
    to->set_contiguous(from.contiguous);
    to->set_spread(from.spread);
    to->set_use_min_nodes(from.use_min_nodes);
    to->set_exclusive(number_of(from.exclusive));
    to->set_oversubscribe(from.oversubscribe);
    if (!is_default(from.distribution)) encode(from.distribution, to->mutable_distribution());
}
Status decode_size(const JobSpec& from, model::JobSpec& to) {
    if (from.has_nodes_min()) to.nodes_min = from.nodes_min();
    if (from.has_nodes_max()) to.nodes_max = from.nodes_max();
    if (from.has_tasks()) to.tasks = from.tasks();
    if (from.has_cpus_per_task()) to.cpus_per_task = from.cpus_per_task();
    if (from.has_tasks_per_node()) to.tasks_per_node = from.tasks_per_node();
    if (from.has_tasks_per_socket()) to.tasks_per_socket = from.tasks_per_socket();
    if (from.has_tasks_per_core()) to.tasks_per_core = from.tasks_per_core();
    if (from.has_tasks_per_gpu()) to.tasks_per_gpu = from.tasks_per_gpu();
    if (from.has_sockets_per_node()) to.sockets_per_node = from.sockets_per_node();
    if (from.has_cores_per_socket()) to.cores_per_socket = from.cores_per_socket();
    if (from.has_threads_per_core()) to.threads_per_core = from.threads_per_core();
    if (from.has_cpus_per_node_min()) to.cpus_per_node_min = from.cpus_per_node_min();
    if (from.has_core_spec()) to.core_spec = from.core_spec();
    if (from.has_memory()) SY_CHECK(read_message(from.memory(), to.memory));
    to.tmp_disk = model::MiB{from.tmp_disk()};
    to.overcommit = from.overcommit();
    to.contiguous = from.contiguous();
    to.spread = from.spread();
    to.use_min_nodes = from.use_min_nodes();
    SY_CHECK(read_enum(from.exclusive(), model::Exclusive::Topo, "exclusive", to.exclusive));
    to.oversubscribe = from.oversubscribe();
    if (from.has_distribution()) SY_CHECK(read_message(from.distribution(), to.distribution));
    return {};
}

void encode_gres(const model::JobSpec& from, JobSpec* to) {
    encode_all(from.gres_per_node, to->mutable_gres_per_node());
    encode_all(from.gpus_per_job, to->mutable_gpus_per_job());
    encode_all(from.gpus_per_socket, to->mutable_gpus_per_socket());
    encode_all(from.gpus_per_task, to->mutable_gpus_per_task());
    if (from.cpus_per_gpu) to->set_cpus_per_gpu(*from.cpus_per_gpu);
    if (!from.gpu_bind.empty()) to->set_gpu_bind(from.gpu_bind);
    if (!from.gpu_freq.empty()) to->set_gpu_freq(from.gpu_freq);
}
Status decode_gres(const JobSpec& from, model::JobSpec& to) {
    SY_CHECK(decode_all(from.gres_per_node(), to.gres_per_node));
    SY_CHECK(decode_all(from.gpus_per_job(), to.gpus_per_job));
    SY_CHECK(decode_all(from.gpus_per_socket(), to.gpus_per_socket));
    SY_CHECK(decode_all(from.gpus_per_task(), to.gpus_per_task));
    if (from.has_cpus_per_gpu()) to.cpus_per_gpu = from.cpus_per_gpu();
    to.gpu_bind = from.gpu_bind();
    to.gpu_freq = from.gpu_freq();
    return {};
}

// Where and when.
void encode_place_and_time(const model::JobSpec& from, JobSpec* to) {
    if (!from.constraint.empty()) to->set_constraint(from.constraint);
    if (!from.prefer.empty()) to->set_prefer(from.prefer);
    put_strings(from.required_nodes, to->mutable_required_nodes());
    put_strings(from.excluded_nodes, to->mutable_excluded_nodes());
    if (from.time_limit) encode(*from.time_limit, to->mutable_time_limit());
    if (from.time_min) encode(*from.time_min, to->mutable_time_min());
    if (from.begin) to->set_begin(millis_of(*from.begin));
    if (from.deadline) to->set_deadline(millis_of(*from.deadline));
    to->set_hold(from.hold);
    to->set_nice(from.nice);
    if (from.priority) to->set_priority(*from.priority);
    if (!is_default(from.dependency)) encode(from.dependency, to->mutable_dependency());
    to->set_kill_on_invalid_dependency(from.kill_on_invalid_dependency);
    if (from.array) encode(*from.array, to->mutable_array());
    to->set_immediate(from.immediate);
    to->set_detached(from.detached);
}
Status decode_place_and_time(const JobSpec& from, model::JobSpec& to) {
    to.constraint = from.constraint();
    to.prefer = from.prefer();
    to.required_nodes = strings_of(from.required_nodes());
    to.excluded_nodes = strings_of(from.excluded_nodes());
    if (from.has_time_limit()) SY_CHECK(read_message(from.time_limit(), to.time_limit));
    if (from.has_time_min()) SY_CHECK(read_message(from.time_min(), to.time_min));
    if (from.has_begin()) to.begin = instant_of(from.begin());
    if (from.has_deadline()) to.deadline = instant_of(from.deadline());
    to.hold = from.hold();
    to.nice = from.nice();
    if (from.has_priority()) to.priority = from.priority();
    if (from.has_dependency()) SY_CHECK(read_message(from.dependency(), to.dependency));
    to.kill_on_invalid_dependency = from.kill_on_invalid_dependency();
    if (from.has_array()) SY_CHECK(read_message(from.array(), to.array));
    to.immediate = from.immediate();
    to.detached = from.detached();
    return {};
}

// What happens around it.
void encode_surroundings(const model::JobSpec& from, JobSpec* to) {
    if (from.requeue) to->set_requeue(*from.requeue);
    to->set_no_kill(from.no_kill);
    if (!is_default(from.warn_signal)) encode(from.warn_signal, to->mutable_warn_signal());
    to->set_mail_types(from.mail_types);
    if (!from.mail_user.empty()) to->set_mail_user(from.mail_user);
    to->set_open_mode(number_of(from.open_mode));
    if (!from.std_in.empty()) to->set_std_in(from.std_in);
    if (!from.std_out.empty()) to->set_std_out(from.std_out);
    if (!from.std_err.empty()) to->set_std_err(from.std_err);
    if (!from.work_dir.empty()) to->set_work_dir(from.work_dir);
    if (!from.command.empty()) to->set_command(from.command);
    if (!from.submit_line.empty()) to->set_submit_line(from.submit_line);
    if (!from.submit_host.empty()) to->set_submit_host(from.submit_host);
    to->set_alloc_sid(from.alloc_sid);
    if (!from.cron.empty()) to->set_cron(from.cron);
}
Status decode_surroundings(const JobSpec& from, model::JobSpec& to) {
    if (from.has_requeue()) to.requeue = from.requeue();
    to.no_kill = from.no_kill();
    if (from.has_warn_signal()) SY_CHECK(read_message(from.warn_signal(), to.warn_signal));
    SY_CHECK(read_small(from.mail_types(), "mail_types", to.mail_types));
    to.mail_user = from.mail_user();
    SY_CHECK(read_enum(from.open_mode(), model::OpenMode::Append, "open_mode", to.open_mode));
    to.std_in = from.std_in();
    to.std_out = from.std_out();
    to.std_err = from.std_err();
    to.work_dir = from.work_dir();
    to.command = from.command();
    to.submit_line = from.submit_line();
    to.submit_host = from.submit_host();
    to.alloc_sid = from.alloc_sid();
    to.cron = from.cron();
    return {};
}

}  // namespace

void encode(const model::JobSpec& from, JobSpec* to) {
    encode_identity(from, to);
    encode_size(from, to);
    encode_gres(from, to);
    encode_place_and_time(from, to);
    encode_surroundings(from, to);
}

Status decode_into(const JobSpec& from, model::JobSpec& to) {
    SY_CHECK(decode_identity(from, to));
    SY_CHECK(decode_size(from, to));
    SY_CHECK(decode_gres(from, to));
    SY_CHECK(decode_place_and_time(from, to));
    SY_CHECK(decode_surroundings(from, to));
    return {};
}

void encode(model::JobPayload from, JobPayload* to) {
    to->set_script(std::move(from.script));
    for (std::string& each : from.arguments) to->add_arguments(std::move(each));
    to->mutable_environment()->Reserve(static_cast<int>(from.environment.size()));
    for (std::string& each : from.environment) to->add_environment(std::move(each));
    for (const model::ResourceLimit& each : from.limits) {
        ResourceLimit* limit = to->add_limits();
        limit->set_resource(each.resource);
        limit->set_soft(each.soft);
        limit->set_hard(each.hard);
    }
    to->set_umask(from.umask);
}

model::JobPayload decode(const JobPayload& from) {
    model::JobPayload to;
    to.script = from.script();
    to.arguments = strings_of(from.arguments());
    to.environment = strings_of(from.environment());
    for (const ResourceLimit& each : from.limits())
        to.limits.push_back({each.resource(), each.soft(), each.hard()});
    to.umask = from.umask();
    return to;
}

}  // namespace switchyard::wire
