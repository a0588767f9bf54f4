#pragma once

namespace switchyard::stepd {

// The descriptors an agent starts a stepd with: the socket to it, the listening socket of the step,
// and a socket of packets over which further steps come, each with its own two of those. One that
// gets only the last waits for its first step.
inline constexpr int kAgentSocket = 3;
inline constexpr int kListener = 4;
inline constexpr int kLeash = 5;

int stepd_main(int argc, char** argv);

}  // namespace switchyard::stepd
