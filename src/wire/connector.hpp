// connector.hpp: makes a connected socket without blocking the loop, then hands it over.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "io/fd.hpp"
#include "io/loop.hpp"

namespace switchyard::wire {

class Connector {
  public:
    using Done =
        std::function<void(Result<io::Fd>)>;  // Once, never from inside the call that starts it.
    static std::unique_ptr<Connector> to_unix(io::Loop& loop, const std::string& path, Done done);
    // Tries every address of the host in turn. A name is looked up on a thread of its own, since
    // the resolver may take half a minute; a numeric address needs none.
    static std::unique_ptr<Connector> to_tcp(io::Loop& loop, const std::string& host,
                                             std::uint16_t port, Done done);
    virtual ~Connector() = default;  // Gives up.
};

}  // namespace switchyard::wire
