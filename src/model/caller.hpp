// caller.hpp: who asks, as the kernel (or an agent that asked it) says; never as a message says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace switchyard::model {

struct Caller {
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    std::vector<std::string> groups = {};  // All of theirs by name, for requests that need them.
};

}  // namespace switchyard::model
