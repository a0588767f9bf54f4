// windows.hpp: times during which nodes, or some of their cores, belong to the jobs of one
// reservation.
//
// Placement and planner ask one question: may a job of this owner hold this node from then until
// then, and which of its cores? Everybody else keeps out of a window; the owner's jobs begin inside
// one of theirs, and are gone when it ends. Moments at which the answer may change to yes are
// listed, so that a plan can walk along them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "core/sched/room.hpp"
#include "model/index_set.hpp"

namespace switchyard::core::sched {

using WindowOwner = std::uint32_t;  // The number of a reservation.
inline constexpr WindowOwner kNobody = 0;

struct Window {
    WindowOwner owner = kNobody;
    Instant from{}, until{};
    Seconds guests{0};        // Others may hold the node for so long, even now.
    bool maint = false;       // For maintenance: people are told so.
    model::IndexSet cores{};  // Of the node; empty: all.
};

// What the jobs of an owner may do.
struct WindowRights {
    bool confined = true;      // To the nodes and times of its windows.
    bool comes_first = false;  // Windows of others do not keep them out.
};

// On which terms a job may hold a node.
struct Admission {
    Instant until{};           // It is gone by then.
    model::IndexSet only{};    // Of the cores it may have these; empty: all,
    model::IndexSet barred{};  // but none of these.

    bool is_partial() const { return !only.empty() || !barred.empty(); }
    bool allows(std::uint32_t core) const {
        return (only.empty() || only.contains(core)) && !barred.contains(core);
    }
};

class Windows {
  public:
    using Places = std::vector<std::pair<PartitionIndex, std::uint32_t>>;
    using Moments = std::set<std::pair<Instant, std::uint32_t>>;  // (when, place)

    Windows(std::size_t nodes, std::size_t partitions) : nodes_(nodes), moments_(partitions) {}

    void set_rights(WindowOwner owner, WindowRights rights) { rights_[owner] = rights; }
    void add(NodeIndex node, const Places& places, Window window);

    bool empty() const { return moments_count_ == 0; }
    std::size_t node_count() const { return nodes_.size(); }
    std::span<const Window> on(NodeIndex node) const { return nodes_[node]; }
    const Moments& moments(PartitionIndex partition) const { return moments_[partition]; }

    // How a job of `owner` holds it that begins at `from` and would stay until `until`: in a window
    // of its own it is gone when that ends. None: it may not hold the node.
    std::optional<Admission> admit(NodeIndex node, WindowOwner owner, Instant from,
                                   Instant until) const;
    // How it ever may, whatever the time: a node of its own, or any if it is not confined.
    std::optional<Admission> admit_home(NodeIndex node, WindowOwner owner) const;
    // Whether jobs of these two are never given the same cores of the node at the same time,
    // because one of them has some of its own.
    bool keep_apart(NodeIndex node, WindowOwner a, WindowOwner b) const;
    // While a job of `owner` that began at `from` is as welcome if it begins later, up to so far.
    Instant welcome_until(NodeIndex node, WindowOwner owner, Instant from, Seconds limit) const;
    // Whether maintenance keeps it out.
    bool is_maintained(NodeIndex node, WindowOwner owner, Instant from, Instant until) const;

  private:
    WindowRights rights_of(WindowOwner owner) const;
    bool has_cores_of_its_own(NodeIndex node, WindowOwner owner) const;

    std::vector<std::vector<Window>> nodes_;  // By `from`.
    std::vector<Moments> moments_;            // By partition.
    std::size_t moments_count_ = 0;
    std::map<WindowOwner, WindowRights> rights_;
};

}  // namespace switchyard::core::sched
