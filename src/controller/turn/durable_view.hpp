// durable_view.hpp: what may be shown of jobs while the disk is full. Memory goes on: a job ends,
// and nothing of it can be written. Whoever asks for such a job is shown the record that is on
// disk, with which a controller that is killed now would come back.
//
// The records are read by the reader's thread, each once: on disk nothing changes meanwhile.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/queries/reader_thread.hpp"
#include "core/cluster/cluster.hpp"
#include "io/loop.hpp"
#include "model/job.hpp"
#include "model/node.hpp"
#include "model/step.hpp"
#include "os/log.hpp"

namespace switchyard::controller {

class DurableView {
  public:
    // A job as it is on disk.
    struct Stored {
        std::optional<model::Job> job;  // None: there is no record of it.
        std::map<StepKey, model::Step> steps;
    };

    // `unwritten`: what has changed since the batch that found no room was sealed.
    using Unwritten = std::function<const core::Changes&()>;
    DurableView(io::Loop& loop, os::Log& log, ReaderThread& reader, const core::Cluster& cluster,
                Unwritten unwritten)
        : loop_(loop),
          log_(log),
          reader_(reader),
          cluster_(cluster),
          unwritten_(std::move(unwritten)) {}
    DurableView(const DurableView&) = delete;
    DurableView& operator=(const DurableView&) = delete;

    // There is no room for these changes, nor for those that follow.
    void begin(const std::vector<core::Changes>& sealed);
    void end();  // All is on disk again, or about to be.
    // Memory differs from the disk: not every job can be shown from memory.
    bool differs() const { return differs_; }

    // All that differs now has been read. Until the owner's thread steps the next event, find() is
    // the truth.
    bool is_ready();
    void when_ready(std::function<void()> work);
    // Null: memory has what the disk has.
    const Stored* find(JobId job) const;
    // The node with what jobs hold of it by their records.
    model::Node as_stored(const model::Node& node) const;

  private:
    void add(const core::Changes& changes);
    void read(std::vector<JobId> jobs);
    void on_read(std::uint64_t round, const std::vector<JobId>& jobs,
                 Result<store::HistoryChunk> chunk);
    void run_waiting();

    io::Loop& loop_;
    os::Log& log_;
    ReaderThread& reader_;
    const core::Cluster& cluster_;
    Unwritten unwritten_;
    bool differs_ = false;
    std::uint64_t round_ = 0;  // What is read for an earlier one is of no use.
    std::map<JobId, Stored> jobs_;
    std::set<JobId> reading_;
    std::set<std::string> nodes_;  // Their own records.
    std::vector<std::function<void()>> waiting_;
};

}  // namespace switchyard::controller
