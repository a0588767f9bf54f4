#include "controller/turn/durable_view.hpp"

#include <algorithm>
#include <utility>

#include "model/grant_sums.hpp"

namespace switchyard::controller {
namespace {

constexpr std::size_t kJobsPerRead = 250;
constexpr const char* kMark = "as on disk, which is full: what came after is not yet written";

// Which part of a node a job holds, by its record; null: none.
const model::NodeGrant* held_on(const model::Job& job, const std::string& node) {
    if (std::holds_alternative<model::Ended>(job.phase)) return nullptr;
    const model::Allocation* allocation = model::allocation_of(job);
    if (allocation == nullptr) return nullptr;
    if (const auto* completing = std::get_if<model::Completing>(&job.phase)) {
        const auto& dirty = completing->dirty_nodes;
        if (std::ranges::find(dirty, node) == dirty.end()) return nullptr;
    }
    return allocation->find(node);
}

std::uint32_t& count_of(const model::Job& job, model::Node& node) {
    return std::holds_alternative<model::Completing>(job.phase) ? node.completing_jobs
                                                                : node.running_jobs;
}

void take_from(model::Node& node, const model::Job& job, const model::NodeGrant& grant) {
    node.used_cores.erase(grant.cores);
    node.used_cpus -= std::min(node.used_cpus, grant.cpus);
    node.used_memory -= std::min(node.used_memory, grant.memory);
    model::subtract_grants(node.used_gres, grant.gres);
    std::uint32_t& count = count_of(job, node);
    if (count > 0) --count;
}

void give_to(model::Node& node, const model::Job& job, const model::NodeGrant& grant) {
    node.used_cores.insert(grant.cores);
    node.used_cpus += grant.cpus;
    node.used_memory += grant.memory;
    model::add_grants(node.used_gres, grant.gres);
    ++count_of(job, node);
}

}  // namespace

void DurableView::begin(const std::vector<core::Changes>& sealed) {
    differs_ = true;
    ++round_;
    for (const core::Changes& changes : sealed) add(changes);
}

void DurableView::end() {
    differs_ = false;
    ++round_;
    jobs_.clear();
    reading_.clear();
    nodes_.clear();
    run_waiting();
}

bool DurableView::is_ready() {
    if (!differs_) return true;
    add(unwritten_());
    return reading_.empty();
}

void DurableView::when_ready(std::function<void()> work) {
    if (is_ready()) return work();
    waiting_.push_back(std::move(work));
}

const DurableView::Stored* DurableView::find(JobId job) const {
    const auto it = jobs_.find(job);
    return it != jobs_.end() ? &it->second : nullptr;
}

model::Node DurableView::as_stored(const model::Node& node) const {
    model::Node shown = node;
    const std::string& name = node.config.name;
    for (const auto& [id, stored] : jobs_) {
        const auto now = cluster_.jobs().glance(id);
        if (now != cluster_.jobs().end()) {
            const model::NodeGrant* grant = held_on(now->second, name);
            if (grant != nullptr) take_from(shown, now->second, *grant);
        }
        const model::NodeGrant* grant = stored.job ? held_on(*stored.job, name) : nullptr;
        if (grant != nullptr) give_to(shown, *stored.job, *grant);
    }
    if (shown.mark && nodes_.contains(name)) shown.mark->reason += " (not yet on disk)";
    return shown;
}

void DurableView::add(const core::Changes& changes) {
    std::vector<JobId> fresh;
    const auto note = [&](JobId job) {
        if (!jobs_.contains(job) && reading_.insert(job).second) fresh.push_back(job);
    };
    for (const auto& [job, record] : changes.jobs) note(job);
    for (const auto& [step, record] : changes.steps) note(step.job);
    for (const auto& [node, record] : changes.nodes) nodes_.insert(node);
    for (std::size_t from = 0; from < fresh.size(); from += kJobsPerRead) {
        const auto begin = fresh.begin() + static_cast<std::ptrdiff_t>(from);
        const auto count = std::min(kJobsPerRead, fresh.size() - from);
        read({begin, begin + static_cast<std::ptrdiff_t>(count)});
    }
}

void DurableView::read(std::vector<JobId> jobs) {
    std::ranges::sort(jobs);
    reader_.ask([this, round = round_, jobs = std::move(jobs)](store::Reader& reader) {
        auto chunk = reader.fetch(jobs, true);
        loop_.post([this, round, jobs, chunk = std::move(chunk)]() mutable {
            on_read(round, jobs, std::move(chunk));
        });
    });
}

void DurableView::on_read(std::uint64_t round, const std::vector<JobId>& jobs,
                          Result<store::HistoryChunk> chunk) {
    if (round != round_) return;
    for (const JobId job : jobs) reading_.erase(job);
    if (chunk) {
        for (const JobId job : jobs) jobs_.try_emplace(job);
        for (model::Job& job : chunk->jobs) {
            if (job.system_comment.empty()) job.system_comment = kMark;
            const JobId id = job.id;
            jobs_[id].job = std::move(job);
        }
        for (model::Step& step : chunk->steps) {
            const StepKey key = step.key;
            jobs_[key.job].steps.emplace(key, std::move(step));
        }
    } else {
        log_.error("records cannot be read while the disk is full: {}", chunk.error().message);
        for (const JobId job : jobs) jobs_.try_emplace(job);
    }
    if (reading_.empty()) run_waiting();
}

void DurableView::run_waiting() {
    for (const auto& work : std::exchange(waiting_, {})) work();
}

}  // namespace switchyard::controller
