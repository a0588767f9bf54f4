// world.cpp: see world.hpp.

#include "core/cluster/world.hpp"

#include <memory>

namespace switchyard::core {

void World::reply(Token token, ReplyBody body, bool last) {
    if (token.value == 0) return;
    emit(effect::Reply{token, std::move(body), last});
}

void World::refuse(Token token, Errc code, std::vector<std::string> notes) {
    reply(token, reply::Failed{Error{code, std::string(errc_text(code))}, std::move(notes)});
}

JobId World::take_job_id() {
    const JobId id = next_job_id;
    next_job_id = JobId{id.value + 1};
    changes.next_job_id = next_job_id;
    return id;
}

void World::replace_spec(Job& job, const JobSpec& spec) {
    job.spec = std::make_shared<const JobSpec>(spec);
    touch(job);
}

std::optional<PartitionIndex> World::partition_index(std::string_view name) const {
    for (PartitionIndex i = 0; i < partitions.size(); ++i) {
        if (partitions[i].name == name) return i;
    }
    return std::nullopt;
}

const model::Partition* World::partition_of(const Job& job) const {
    const auto index = partition_index(job.partition);
    return index ? &partitions[*index] : nullptr;
}

std::optional<Instant> World::deadline_of(const Job& job) const {
    const model::Running* run = model::run_of(job);
    if (run == nullptr || !run->ends_by) return std::nullopt;
    const model::Partition* partition = partition_of(job);
    std::uint32_t over = settings.over_time_limit.value_or(0);
    if (partition != nullptr && partition->over_time_limit) over = *partition->over_time_limit;
    return *run->ends_by + Minutes{over};
}

model::Rights World::rights_of(const Caller& caller) const {
    return model::Rights::of(caller, settings.operator_uid);
}

}  // namespace switchyard::core
