// pty.hpp: a pseudo terminal for srun --pty.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "io/fd.hpp"

namespace switchyard::os {

struct Pty {
    io::Fd master, slave;
};

// The slave belongs to whoever calls: act as the user (os::ActingAs) to give it to them.
Result<Pty> open_pty(std::uint16_t rows, std::uint16_t cols);
void set_window_size(int terminal, std::uint16_t rows, std::uint16_t cols);

}  // namespace switchyard::os
