// task_socket.hpp: our end of the socket that one task speaks PMI over.
#pragma once

#include <functional>
#include <string>

#include "io/fd.hpp"
#include "io/loop.hpp"
#include "pmi/simple_wire.hpp"

namespace switchyard::pmi {

class TaskSocket {
  public:
    using Handle = std::function<void(const Words& words)>;
    TaskSocket(io::Loop& loop, io::Fd fd, Handle handle);

    void send(const Words& words);
    Dialect dialect() const { return dialect_; }
    // From the next message on; what was sent before went out in the old one.
    void use(Dialect dialect) { dialect_ = dialect; }

  private:
    void on_ready(std::uint32_t events);
    bool read_some();
    void write_some();

    io::Fd fd_;
    Handle handle_;
    Dialect dialect_ = Dialect::Pmi1;
    std::string in_, out_;
    io::Loop::Watch watch_;
};

}  // namespace switchyard::pmi
