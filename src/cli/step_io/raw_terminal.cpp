#include "cli/step_io/raw_terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

namespace switchyard::cli {

TerminalSize terminal_size() {
    winsize size{};
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) {
        if (::ioctl(fd, TIOCGWINSZ, &size) == 0) return {size.ws_row, size.ws_col};
    }
    return {};
}

RawTerminal::RawTerminal() {
    termios now{};
    if (::tcgetattr(STDIN_FILENO, &now) != 0) return;
    before_ = now;
    ::cfmakeraw(&now);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &now);
}

RawTerminal::~RawTerminal() {
    if (before_) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &*before_);
}

}  // namespace switchyard::cli
