// step_clients.hpp: who sees the output of a step's tasks and speaks to them: the srun that waits
// for it, if it has one, and clients that were attached later (sattach).
//
// The step is its srun's: an attached client that leaves or does not read changes nothing. It gets
// the last of what was printed before it came.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/loop.hpp"
#include "stepd/launch.hpp"
#include "stepd/srun_link.hpp"

namespace switchyard::stepd {

class StepClients {
  public:
    StepClients(io::Loop& loop, const Launch& launch) : loop_(loop), launch_(launch) {}

    void connect_srun(SrunLink::Handlers handlers);
    SrunLink* srun() { return srun_.get(); }

    struct Attached {
        std::function<void(SrunLink& client)> ready;
        std::function<void(std::optional<std::uint32_t> task, std::string_view data)> input;
    };
    void attach(SrunAddress client, Attached attached);

    // Empty data: the stream has ended.
    void output(std::uint32_t task, std::uint32_t stream, std::string_view data);
    void exited(const std::vector<std::uint32_t>& tasks, int wait_status, bool out_of_memory);
    // More than srun takes now: tasks should wait until `drained`.
    bool is_behind() const;
    void on_drained(std::function<void()> drained);
    // There will be no more. `then`: srun has all, or there is none.
    void finish(std::function<void()> then);
    bool srun_has_all() const { return srun_ == nullptr || srun_has_all_; }

  private:
    // A piece of output as it came.
    struct Piece {
        std::uint32_t task = 0, stream = 0;
        std::string data;
    };

    void detach(std::uint64_t client);
    void keep(Piece piece);

    io::Loop& loop_;
    const Launch& launch_;
    std::unique_ptr<SrunLink> srun_;
    bool srun_has_all_ = false;
    std::deque<Piece> kept_;
    std::size_t kept_bytes_ = 0;
    std::map<std::uint64_t, std::unique_ptr<SrunLink>> attached_;
    std::uint64_t next_ = 1;
    std::vector<std::uint64_t> leaving_;
    io::Loop::Timer leaving_timer_;
};

}  // namespace switchyard::stepd
