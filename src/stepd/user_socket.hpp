// user_socket.hpp: a connection to a unix socket whose path a user has named.
//
// The path may lead anywhere, to the socket of another's step as well. So it is walked and dialled
// with the user's rights, and whoever listens must be that user, or root, by the kernel's word.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"
#include "io/fd.hpp"
#include "io/loop.hpp"
#include "os/users.hpp"

namespace switchyard::stepd {

class UserSocket {
  public:
    using Done = std::function<void(Result<io::Fd>)>;  // Once; may destroy this. Never from here.

    UserSocket(io::Loop& loop, std::string path, os::Identity who, Done done);

  private:
    void attempt();
    Result<io::Fd> dial() const;

    io::Loop& loop_;
    std::string path_;
    os::Identity who_;
    Done done_;
    io::Loop::Timer retry_;
    int retries_ = 0;
};

}  // namespace switchyard::stepd
