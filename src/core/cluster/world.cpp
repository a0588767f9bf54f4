// world.cpp: see world.hpp.

#include "core/cluster/world.hpp"

namespace switchyard::core {

void World::reply(Token token, ReplyBody body, bool last) {
    if (token.value == 0) return;
    emit(effect::Reply{token, std::move(body), last});
}

void World::refuse(Token token, Errc code, std::vector<std::string> notes) {
    reply(token, reply::Failed{Error{code, std::string(errc_text(code))}, std::move(notes)});
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

bool World::is_operator(const Caller& caller) const {
    return caller.uid == 0 || caller.uid == settings.operator_uid;
}

bool World::may_touch(const Caller& caller, const Job& job) const {
    return is_operator(caller) || caller.uid == job.spec->uid;
}

}  // namespace switchyard::core
