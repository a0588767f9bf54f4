// user_socket.hpp: a connection to a unix socket whose path a user has named.
//
// The path may lead anywhere, to the socket of another's step as well. So it is walked and dialled
// with the user's rights, and whoever listens must be that user, or root, by the kernel's word.
// It may also lead to a file system that never answers. What the kernel knows of the path by heart
// is walked here; all else is left to a process that can be given up.
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
    ~UserSocket();

  private:
    void attempt();
    Result<io::Fd> dial() const;
    Status dial_elsewhere();
    void take_answer();
    void finish(Result<io::Fd> socket);

    io::Loop& loop_;
    std::string path_;
    os::Identity who_;
    Done done_;
    io::Loop::Timer retry_, patience_;
    int retries_ = 0;
    // The process that dials in our place, and its end of the line to us.
    io::Fd process_, answer_;
    io::Loop::Watch answered_;
};

}  // namespace switchyard::stepd
