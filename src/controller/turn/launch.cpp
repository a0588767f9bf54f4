#include "controller/turn/launch.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "controller/requests/wire_fields.hpp"
#include "wire/codec.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::controller {
namespace {

std::uint32_t index_of(const model::StepLayout& layout, std::string_view node) {
    const auto it = std::ranges::find(layout.nodes, node,
                                      [](const model::StepNode& n) { return n.grant.node; });
    return it != layout.nodes.end() ? static_cast<std::uint32_t>(it - layout.nodes.begin()) : 0;
}

// The batch script: one task on the job's first node, with all the job has there.
model::StepLayout batch_layout(const model::NodeGrant& grant) {
    model::StepLayout layout;
    layout.nodes.push_back({.grant = grant, .tasks = {0}});
    return layout;
}

void set_deadline(std::optional<Instant> deadline, const model::Step* step, wire::LaunchStep& out) {
    if (step != nullptr && step->spec.time_limit && !step->spec.time_limit->unlimited) {
        const Instant own = step->started + step->spec.time_limit->seconds;
        deadline = deadline ? std::min(*deadline, own) : own;
    }
    if (deadline) out.set_deadline(deadline->time_since_epoch().count());
}

void set_user(const model::JobSpec& spec, const Names& names, wire::LaunchStep& out) {
    out.set_uid(spec.uid);
    out.set_gid(spec.gid);
    out.set_user(spec.user);
    for (const std::uint32_t group : names.groups_of(spec.uid, spec.gid)) out.add_groups(group);
}

void set_site(const config::Config& config, wire::LaunchStep& out) {
    out.set_cluster(config.cluster_name);
    out.set_config_path(config.path);
    out.set_kill_wait(config.kill_wait.count());
    out.set_constrain_cores(config.constrain_cores);
    out.set_constrain_memory(config.constrain_memory);
    out.set_constrain_devices(config.constrain_devices);
    out.set_task_prolog(config.task_prolog);
    out.set_task_epilog(config.task_epilog);
    out.set_sample_period(static_cast<std::uint32_t>(config.sample_period.count()));
}

// The allocations of all whom the job's node should know by name: the job's own, first.
std::vector<const model::Allocation*> neighbours(const LaunchContext& context,
                                                 const model::Job& job) {
    std::vector<const model::Allocation*> all{model::allocation_of(job)};
    if (!job.het) return all;
    const model::JobSelector whole{.job = job.het->leader, .elements = {}, .step = {}};
    for (const model::Job* each : context.cluster.find(whole)) {
        const model::Allocation* allocation = model::allocation_of(*each);
        if (each->id != job.id && allocation != nullptr) all.push_back(allocation);
    }
    return all;
}

// The names of nodes resolve inside the job. Components of a heterogeneous job may share some.
void set_hosts(const LaunchContext& context, const model::Job& job, const std::string& node,
               wire::LaunchStep& out) {
    std::set<std::string_view> known;
    for (const model::Allocation* allocation : neighbours(context, job)) {
        for (const model::NodeGrant& other : allocation->nodes) {
            if (!known.insert(other.node).second) continue;
            wire::HostAddress* host = out.add_hosts();
            host->set_name(other.node);
            host->set_address(context.addresses.seen_from(node, other.node));
        }
    }
}

}  // namespace

std::vector<NameKey> names_for_launch(const LaunchContext& context, const model::Job& job) {
    std::vector<std::string> nodes;
    for (const model::Allocation* allocation : neighbours(context, job))
        std::ranges::move(allocation->node_names(), std::back_inserter(nodes));
    std::vector<NameKey> keys = context.addresses.needed(nodes);
    keys.push_back(NameKey::groups_of(job.spec->uid, job.spec->gid));
    return keys;
}

std::string encode_launch(const LaunchContext& context, const model::Job& job, const StepKey& key,
                          const model::Step* step, const std::string& node) {
    const model::Running* run = model::run_of(job);
    SY_ASSERT(run != nullptr);
    wire::LaunchStep out;
    wire::encode_key(key, out.mutable_key());
    out.set_node(node);
    wire::encode(job, out.mutable_job());
    const model::NodeGrant* grant = run->allocation.find(node);
    if (grant != nullptr) wire::encode(*grant, out.mutable_job_grant());
    if (step != nullptr) {
        out.set_node_index(index_of(step->layout, node));
        wire::encode(step->layout, out.mutable_layout());
        wire::encode(step->spec, out.mutable_step_spec());
        out.set_resv_ports(step->resv_ports);
        out.set_started(step->started.time_since_epoch().count());
        if (step->het) wire::encode(*step->het, out.mutable_het());
    } else if (grant != nullptr) {
        wire::encode(batch_layout(*grant), out.mutable_layout());
    }
    set_deadline(context.cluster.deadline_of(job), step, out);
    set_user(*job.spec, context.names, out);
    set_site(context.config, out);
    set_hosts(context, job, node, out);
    if (job.het) {
        const model::JobSelector whole{.job = job.het->leader, .elements = {}, .step = {}};
        for (const model::Job* each : context.cluster.find(whole))
            wire::encode(*each, out.add_het_jobs());
    }
    return out.SerializeAsString();
}

std::string launch_frame(std::string_view launch, BulkKind kind, std::string_view bulk) {
    std::string head;
    append_field_head(head, static_cast<std::uint32_t>(kind), bulk.size());
    std::string frame;
    frame.reserve(launch.size() + head.size() + bulk.size() + 16);
    append_field_head(frame, wire::ControllerToAgent::kLaunchFieldNumber,
                      launch.size() + head.size() + bulk.size());
    frame += launch;
    frame += head;
    frame += bulk;
    return frame;
}

}  // namespace switchyard::controller
