#include "controller/queries/filters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/limits.hpp"
#include "wire/codec.hpp"

namespace switchyard::controller {
namespace {

Failure too_many(std::string_view what, std::size_t count, std::size_t most) {
    return fail(
        Errc::InvalidArgument,
        fmt::format("the request has too many {}: {}, at most {} are allowed", what, count, most));
}

Status read_words(const google::protobuf::RepeatedPtrField<std::string>& from,
                  std::string_view what, std::vector<std::string>& to,
                  std::size_t most = limits::kFilterWordsMax) {
    const auto count = static_cast<std::size_t>(from.size());
    if (count > most) return too_many(what, count, most);
    to.assign(from.begin(), from.end());
    return {};
}

// Selectors that say the same are looked up once: each may mean all elements of an array.
void drop_repeats(std::vector<model::JobSelector>& selectors) {
    std::set<std::tuple<JobId, std::optional<StepId>, bool, bool>> seen;
    std::erase_if(selectors, [&](const model::JobSelector& each) {
        if (each.elements) return false;
        return !seen.emplace(each.job, each.step, each.all_elements, each.component).second;
    });
}

}  // namespace

Result<std::vector<model::JobSelector>> to_selectors(
    const google::protobuf::RepeatedPtrField<wire::JobSelector>& messages) {
    const auto count = static_cast<std::size_t>(messages.size());
    if (count > limits::kSelectorsMax) return too_many("jobs", count, limits::kSelectorsMax);
    std::vector<model::JobSelector> out;
    std::size_t intervals = 0, with_elements = 0;
    for (const wire::JobSelector& message : messages) {
        SY_TRY(model::JobSelector selector, wire::decode(message));
        if (selector.elements) {
            ++with_elements;
            intervals += selector.elements->intervals().size();
        }
        if (intervals > limits::kSelectorIntervalsMax)
            return too_many("elements of arrays", intervals, limits::kSelectorIntervalsMax);
        if (with_elements > limits::kElementSelectorsMax) {
            return too_many("lists of elements of arrays", with_elements,
                            limits::kElementSelectorsMax);
        }
        out.push_back(std::move(selector));
    }
    if (count > limits::kElementSelectorsMax) drop_repeats(out);
    return out;
}

Result<model::JobFilter> to_filter(const wire::JobFilter& message) {
    model::JobFilter filter;
    SY_TRY(filter.jobs, to_selectors(message.jobs()));
    const auto uids = static_cast<std::size_t>(message.uids().size());
    if (uids > limits::kFilterWordsMax) return too_many("users", uids, limits::kFilterWordsMax);
    filter.uids.assign(message.uids().begin(), message.uids().end());
    SY_CHECK(read_words(message.names(), "names", filter.names));
    SY_CHECK(read_words(message.partitions(), "partitions", filter.partitions));
    SY_CHECK(read_words(message.accounts(), "accounts", filter.accounts));
    SY_CHECK(read_words(message.qos(), "QOS", filter.qos));
    SY_CHECK(read_words(message.nodes(), "nodes", filter.nodes, limits::kNodesMax));
    SY_CHECK(read_words(message.reservations(), "reservations", filter.reservations));
    SY_CHECK(read_words(message.wckeys(), "wckeys", filter.wckeys));
    const auto states = static_cast<std::size_t>(message.states().size());
    if (states > limits::kFilterWordsMax)
        return too_many("states", states, limits::kFilterWordsMax);
    for (const std::uint32_t state : message.states()) {
        if (state > static_cast<std::uint32_t>(model::JobState::ResvDelHold)) {
            return fail(Errc::InvalidArgument, "unknown job state in the request");
        }
        filter.states.push_back(static_cast<model::JobState>(state));
    }
    model::sort_lists(filter);
    return filter;
}

bool JobMatcher::operator()(const model::Job& job) const {
    if (!all_states && filter.states.empty() && std::holds_alternative<model::Ended>(job.phase))
        return false;
    return model::matches(filter, job);
}

}  // namespace switchyard::controller
