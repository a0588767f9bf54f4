// greeting.hpp: the first eight bytes that each side of a connection says: who speaks to whom, in
// which version.
//
// They travel with the first frame, so they cost no round trip. A peer that says anything else is
// closed before a byte of it is interpreted: what is meant for one kind of daemon is never an
// order to another, whichever socket it was sent to.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.hpp"

namespace switchyard::wire {

inline constexpr std::size_t kGreetingBytes = 8;

// The last character is the version. As the length of a frame, which is what older versions began
// with, each is far over the limit: they refuse us as we refuse them.
inline constexpr std::string_view kClientGreeting = "SYcl-ct1";      // To the controller.
inline constexpr std::string_view kControllerGreeting = "SYct-cl1";  // To a client.
inline constexpr std::string_view kAgentGreeting = "SYag-ct1";       // To the controller.
inline constexpr std::string_view kControllerToAgentGreeting = "SYct-ag1";
inline constexpr std::string_view kAgentToStepdGreeting = "SYag-sd1";
inline constexpr std::string_view kStepdToAgentGreeting = "SYsd-ag1";
inline constexpr std::string_view kStepdToSrunGreeting = "SYsd-sr1";
inline constexpr std::string_view kSrunToStepdGreeting = "SYsr-sd1";

// One side of a connection: what it says first, and what it must hear first.
struct Protocol {
    std::string_view says, hears;
};

// Also spoken by and to an agent that relays.
inline constexpr Protocol kClientToController{.says = kClientGreeting,
                                              .hears = kControllerGreeting};
inline constexpr Protocol kControllerToClient{.says = kControllerGreeting,
                                              .hears = kClientGreeting};
inline constexpr Protocol kAgentToController{.says = kAgentGreeting,
                                             .hears = kControllerToAgentGreeting};
inline constexpr Protocol kControllerToAgent{.says = kControllerToAgentGreeting,
                                             .hears = kAgentGreeting};
inline constexpr Protocol kAgentToStepd{.says = kAgentToStepdGreeting,
                                        .hears = kStepdToAgentGreeting};
inline constexpr Protocol kStepdToAgent{.says = kStepdToAgentGreeting,
                                        .hears = kAgentToStepdGreeting};
inline constexpr Protocol kStepdToSrun{.says = kStepdToSrunGreeting, .hears = kSrunToStepdGreeting};
inline constexpr Protocol kSrunToStepd{.says = kSrunToStepdGreeting, .hears = kStepdToSrunGreeting};
// A socket pair between a process and its own fork, which has no name that another could dial.
inline constexpr Protocol kWithOwnFork{.says = {}, .hears = {}};

// Looks at as much of a greeting as has arrived. ProtocolVersion: it cannot become the right one.
Status check_greeting(const Protocol& protocol, std::string_view begin);

}  // namespace switchyard::wire
