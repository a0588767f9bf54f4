#include "stepd/labelled_file.hpp"

#include <unistd.h>

#include <cerrno>

namespace switchyard::stepd {

LabelledFile::LabelledFile(io::Fd file, std::uint32_t task_count)
    : file_(std::move(file)),
      joiner_({.label = true, .unbuffered = false, .task_count = task_count},
              [this](std::string_view data) { write(data); }) {}

void LabelledFile::take(std::uint32_t task, std::string_view data) { joiner_.take(task, data); }

// What the disk does not take is lost, as it would be to the task itself.
void LabelledFile::write(std::string_view data) const {
    while (!data.empty()) {
        const ssize_t written = ::write(file_.get(), data.data(), data.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        data.remove_prefix(static_cast<std::size_t>(written));
    }
}

}  // namespace switchyard::stepd
