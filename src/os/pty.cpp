#include "os/pty.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "os/files.hpp"

namespace switchyard::os {

Result<Pty> open_pty(std::uint16_t rows, std::uint16_t cols) {
    Pty pty;
    pty.master.reset(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!pty.master) return errno_failure("/dev/ptmx");
    char name[128];
    if (::grantpt(pty.master.get()) != 0 || ::unlockpt(pty.master.get()) != 0 ||
        ::ptsname_r(pty.master.get(), name, sizeof name) != 0) {
        return errno_failure("pseudo terminal");
    }
    pty.slave.reset(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!pty.slave) return errno_failure(name);
    set_window_size(pty.master.get(), rows, cols);
    return pty;
}

void set_window_size(int terminal, std::uint16_t rows, std::uint16_t cols) {
    winsize size{};
    size.ws_row = rows;
    size.ws_col = cols;
    ::ioctl(terminal, TIOCSWINSZ, &size);
}

}  // namespace switchyard::os
