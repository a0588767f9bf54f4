// samples.hpp: jobs, nodes and partitions for the tests of this folder: a small busy cluster.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/job.hpp"
#include "model/node.hpp"
#include "model/partition.hpp"
#include "model/step.hpp"

namespace switchyard::view::samples {

// 2026-11-15T01:44:00 UTC; tests set TZ to UTC.
inline Instant moment(int seconds) { return from_unix_seconds(1794707040 + seconds); }

inline model::JobSpec spec(std::string name) {
    model::JobSpec made;
    made.name = std::move(name);
    made.uid = made.gid = 2001;
    made.user = made.group = "alice";
    made.account = "test";
    made.qos = "normal";
    made.partitions = {"debug"};
    made.memory = {model::MemoryRequest::Per::Cpu, {100}};
    made.time_limit = model::TimeLimit::infinite();
    made.work_dir = "/home/alice";
    made.submit_host = "login";
    made.alloc_sid = 77;
    return made;
}

inline model::Job job(std::uint32_t id, model::JobSpec of, model::JobPhase phase) {
    model::Job made;
    made.id = JobId{id};
    made.partition = of.partitions.front();
    made.spec = std::make_shared<const model::JobSpec>(std::move(of));
    made.priority = 6140;
    made.submitted = moment(17);
    made.last_evaluated = moment(17);
    made.scheduler = "Main";
    made.phase = std::move(phase);
    return made;
}

inline model::Pending pending(model::Reason reason) {
    model::Pending phase;
    phase.reason = reason;
    phase.eligible_at = moment(17);
    return phase;
}

inline model::NodeGrant grant(std::string node, std::uint32_t cpus) {
    model::NodeGrant made;
    made.node = std::move(node);
    made.cores = model::IndexSet::range(0, cpus - 1);
    made.cpus = cpus;
    made.tasks = cpus;
    made.memory = {100ULL * cpus};
    return made;
}

inline model::Running running(std::vector<model::NodeGrant> grants, int start, int minutes) {
    model::Running phase;
    phase.allocation.nodes = std::move(grants);
    phase.started = moment(start);
    if (minutes > 0) phase.ends_by = phase.started + Minutes{minutes};
    return phase;
}

inline model::TimeLimit minutes(int count) { return {Minutes{count}, false}; }

inline model::Node node(std::string name) {
    model::Node made;
    made.config.name = std::move(name);
    made.config.host_name = "vm";
    made.config.address = "127.0.0.1";
    made.config.cpus = 8;
    made.config.memory = {4000};
    model::GresInventory gpu, shard;
    gpu.name = "gpu";
    shard.name = "shard";
    gpu.type = shard.type = "rtx4000";
    gpu.count = 2;
    shard.count = 128;
    gpu.devices = shard.devices = model::IndexSet::range(0, 1);
    made.config.gres = {gpu, shard};
    model::NodeFacts facts;
    facts.host_name = "vm";
    facts.address = "127.0.0.1";
    facts.arch = "x86_64";
    facts.os = "Linux 6.18";
    facts.version = "26.05.0";
    facts.free_memory = {22000};
    facts.cpu_load = 1.27;
    facts.booted = moment(-3000);
    facts.agent_started = moment(-800);
    made.facts = facts;
    made.responding = true;
    made.partitions = {"debug", "gpu"};
    return made;
}

inline std::vector<model::Partition> partitions() {
    model::Partition debug, gpu;
    debug.name = "debug";
    debug.is_default = true;
    gpu.name = "gpu";
    gpu.max_time = {std::chrono::days{1}, false};
    gpu.default_time = minutes(60);
    debug.nodes = gpu.nodes = {"n1", "n2", "n3", "n4"};
    return {debug, gpu};
}

// n1 partly used, n2 draining, n3 down, n4 idle.
inline std::vector<model::Node> nodes() {
    std::vector<model::Node> made{node("n1"), node("n2"), node("n3"), node("n4")};
    made[0].used_cpus = 5;
    made[0].used_memory = {500};
    made[0].running_jobs = 2;
    made[1].used_cpus = 1;
    made[1].running_jobs = 1;
    made[1].drain = true;
    made[1].mark = model::NodeMark{"maintenance", "root", moment(40)};
    made[2].down = true;
    made[2].mark = model::NodeMark{"dead", "root", moment(41)};
    return made;
}

}  // namespace switchyard::view::samples
