// launch.cpp: what a stepd is told at its start, and the names of sockets that an agent finds in
// its spool.
#include "stepd/launch.hpp"

#include "fuzz/fuzz.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard {
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    (void)stepd::parse_socket_name(fuzz::as_text(data, size));
    wire::AgentToStepd message;
    if (!message.ParseFromArray(data, static_cast<int>(size))) return 0;
    (void)stepd::read_launch(message);
    return 0;
}

}  // namespace switchyard
