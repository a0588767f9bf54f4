// packed_set.hpp: an ordered set of small values, kept side by side. A std::set spends some fifty
// bytes on each value beside the value itself; with a million waiting jobs in half a dozen indexes
// that is most of what a job costs.
//
// Values stand sorted in chunks, chunks sorted in a list. Every change moves at most one chunk.
// Unlike a std::set, a change makes all iterators invalid.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace switchyard {

template <class T>
class PackedSet {
  public:
    class const_iterator {
      public:
        using iterator_category = std::bidirectional_iterator_tag;
        using value_type = T;
        using difference_type = std::ptrdiff_t;
        using pointer = const T*;
        using reference = const T&;

        const_iterator() = default;
        reference operator*() const { return set_->chunks_[chunk_].items[place_]; }
        pointer operator->() const { return &**this; }
        const_iterator& operator++() {
            if (++place_ == set_->chunks_[chunk_].items.size()) {
                ++chunk_;
                place_ = 0;
            }
            return *this;
        }
        const_iterator operator++(int) { return std::exchange(*this, std::next(*this)); }
        const_iterator& operator--() {
            if (place_ == 0) place_ = set_->chunks_[--chunk_].items.size();
            --place_;
            return *this;
        }
        const_iterator operator--(int) { return std::exchange(*this, std::prev(*this)); }
        bool operator==(const const_iterator&) const = default;

      private:
        friend class PackedSet;
        const_iterator(const PackedSet* set, std::size_t chunk, std::size_t place)
            : set_(set), chunk_(chunk), place_(place) {}
        const PackedSet* set_ = nullptr;
        std::size_t chunk_ = 0, place_ = 0;
    };
    using iterator = const_iterator;
    using value_type = T;

    bool empty() const { return chunks_.empty(); }
    std::size_t size() const { return size_; }
    const_iterator begin() const { return {this, 0, 0}; }
    const_iterator end() const { return {this, chunks_.size(), 0}; }
    void clear() {
        chunks_.clear();
        size_ = 0;
    }

    // The first that is not less than `value`.
    const_iterator lower_bound(const T& value) const {
        if (chunks_.empty()) return end();
        const std::size_t chunk = chunk_for(value);
        const auto& items = chunks_[chunk].items;
        const auto at = std::lower_bound(items.begin(), items.end(), value);
        return placed(chunk, static_cast<std::size_t>(at - items.begin()));
    }
    // The first that is greater.
    const_iterator upper_bound(const T& value) const {
        const_iterator at = lower_bound(value);
        if (at != end() && !(value < *at)) ++at;
        return at;
    }
    const_iterator find(const T& value) const {
        const const_iterator at = lower_bound(value);
        return at != end() && !(value < *at) ? at : end();
    }
    bool contains(const T& value) const { return find(value) != end(); }

    std::pair<const_iterator, bool> insert(const T& value) {
        if (chunks_.empty()) {
            chunks_.push_back({value, {value}});
            size_ = 1;
            return {begin(), true};
        }
        std::size_t chunk = chunk_for(value);
        const auto& items = chunks_[chunk].items;
        auto place = static_cast<std::size_t>(std::lower_bound(items.begin(), items.end(), value) -
                                              items.begin());
        if (place < items.size() && !(value < items[place])) return {{this, chunk, place}, false};
        if (items.size() == kChunk) make_room(chunk, place);
        Chunk& into = chunks_[chunk];
        into.items.insert(into.items.begin() + static_cast<std::ptrdiff_t>(place), value);
        if (place == 0) into.first = value;
        ++size_;
        return {{this, chunk, place}, true};
    }
    std::size_t erase(const T& value) {
        const const_iterator at = find(value);
        if (at == end()) return 0;
        auto& items = chunks_[at.chunk_].items;
        items.erase(items.begin() + static_cast<std::ptrdiff_t>(at.place_));
        --size_;
        if (!items.empty() && at.place_ == 0) chunks_[at.chunk_].first = items.front();
        shrink(at.chunk_);
        return 1;
    }

  private:
    // About a kilobyte: moving it costs less than to find it.
    static constexpr std::size_t kChunk = std::max<std::size_t>(16, 1024 / sizeof(T));
    struct Chunk {
        T first;  // Beside the others' firsts, so that finding a chunk does not look into each.
        std::vector<T> items;
    };

    std::size_t chunk_for(const T& value) const {
        const auto after = std::upper_bound(
            chunks_.begin(), chunks_.end(), value,
            [](const T& wanted, const Chunk& chunk) { return wanted < chunk.first; });
        return after == chunks_.begin() ? 0 : static_cast<std::size_t>(after - chunks_.begin()) - 1;
    }
    const_iterator placed(std::size_t chunk, std::size_t place) const {
        if (place == chunks_[chunk].items.size()) return {this, chunk + 1, 0};
        return {this, chunk, place};
    }
    // A full chunk becomes two. Behind the last value a new one begins instead: what comes in order
    // fills every chunk to its end.
    void make_room(std::size_t& chunk, std::size_t& place) {
        const bool at_end = chunk + 1 == chunks_.size() && place == kChunk;
        const std::size_t kept = at_end ? kChunk : kChunk / 2;
        auto& items = chunks_[chunk].items;
        std::vector<T> moved(items.begin() + static_cast<std::ptrdiff_t>(kept), items.end());
        items.erase(items.begin() + static_cast<std::ptrdiff_t>(kept), items.end());
        if (!at_end) items.shrink_to_fit();
        const T first = at_end ? items.back() : moved.front();  // Set anew when it is filled.
        chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(chunk) + 1,
                       Chunk{first, std::move(moved)});
        if (place < kept || (place == kept && !at_end)) return;
        ++chunk;
        place -= kept;
    }
    void shrink(std::size_t chunk) {
        auto& items = chunks_[chunk].items;
        if (!items.empty()) {
            if (chunk + 1 == chunks_.size()) return;
            auto& next = chunks_[chunk + 1].items;
            if (items.size() + next.size() > kChunk / 2) return;
            items.insert(items.end(), next.begin(), next.end());
            ++chunk;
        }
        chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(chunk));
    }

    std::vector<Chunk> chunks_;
    std::size_t size_ = 0;
};

}  // namespace switchyard
