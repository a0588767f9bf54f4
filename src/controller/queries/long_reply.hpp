// long_reply.hpp: a list as the answer to a request, cut into as many messages as its bytes need.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "controller/links/calls.hpp"

namespace switchyard::wire {
class Reply;
}

namespace switchyard::controller {

class LongReply {
  public:
    // `begin` puts into each message what stands before the list.
    LongReply(Calls& calls, Session& session, std::uint64_t request,
              std::function<void(wire::Reply&)> begin);

    ~LongReply();

    // The message that takes the next entry. References into it hold until this is called again.
    wire::Reply& next();
    // The bytes of the entry that was put into it.
    void added(std::size_t bytes) { bytes_ += bytes; }
    void finish();  // Sends the last.

  private:
    void start();

    Calls& calls_;
    Session& session_;
    std::uint64_t request_;
    std::function<void(wire::Reply&)> begin_;
    std::unique_ptr<wire::Reply> reply_;
    std::size_t bytes_ = 0;
};

}  // namespace switchyard::controller
