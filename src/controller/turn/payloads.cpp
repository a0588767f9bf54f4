#include "controller/turn/payloads.hpp"

namespace switchyard::controller {

void Payloads::put(JobId job, Bulk bytes) {
    forget(job);
    bytes_ += bytes->size();
    entries_.push_front({job, std::move(bytes)});
    by_job_.emplace(job.value, entries_.begin());
    while (bytes_ > bytes_max_ && entries_.size() > 1) drop(std::prev(entries_.end()));
}

Bulk Payloads::find(JobId job) {
    const auto it = by_job_.find(job.value);
    if (it == by_job_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, it->second);
    return it->second->bytes;
}

void Payloads::forget(JobId job) {
    if (const auto it = by_job_.find(job.value); it != by_job_.end()) drop(it->second);
}

void Payloads::drop(std::list<Entry>::iterator entry) {
    bytes_ -= entry->bytes->size();
    by_job_.erase(entry->job.value);
    entries_.erase(entry);
}

}  // namespace switchyard::controller
