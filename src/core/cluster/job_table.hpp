// job_table.hpp: all jobs, by id. A job that is looked at is open: a model::Job like any other. Of
// those that were not looked at for longest, all but a few are folded into some hundred bytes
// (model/job_folding.hpp), and open again when somebody asks for them. So a million jobs that wait
// cost what they say, and not the fields that they leave out.
//
// What at() and find() give stays where it is until fold_idle(), which the Cluster calls before
// each event: a reference lives as long as the present step, and after it until the next.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/packed_set.hpp"
#include "model/job.hpp"
#include "model/job_folding.hpp"

namespace switchyard::core {

// How a Cluster keeps its jobs. Without a folding all of them stay open.
struct JobKeeping {
    std::shared_ptr<const model::JobFolding> folding{};
    std::size_t open_max = 1024;
};

class JobTable {
  public:
    struct Entry {
        JobId first;
        const model::Job& second;
    };
    // Walks in the order of ids. What it shows of a folded job is a copy of its own, which lives
    // until it moves on: a walk over all jobs opens none.
    class const_iterator;

    JobTable();
    explicit JobTable(JobKeeping keeping);
    ~JobTable();
    JobTable(JobTable&&) = delete;

    std::size_t size() const { return size_; }
    bool contains(JobId id) const { return slot(id) != nullptr; }
    // Opened. at(): it must be there; get(): null if it is not.
    model::Job& at(JobId id);
    const model::Job& at(JobId id) const;
    model::Job* get(JobId id);
    const model::Job* get(JobId id) const;
    // Like get(), for those who compare with end().
    const_iterator find(JobId id) const;
    // Without opening it: what is shown lives as long as the iterator.
    const_iterator glance(JobId id) const;
    // A value of its own; null if it is not there.
    std::shared_ptr<const model::Job> copy_of(JobId id) const;
    const_iterator begin() const;
    const_iterator end() const;
    // Whom a walk meets: a walk about those who have not ended need not stop at the folded ones
    // that have. (It may meet one that is open: nobody was told of its end.)
    enum class Walk : std::uint8_t { All, PassesEnded };
    const_iterator upper_bound(JobId id, Walk walk = Walk::All) const;
    std::vector<JobId> ids() const;  // Of all.
    // In the order of ids. A job's user never changes.
    std::vector<JobId> of_user(std::uint32_t uid) const;

    model::Job& add(model::Job job);  // Under a new id.
    void erase(JobId id);

    // Leaves at most `open_max` open.
    void fold_idle();

  private:
    // A length and as many bytes, in the room of one pointer.
    class Bytes {
      public:
        Bytes() = default;
        explicit Bytes(std::string_view text);
        std::string_view view() const;

      private:
        std::unique_ptr<char[]> data_;
    };
    struct Slot {
        std::unique_ptr<model::Job> open;
        Bytes folded;
        bool used() const { return open != nullptr || !folded.view().empty(); }
    };
    // Ids follow one another, so neighbours share an entry of the map.
    static constexpr std::uint32_t kPage = 64;
    struct Page {
        std::array<Slot, kPage> slots;
        std::uint32_t used = 0;
        std::bitset<kPage> ended;  // Those of the folded ones that have.
    };

    using Pages = std::map<std::uint32_t, Page>;

    Page* page_of(JobId id) const;
    Slot* slot(JobId id) const;
    model::Job& open(JobId id, Page& page) const;
    const_iterator iterator_to(JobId id, bool opens) const;
    const_iterator first_from(Pages::iterator page, std::uint32_t place, Walk walk) const;

    JobKeeping keeping_;
    // Opening and folding change how a job is kept, not which job it is.
    mutable Pages pages_;
    mutable std::deque<JobId> opened_;  // The longest ago first; some may be gone.
    PackedSet<std::pair<std::uint32_t, JobId>> by_uid_;
    std::string scratch_;
    std::size_t size_ = 0;
};

class JobTable::const_iterator {
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = const Entry*;
    using reference = Entry;

    Entry operator*() const { return {id(), job()}; }
    struct Arrow {
        Entry entry;
        const Entry* operator->() const { return &entry; }
    };
    Arrow operator->() const { return {**this}; }
    const_iterator& operator++();
    bool operator==(const const_iterator& other) const {
        return page_ == other.page_ && place_ == other.place_;
    }

    // The folded form; empty if it is open.
    std::string_view folded() const;
    JobId id() const { return JobId{page_->first * kPage + place_}; }

  private:
    friend class JobTable;
    const_iterator(const JobTable* table, Pages::iterator page, std::uint32_t place, bool opens,
                   Walk walk)
        : table_(table), page_(page), place_(place), opens_(opens), walk_(walk) {}
    Slot& slot() const { return page_->second.slots[place_]; }
    const model::Job& job() const;

    const JobTable* table_;
    Pages::iterator page_;
    std::uint32_t place_;  // 0 at the end.
    bool opens_;
    Walk walk_;
    mutable std::shared_ptr<const model::Job> copy_;
};

}  // namespace switchyard::core
