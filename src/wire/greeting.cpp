#include "wire/greeting.hpp"

namespace switchyard::wire {

Status check_greeting(const Protocol& protocol, std::string_view begin) {
    const std::string_view heard = begin.substr(0, kGreetingBytes);
    if (protocol.hears.starts_with(heard)) return {};
    const std::string_view kind = protocol.hears.substr(0, kGreetingBytes - 1);
    if (heard.size() == kGreetingBytes && heard.starts_with(kind)) {
        return fail(Errc::ProtocolVersion,
                    "the other side speaks another version of this protocol");
    }
    return fail(Errc::ProtocolVersion,
                "the other side does not speak this protocol (an older version?)");
}

}  // namespace switchyard::wire
