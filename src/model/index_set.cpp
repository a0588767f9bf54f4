// index_set.cpp: set operations as merges of two sorted lists of intervals. An operation costs time
// in proportion to the intervals, never to the members, so a million-element array is as cheap as
// one core.
#include "model/index_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.hpp"

namespace switchyard::model {
namespace {

using Interval = IndexSet::Interval;
using Intervals = std::vector<Interval>;

// Up to so many intervals are merged one by one; beyond, the two lists are merged as a whole.
constexpr std::size_t kFewIntervals = 4;
constexpr std::size_t kShownBytesMax = 200;  // Of a list that is wrong.

// The first interval that ends at or behind `index`.
template <class Iterator>
Iterator first_reaching(Iterator begin, Iterator end, std::uint32_t index) {
    return std::lower_bound(begin, end, index,
                            [](const Interval& i, std::uint32_t value) { return i.last < value; });
}

// Appends to a list whose intervals come in order of `first`, joining what overlaps or touches.
void append(Intervals& out, Interval next) {
    if (!out.empty() && std::uint64_t{out.back().last} + 1 >= next.first) {
        out.back().last = std::max(out.back().last, next.last);
    } else {
        out.push_back(next);
    }
}

std::optional<std::uint32_t> parse_index(std::string_view text) {
    const auto value = parse_uint(text);
    if (!value || *value > UINT32_MAX) return std::nullopt;
    return static_cast<std::uint32_t>(*value);
}

// One piece between commas: "7", "1-4", "0-8:2". False if malformed or too much.
bool parse_piece(std::string_view piece, std::size_t intervals_max, Intervals& out) {
    std::uint32_t step = 1;
    const std::size_t colon = piece.find(':');
    if (colon != std::string_view::npos) {
        const auto given = parse_index(piece.substr(colon + 1));
        if (!given || *given == 0) return false;
        step = *given;
        piece = piece.substr(0, colon);
    }
    const std::size_t dash = piece.find('-');
    const auto first = parse_index(piece.substr(0, dash));
    if (!first) return false;
    if (dash == std::string_view::npos) {
        if (colon != std::string_view::npos) return false;
        out.push_back({*first, *first});
        return true;
    }
    const auto last = parse_index(piece.substr(dash + 1));
    if (!last || *last < *first) return false;
    if (step == 1) {
        out.push_back({*first, *last});
        return true;
    }
    const std::uint64_t members = (std::uint64_t{*last} - *first) / step + 1;
    if (out.size() + members > intervals_max) return false;
    for (std::uint64_t value = *first; value <= *last; value += step) {
        const auto member = static_cast<std::uint32_t>(value);
        out.push_back({member, member});
    }
    return true;
}

}  // namespace

IndexSet IndexSet::range(std::uint32_t first, std::uint32_t last) {
    SY_ASSERT(first <= last);
    IndexSet set;
    set.intervals_.push_back({first, last});
    return set;
}

IndexSet IndexSet::from_intervals(std::vector<Interval> intervals) {
    const auto by_first = [](const Interval& a, const Interval& b) { return a.first < b.first; };
    if (!std::ranges::is_sorted(intervals, by_first)) std::ranges::sort(intervals, by_first);
    IndexSet set;
    set.intervals_.reserve(intervals.size());
    for (const Interval& interval : intervals) {
        SY_ASSERT(interval.first <= interval.last);
        append(set.intervals_, interval);
    }
    return set;
}

std::uint64_t IndexSet::size() const {
    std::uint64_t members = 0;
    for (const Interval& i : intervals_) members += std::uint64_t{i.last} - i.first + 1;
    return members;
}

bool IndexSet::contains(std::uint32_t index) const {
    const auto at = first_reaching(intervals_.begin(), intervals_.end(), index);
    return at != intervals_.end() && at->first <= index;
}

std::uint32_t IndexSet::front() const {
    SY_ASSERT(!intervals_.empty());
    return intervals_.front().first;
}

std::uint32_t IndexSet::back() const {
    SY_ASSERT(!intervals_.empty());
    return intervals_.back().last;
}

void IndexSet::insert(std::uint32_t index) { insert(Interval{index, index}); }

void IndexSet::insert(Interval interval) {
    SY_ASSERT(interval.first <= interval.last);
    // From the first that overlaps or touches on the left ...
    const std::uint32_t left = interval.first == 0 ? 0 : interval.first - 1;
    const auto begin = first_reaching(intervals_.begin(), intervals_.end(), left);
    // ... to behind the last that overlaps or touches on the right.
    auto end = begin;
    while (end != intervals_.end() && end->first <= std::uint64_t{interval.last} + 1) {
        interval.first = std::min(interval.first, end->first);
        interval.last = std::max(interval.last, end->last);
        ++end;
    }
    if (begin == end) {
        intervals_.insert(begin, interval);
        return;
    }
    *begin = interval;
    intervals_.erase(begin + 1, end);
}

void IndexSet::erase(std::uint32_t index) { erase(Interval{index, index}); }

void IndexSet::erase(Interval interval) {
    SY_ASSERT(interval.first <= interval.last);
    const auto begin = first_reaching(intervals_.begin(), intervals_.end(), interval.first);
    auto end = begin;
    while (end != intervals_.end() && end->first <= interval.last) ++end;
    if (begin == end) return;
    // What sticks out of the hole on either side stays.
    const Interval before{begin->first, interval.first - 1};
    const Interval behind{interval.last + 1, (end - 1)->last};
    const bool keep_before = begin->first < interval.first;
    const bool keep_behind = behind.last > interval.last;
    if (keep_before && keep_behind && end - begin == 1) {  // One interval splits in two.
        *begin = before;
        intervals_.insert(begin + 1, behind);
        return;
    }
    auto at = begin;
    if (keep_before) *at++ = before;
    if (keep_behind) *at++ = behind;
    intervals_.erase(at, end);
}

void IndexSet::insert(const IndexSet& other) {
    if (&other == this) return;
    if (other.intervals_.size() <= kFewIntervals) {
        for (const Interval& interval : other.intervals_) insert(interval);
        return;
    }
    Intervals merged;
    merged.reserve(intervals_.size() + other.intervals_.size());
    auto a = intervals_.begin();
    auto b = other.intervals_.begin();
    while (a != intervals_.end() || b != other.intervals_.end()) {
        const bool take_a =
            b == other.intervals_.end() || (a != intervals_.end() && a->first <= b->first);
        append(merged, take_a ? *a++ : *b++);
    }
    intervals_ = std::move(merged);
}

void IndexSet::erase(const IndexSet& other) {
    if (&other == this) return intervals_.clear();
    if (other.intervals_.size() <= kFewIntervals) {
        for (const Interval& interval : other.intervals_) erase(interval);
        return;
    }
    Intervals rest;
    rest.reserve(intervals_.size() + other.intervals_.size());
    auto hole = other.intervals_.begin();
    for (Interval mine : intervals_) {
        while (hole != other.intervals_.end() && hole->last < mine.first) ++hole;
        bool used_up = false;
        for (auto at = hole; at != other.intervals_.end() && at->first <= mine.last; ++at) {
            if (at->first > mine.first) rest.push_back({mine.first, at->first - 1});
            used_up = at->last >= mine.last;
            if (used_up) break;
            mine.first = at->last + 1;
            hole = at;
        }
        if (!used_up) rest.push_back(mine);
    }
    intervals_ = std::move(rest);
}

IndexSet IndexSet::intersection(const IndexSet& other) const {
    IndexSet common;
    auto a = intervals_.begin();
    auto b = other.intervals_.begin();
    while (a != intervals_.end() && b != other.intervals_.end()) {
        const std::uint32_t first = std::max(a->first, b->first);
        const std::uint32_t last = std::min(a->last, b->last);
        if (first <= last) common.intervals_.push_back({first, last});
        if (a->last < b->last) {
            ++a;
        } else {
            ++b;
        }
    }
    return common;
}

bool IndexSet::intersects(const IndexSet& other) const {
    auto a = intervals_.begin();
    auto b = other.intervals_.begin();
    while (a != intervals_.end() && b != other.intervals_.end()) {
        if (a->last < b->first) {
            ++a;
        } else if (b->last < a->first) {
            ++b;
        } else {
            return true;
        }
    }
    return false;
}

IndexSet IndexSet::first(std::uint64_t count) const {
    IndexSet smallest;
    for (const Interval& i : intervals_) {
        if (count == 0) break;
        const std::uint64_t members = std::uint64_t{i.last} - i.first + 1;
        const std::uint64_t taken = std::min(members, count);
        smallest.intervals_.push_back({i.first, static_cast<std::uint32_t>(i.first + (taken - 1))});
        count -= taken;
    }
    return smallest;
}

std::vector<std::uint32_t> IndexSet::to_vector() const {
    std::vector<std::uint32_t> members;
    members.reserve(size());
    for (const Interval& i : intervals_) {
        for (std::uint64_t value = i.first; value <= i.last; ++value) {
            members.push_back(static_cast<std::uint32_t>(value));
        }
    }
    return members;
}

Result<IndexSet> parse_index_set(std::string_view text, std::size_t intervals_max) {
    Intervals intervals;
    for (std::string_view piece : split(text, ',')) {
        if (!parse_piece(piece, intervals_max, intervals) || intervals.size() > intervals_max) {
            return fail(Errc::InvalidArgument,
                        fmt::format("Invalid index list: {}", text.substr(0, kShownBytesMax)));
        }
    }
    return IndexSet::from_intervals(std::move(intervals));
}

std::string to_string(const IndexSet& set) {
    fmt::memory_buffer out;
    for (const Interval& i : set.intervals()) {
        if (out.size() != 0) out.push_back(',');
        fmt::format_to(std::back_inserter(out), "{}", i.first);
        if (i.last != i.first) fmt::format_to(std::back_inserter(out), "-{}", i.last);
    }
    return fmt::to_string(out);
}

}  // namespace switchyard::model
