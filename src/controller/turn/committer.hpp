// committer.hpp: the store's thread. It takes one batch at a time, writes it, and says so on the
// loop; meanwhile the owner's thread goes on and gathers the next batch, so that one sync serves
// all that arrived.
//
// To wake a thread and to be woken by it takes longer than to write a few rows to a quick disk. So
// while the disk is quick, a small batch is written by the owner's thread, if nothing hinders it;
// whatever does hinder (no room, another process that writes, the log to be copied) is waited for
// by the store's thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "controller/turn/bulk.hpp"
#include "io/loop.hpp"
#include "store/store.hpp"

namespace switchyard::controller {

class Committer {
  public:
    struct Outcome {
        Status status;
        std::map<JobId, Bulk> payloads;  // Of those wanted; null: there is none.
        bool purge_is_due = false;       // The batch did not purge all it should.
    };

    // A batch for which the disk has no room is tried again until it has; `full` hears of the first
    // attempt that failed, on the loop.
    Committer(io::Loop& loop, std::unique_ptr<store::Store> store,
              std::function<void(std::string why)> full);
    ~Committer();  // Lets the present commit end, unless that waits for room.
    Committer(const Committer&) = delete;
    Committer& operator=(const Committer&) = delete;

    // Not while another is in flight. `wanted` payloads are read after the commit, in the same
    // visit.
    void commit(store::Batch batch, std::vector<JobId> wanted, std::function<void(Outcome)> done);
    // The batch that waits for room is written without these jobs, if it is not being written just
    // now.
    void leave_out(std::vector<JobId> jobs);

  private:
    struct Work {
        store::Batch batch;
        std::vector<JobId> wanted;
        std::function<void(Outcome)> done;
    };
    void run();
    bool write_here(Work& work);  // False: it is for the store's thread.
    void learn(const store::Batch& batch, std::chrono::steady_clock::time_point begin);
    Outcome carry_out(Work& work);
    Status commit_when_there_is_room(store::Batch& batch);

    io::Loop& loop_;
    std::unique_ptr<store::Store> store_;
    std::function<void(std::string)> full_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::optional<Work> work_;
    std::vector<JobId> left_out_;
    bool stopping_ = false;
    // How long a small batch takes, lately. Of whichever thread writes: never both.
    std::optional<std::chrono::nanoseconds> usual_;
    std::thread thread_;
};

}  // namespace switchyard::controller
