// agent_links.hpp: the stepd's connections to its agent: the socket pair it was born with, and
// after a restart of the agent the socket it listens on in the spool.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>

#include "io/fd.hpp"
#include "io/loop.hpp"
#include "wire/channel.hpp"

namespace switchyard::wire {
class AgentToStepd;
class StepdToAgent;
}  // namespace switchyard::wire

namespace switchyard::stepd {

class AgentLinks {
  public:
    using Receive = std::function<void(const wire::AgentToStepd& message)>;

    // `listener`: bound and listening before this process began, so that the socket's file means a
    // step.
    AgentLinks(io::Loop& loop, io::Fd first, io::Fd listener, Receive receive);

    void send(const wire::StepdToAgent& message);  // To whoever is there.
    bool connected() const { return !channels_.empty(); }
    // Called when the connection that it was born with has closed.
    void on_first_closed(std::function<void()> callback) { first_closed_ = std::move(callback); }
    // Removes the socket's file: the step is over and its end is known.
    void forget();
    // Whether an agent can still find this step: false once somebody has removed the file.
    bool can_be_found() const;

  private:
    std::string socket_path() const;
    void adopt(io::Fd socket, bool first);
    void accept_all();

    io::Loop& loop_;
    io::Fd listener_;
    Receive receive_;
    std::function<void()> first_closed_;
    io::Loop::Watch watch_;
    std::list<std::unique_ptr<wire::Channel>> channels_;
};

}  // namespace switchyard::stepd
