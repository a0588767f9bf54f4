// node_entry.hpp: what a node is and who holds which part of it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "core/sched/room.hpp"
#include "model/resources.hpp"

namespace switchyard::core::sched {

// One name and type of generic resource.
struct GresPool {
    std::string name, type;
    std::uint64_t total = 0;
    bool shared = false;  // shard, mps: shares of cards.
    std::uint64_t per_device = 0;
    std::vector<std::uint32_t> devices;  // Positions in NodeEntry::devices; empty: only counted.
    std::uint64_t counted_used = 0;
};

// A card is either one job's, or shared out under one name, or free.
struct Device {
    std::uint32_t index = 0;
    bool taken = false;
    std::string shared_as;  // "shard" while shares of it are held.
    std::uint64_t shares_used = 0;
    model::IndexSet cores;  // Near it; empty: all, or not known.
    model::IndexSet links;  // Indexes of the cards it is connected to.
};

struct Holding {
    JobId job;
    Instant until{};
    std::uint32_t uid = 0;
    bool whole = false, single_user = false;
    std::uint32_t share = 1;
    Room room;  // `holders` is 1.
    model::NodeGrant grant;
    model::IndexSet lent;  // Cores of its own that others may have while it is suspended.
};
// What a job that is suspended for another still holds.
Holding without_cores(Holding holding);

struct NodeEntry {
    std::string name;
    std::uint32_t cores = 0, threads = 1, sockets = 1;
    std::uint64_t memory = 0, tmp_disk = 0;
    std::uint32_t weight = 1;
    std::vector<std::string> features;
    std::vector<GresPool> pools;
    std::vector<Device> devices;

    bool open = false;    // May be given to new jobs.
    bool usable = false;  // Will be again without anyone's doing: up, not drained.
    std::vector<std::uint16_t> core_holders;
    std::vector<bool> core_alone;  // Held by a job that shares with nobody.
    Room free;
    std::vector<Holding> holdings;  // By `until`.
    // The cores that are free when each of them has left; for a quick look.
    std::vector<std::pair<Instant, std::uint32_t>> cores_free_from;
    std::uint32_t version = 0;  // Grows with every change of holdings.
    std::uint32_t kind = 0;     // Nodes of the same kind are alike when they are idle.
    std::vector<std::pair<PartitionIndex, std::uint32_t>>
        places;  // In the order of each partition.

    bool held_whole() const;
    std::uint32_t cpus() const { return cores * threads; }
    // No more cores are free at a moment to come.
    std::uint32_t cores_at(Instant at) const {
        std::uint32_t count = free.cores;
        for (const auto& [from, with_these] : cores_free_from) {
            if (from > at) break;
            count = with_these;
        }
        return count;
    }
};

}  // namespace switchyard::core::sched
