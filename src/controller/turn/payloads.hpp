// payloads.hpp: scripts and environments of jobs that may start soon. What was submitted a moment
// ago is still here when its job starts; the rest is read back from the store.
#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>

#include "base/ids.hpp"
#include "controller/turn/bulk.hpp"
#include "model/job.hpp"

namespace switchyard::controller {

// The job under whose id the payload of this one is stored: an array shares one.
inline JobId payload_of(const model::Job& job) { return job.array ? job.array->array_id : job.id; }

class Payloads {
  public:
    explicit Payloads(std::size_t bytes_max) : bytes_max_(bytes_max) {}

    void put(JobId job, Bulk bytes);
    Bulk find(JobId job);  // Null: not here.
    void forget(JobId job);
    std::size_t bytes() const { return bytes_; }

  private:
    struct Entry {
        JobId job;
        Bulk bytes;
    };
    void drop(std::list<Entry>::iterator entry);

    std::size_t bytes_max_;
    std::size_t bytes_ = 0;
    std::list<Entry> entries_;  // Last used first.
    std::unordered_map<std::uint32_t, std::list<Entry>::iterator> by_job_;
};

}  // namespace switchyard::controller
