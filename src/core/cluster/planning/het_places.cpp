// het_places.cpp: where the components of a heterogeneous job fit, each beside the others: now, or
// if nobody held anything.

#include "core/cluster/planning/het_places.hpp"

#include <algorithm>
#include <set>

#include "core/cluster/partition_limits.hpp"
#include "core/sched/idle.hpp"
#include "core/sched/placement.hpp"
#include "model/hostlist.hpp"

namespace switchyard::core {

using model::Reason;

namespace {

// What a node must have to serve one of two components at least.
sched::Shape either(const sched::Shape& a, const sched::Shape& b, std::uint32_t cpus) {
    if (a == b) return a;
    sched::Shape least;
    least.cpus_per_task = cpus;
    least.share = std::max(a.share, b.share);
    least.only_job = a.only_job;
    least.owners = sched::owners_of(a);
    for (const sched::WindowOwner owner : sched::owners_of(b)) {
        if (std::ranges::find(least.owners, owner) == least.owners.end())
            least.owners.push_back(owner);
    }
    return least;
}

sched::Holding holding_of(const Component& component, sched::PartitionIndex partition,
                          const model::NodeGrant& grant, Instant until, std::uint32_t uid) {
    const sched::Shape& shape = component.in(partition)->demand.shape;
    sched::Holding holding;
    holding.job = component.job;
    holding.until = until;
    holding.uid = uid;
    holding.grant = grant;
    holding.whole = shape.whole_nodes;
    holding.share = shape.share;
    holding.single_user = shape.single_user;
    return holding;
}

// Some want cards whole, some shares of them, or shares of two kinds. A card is given out in one
// way only, so it is not enough to count.
bool mix_cards(const std::vector<Component>& components) {
    std::set<std::string> kinds;
    for (const Component& component : components) {
        for (const Component::Where& where : component.where) {
            const sched::Shape& shape = where.demand.shape;
            for (const auto* needs : {&shape.gres_per_node, &shape.gres_per_task,
                                      &shape.gres_per_socket, &shape.gpus_per_job}) {
                for (const sched::GresNeed& need : *needs) kinds.insert(need.name);
            }
        }
    }
    return kinds.contains("gpu") + kinds.contains("shard") + kinds.contains("mps") > 1;
}

// Whether all of them would be given what they need on nodes that are idle.
bool fit_by_piece(sched::NodePool& idle, const std::vector<Component>& components) {
    std::vector<std::pair<sched::NodeIndex, JobId>> given;
    const auto give = [&](Component one, std::size_t number) {
        one.job = JobId{static_cast<std::uint32_t>(number) + 1};
        for (const Component::Where& where : one.where) {
            const auto picks =
                sched::place(idle, where.partition, where.demand, {.past_windows = true});
            const auto allocation =
                picks ? sched::make_allocation(idle, where.demand, *picks) : std::nullopt;
            if (!allocation) continue;
            for (const model::NodeGrant& grant : allocation->nodes) {
                given.emplace_back(*idle.find(grant.node), one.job);
                idle.claim(given.back().first,
                           holding_of(one, where.partition, grant, Instant::max(), 0));
            }
            return true;
        }
        return false;
    };
    return in_some_order(components.size(), [&](const std::vector<std::size_t>& order) {
        std::optional<std::size_t> failed;
        for (std::size_t i = 0; i < order.size() && !failed; ++i) {
            if (!give(components[order[i]], order[i])) failed = i;
        }
        for (const auto& [node, job] : given) idle.release(node, job);
        given.clear();
        return failed;
    });
}

}  // namespace

// Where a specification may run: partitions that are there and could hold it.
Component HetPlaces::component_of(const JobSpec& spec) const {
    Component component;
    component.limit = limit_of(spec);
    for (const std::string& name : spec.partitions) {
        const auto index = world_.partition_index(name);
        if (!index || component.in(*index) != nullptr) continue;
        const model::Partition& partition = world_.partitions[*index];
        const bool up = partition.state == model::PartitionState::Up ||
                        partition.state == model::PartitionState::Drain;
        if (!up || limit_problem(world_, spec, partition)) continue;
        component.where.push_back(
            {*index, sched::make_demand(calendar_.shape_for(spec, *index), world_.pool), {}});
    }
    return component;
}

// All have one place in line, the last that any of their partitions gives them: with one each, two
// such jobs could each be ahead of a part of the other, and neither would ever begin.
std::vector<Component> HetPlaces::components_to_place(const Job& leader) const {
    std::vector<Component> components;
    std::optional<sched::QueueKey> last;
    for (const JobId id : hets_.live_components(leader)) {
        Component component = component_of(*world_.jobs.at(id).spec);
        component.job = id;
        for (const Component::Where& where : component.where) {
            const sched::QueueKey key = key_of(leader, world_.partitions[where.partition]);
            if (!last || *last < key) last = key;
        }
        components.push_back(std::move(component));
    }
    for (Component& component : components) {
        for (Component::Where& where : component.where) where.key = *last;
    }
    return components;
}

// The leader stands in every partition that one of them may use, so that room for any of them
// wakes it.
HetPlaces::Stands HetPlaces::stands_of(const Job& leader) const {
    Stands stands;
    for (const Component& component : components_to_place(leader)) {
        for (const Component::Where& where : component.where) {
            sched::Shape shape = where.demand.shape;
            shape.only_job = leader.id.value;
            const auto [stand, fresh] =
                stands.try_emplace(where.partition, std::move(shape), component.limit);
            if (fresh) continue;
            auto& [known, limit] = stand->second;
            limit = std::min(limit, component.limit);
            const std::uint32_t cpus = sched::make_demand(known, world_.pool).cpus_min;
            sched::Shape other = where.demand.shape;
            other.only_job = leader.id.value;
            known = either(known, other, std::min(cpus, where.demand.cpus_min));
        }
    }
    return stands;
}

// Where one component fits now, beside those that are already claimed for.
std::optional<PartitionIndex> HetPlaces::place_component(const Component& component,
                                                         model::Allocation& allocation,
                                                         Terms& terms) const {
    const Job& job = world_.jobs.at(component.job);
    sched::View view{
        .start = world_.now, .end = world_.now + component.limit, .uid = job.spec->uid};
    for (const Component::Where& where : component.where) {
        view.key = where.key;
        for (const sched::WindowOwner owner : sched::owners_of(where.demand.shape)) {
            view.owner = owner;
            const auto picks = sched::place(world_.pool, where.partition, where.demand, view);
            const auto licenses = picks ? licenses_.find(job, owner) : std::nullopt;
            if (!licenses) continue;
            if (auto found = sched::make_allocation(world_.pool, where.demand, *picks, view)) {
                allocation = *std::move(found);
                terms = {owner, *licenses};
                return where.partition;
            }
        }
    }
    return std::nullopt;
}

// As if it held its place.
void HetPlaces::try_out(const Component& component, const FoundPlace& place) {
    const Instant until = world_.now + component.limit;
    licenses_.lend(place.job, place.terms.licenses, until, place.terms.owner);
    for (const model::NodeGrant& grant : place.allocation.nodes) {
        const std::uint32_t uid = world_.jobs.at(place.job).spec->uid;
        world_.pool.claim(*world_.node_index(grant.node),
                          holding_of(component, place.partition, grant, until, uid));
    }
}

// Where all of them fit now.
std::optional<std::vector<FoundPlace>> HetPlaces::find_places(const Job& leader) {
    const std::vector<Component> components = components_to_place(leader);
    std::vector<FoundPlace> found;
    const auto attempt = [&](const std::vector<std::size_t>& order) {
        std::optional<std::size_t> failed;
        found.clear();
        for (std::size_t i = 0; i < order.size() && !failed; ++i) {
            const Component& component = components[order[i]];
            FoundPlace place{component.job, 0, {}, {}};
            if (const auto where = place_component(component, place.allocation, place.terms)) {
                place.partition = *where;
                try_out(component, place);
                found.push_back(std::move(place));
            } else {
                failed = i;
            }
        }
        // Only a trial: what starts claims for itself.
        for (const FoundPlace& each : found) {
            licenses_.take_back(each.job);
            for (const model::NodeGrant& grant : each.allocation.nodes)
                world_.pool.release(*world_.node_index(grant.node), each.job);
        }
        return failed;
    };
    if (!in_some_order(components.size(), attempt)) return std::nullopt;
    std::ranges::sort(found, {}, &FoundPlace::job);
    return found;
}

// Whether all of them would find a place if nobody held anything.
bool HetPlaces::could_hold(const std::vector<Component>& components, sched::Nodes which) const {
    sched::Taken taken;
    const auto place_idle = [&](const Component& component) {
        sched::View view{.empty = true, .every_node = which == sched::Nodes::All, .taken = &taken};
        for (const Component::Where& where : component.where) {
            for (const sched::WindowOwner owner : sched::owners_of(where.demand.shape)) {
                view.owner = owner;
                const auto picks = sched::place(world_.pool, where.partition, where.demand, view);
                if (!picks) continue;
                for (const sched::Pick& pick : *picks) {
                    auto& [room, whole] = taken[pick.node];
                    const sched::Room more = sched::planned_room(world_.pool, where.demand, pick);
                    sched::add(room, more);
                    room.holders += more.holders;
                    whole |= where.demand.shape.whole_nodes;
                }
                return true;
            }
        }
        return false;
    };
    const auto attempt = [&](const std::vector<std::size_t>& order) {
        taken.clear();
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (!place_idle(components[order[i]])) return std::optional(i);
        }
        return std::optional<std::size_t>();
    };
    if (!in_some_order(components.size(), attempt)) return false;
    if (!mix_cards(components)) return true;
    sched::NodePool idle;
    idle.reset(world_.nodes, world_.settings.unit);
    idle.set_partitions(world_.partitions);
    for (NodeIndex node = 0; node < world_.nodes.size(); ++node) {
        const bool usable = which == sched::Nodes::All || world_.pool.node(node).usable;
        idle.set_open(node, usable, usable);
    }
    return fit_by_piece(idle, components);
}

// Each of them could be held alone, or waits for its partition to be changed; what all of them
// together can never have is refused.
Status HetPlaces::check(const std::vector<JobSpec>& specs) const {
    if (!licenses_.suffice(specs)) return fail(Errc::InvalidLicenses);
    std::vector<Component> components;
    for (const JobSpec& spec : specs) {
        components.push_back(component_of(spec));
        if (components.back().where.empty()) return {};
        for (const Component::Where& where : components.back().where) {
            if (sched::has_undescribed(world_.pool, where.partition)) return {};
        }
    }
    if (could_hold(components, sched::Nodes::All)) return {};
    return fail(Errc::NodeConfigUnavailable);
}

// Why all of them could not start even if every usable node were idle; none: they could.
std::optional<std::pair<Reason, std::string>> HetPlaces::no_hope(const Job& leader) const {
    const std::vector<Component> components = components_to_place(leader);
    if (could_hold(components, sched::Nodes::Usable)) return std::nullopt;
    std::vector<std::string> missing;
    for (const Component& component : components) {
        if (component.where.empty()) continue;
        const auto& [partition, demand, key] = component.where.front();
        const auto holds = [&](sched::WindowOwner owner) {
            return sched::could_hold(world_.pool, partition, demand, sched::Nodes::Usable, owner);
        };
        const std::vector<sched::WindowOwner> owners = sched::owners_of(demand.shape);
        if (owners.back() != sched::kNobody && std::ranges::none_of(owners, holds) &&
            holds(sched::kNobody))
            return std::pair(Reason::Reservation, std::string());
        for (const NodeIndex node : demand.required) {
            if (!world_.pool.node(node).usable) missing.push_back(world_.pool.node(node).name);
        }
    }
    if (!missing.empty()) {
        return std::pair(Reason::ReqNodeNotAvail,
                         "ReqNodeNotAvail, UnavailableNodes:" + model::compress_hostlist(missing));
    }
    const bool ever = could_hold(components, sched::Nodes::All);
    return std::pair(ever ? Reason::NodeDown : Reason::PartitionNodeLimit, std::string());
}

}  // namespace switchyard::core
