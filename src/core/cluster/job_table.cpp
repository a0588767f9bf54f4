#include "core/cluster/job_table.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.hpp"

namespace switchyard::core {

JobTable::Bytes::Bytes(std::string_view text) {
    const auto size = static_cast<std::uint32_t>(text.size());
    data_ = std::make_unique_for_overwrite<char[]>(sizeof size + text.size());
    std::memcpy(data_.get(), &size, sizeof size);
    std::memcpy(data_.get() + sizeof size, text.data(), text.size());
}

std::string_view JobTable::Bytes::view() const {
    if (data_ == nullptr) return {};
    std::uint32_t size = 0;
    std::memcpy(&size, data_.get(), sizeof size);
    return {data_.get() + sizeof size, size};
}

JobTable::JobTable() = default;
JobTable::JobTable(JobKeeping keeping) : keeping_(std::move(keeping)) {}
JobTable::~JobTable() = default;

// Null if there is no such job.
JobTable::Page* JobTable::page_of(JobId id) const {
    const auto page = pages_.find(id.value / kPage);
    if (page == pages_.end()) return nullptr;
    return page->second.slots[id.value % kPage].used() ? &page->second : nullptr;
}

JobTable::Slot* JobTable::slot(JobId id) const {
    Page* page = page_of(id);
    return page != nullptr ? &page->slots[id.value % kPage] : nullptr;
}

model::Job& JobTable::open(JobId id, Page& page) const {
    Slot& slot = page.slots[id.value % kPage];
    if (slot.open == nullptr) {
        slot.open = std::make_unique<model::Job>(keeping_.folding->unfold(slot.folded.view()));
        slot.folded = {};
        page.ended.reset(id.value % kPage);
        opened_.push_back(id);
    }
    return *slot.open;
}

model::Job* JobTable::get(JobId id) {
    Page* page = page_of(id);
    return page != nullptr ? &open(id, *page) : nullptr;
}
const model::Job* JobTable::get(JobId id) const {
    Page* page = page_of(id);
    return page != nullptr ? &open(id, *page) : nullptr;
}

model::Job& JobTable::at(JobId id) {
    model::Job* job = get(id);
    SY_ASSERT(job != nullptr);
    return *job;
}
const model::Job& JobTable::at(JobId id) const {
    const model::Job* job = get(id);
    SY_ASSERT(job != nullptr);
    return *job;
}

JobTable::const_iterator JobTable::iterator_to(JobId id, bool opens) const {
    if (!contains(id)) return end();
    return {this, pages_.find(id.value / kPage), id.value % kPage, opens, Walk::All};
}
JobTable::const_iterator JobTable::find(JobId id) const { return iterator_to(id, true); }
JobTable::const_iterator JobTable::glance(JobId id) const { return iterator_to(id, false); }
std::shared_ptr<const model::Job> JobTable::copy_of(JobId id) const {
    const Slot* at = slot(id);
    if (at == nullptr) return nullptr;
    if (at->open != nullptr) return std::make_shared<const model::Job>(*at->open);
    return std::make_shared<const model::Job>(keeping_.folding->unfold(at->folded.view()));
}
JobTable::const_iterator JobTable::end() const { return {this, pages_.end(), 0, false, Walk::All}; }
JobTable::const_iterator JobTable::begin() const {
    return first_from(pages_.begin(), 0, Walk::All);
}
JobTable::const_iterator JobTable::upper_bound(JobId id, Walk walk) const {
    const auto page = pages_.lower_bound(id.value / kPage);
    const bool same = page != pages_.end() && page->first == id.value / kPage;
    return first_from(page, same ? id.value % kPage + 1 : 0, walk);
}

// The first job at this place or behind it.
JobTable::const_iterator JobTable::first_from(Pages::iterator page, std::uint32_t place,
                                              Walk walk) const {
    for (; page != pages_.end(); ++page, place = 0) {
        const Page& here = page->second;
        const bool passes = walk == Walk::PassesEnded;
        if (passes && here.ended.count() == here.used) continue;
        for (; place < kPage; ++place) {
            if (!here.slots[place].used() || (passes && here.ended.test(place))) continue;
            return {this, page, place, false, walk};
        }
    }
    return end();
}

std::vector<JobId> JobTable::ids() const {
    std::vector<JobId> ids;
    ids.reserve(size_);
    for (auto at = begin(); at != end(); ++at) ids.push_back(at.id());
    return ids;
}

std::vector<JobId> JobTable::of_user(std::uint32_t uid) const {
    std::vector<JobId> ids;
    for (auto at = by_uid_.lower_bound({uid, JobId{0}}); at != by_uid_.end() && at->first == uid;
         ++at) {
        ids.push_back(at->second);
    }
    return ids;
}

model::Job& JobTable::add(model::Job job) {
    const JobId id = job.id;
    Page& page = pages_[id.value / kPage];
    Slot& slot = page.slots[id.value % kPage];
    SY_ASSERT(!slot.used());
    ++page.used;
    ++size_;
    by_uid_.insert({job.spec->uid, id});
    slot.open = std::make_unique<model::Job>(std::move(job));
    opened_.push_back(id);
    return *slot.open;
}

void JobTable::erase(JobId id) {
    by_uid_.erase({at(id).spec->uid, id});
    const auto page = pages_.find(id.value / kPage);
    page->second.slots[id.value % kPage] = {};  // Open since at() looked at it.
    if (--page->second.used == 0) pages_.erase(page);
    --size_;
}

void JobTable::fold_idle() {
    if (keeping_.folding == nullptr) return;
    for (; opened_.size() > keeping_.open_max; opened_.pop_front()) {
        const JobId id = opened_.front();
        Page* page = page_of(id);
        if (page == nullptr) continue;
        Slot& slot = page->slots[id.value % kPage];
        if (slot.open == nullptr) continue;
        page->ended.set(id.value % kPage, model::is_finished(*slot.open));
        keeping_.folding->fold(*slot.open, scratch_);
        slot.folded = Bytes(scratch_);
        slot.open.reset();
    }
}

JobTable::const_iterator& JobTable::const_iterator::operator++() {
    *this = table_->first_from(page_, place_ + 1, walk_);
    return *this;
}

std::string_view JobTable::const_iterator::folded() const { return slot().folded.view(); }

const model::Job& JobTable::const_iterator::job() const {
    if (opens_) return table_->open(id(), page_->second);
    if (slot().open != nullptr) return *slot().open;
    if (copy_ == nullptr) {
        copy_ = std::make_shared<const model::Job>(
            table_->keeping_.folding->unfold(slot().folded.view()));
    }
    return *copy_;
}

}  // namespace switchyard::core
