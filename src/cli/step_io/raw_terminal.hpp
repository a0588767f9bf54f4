// raw_terminal.hpp: srun's own terminal while a task has it (--pty): raw, and its size.
#pragma once

#include <termios.h>

#include <cstdint>
#include <optional>

namespace switchyard::cli {

struct TerminalSize {
    std::uint32_t rows = 0, cols = 0;
};
TerminalSize terminal_size();  // Zero without a terminal.

// Raw from its making to its end; without a terminal on standard input it does nothing.
class RawTerminal {
  public:
    RawTerminal();
    ~RawTerminal();
    RawTerminal(const RawTerminal&) = delete;
    RawTerminal& operator=(const RawTerminal&) = delete;

  private:
    std::optional<termios> before_;
};

}  // namespace switchyard::cli
