#include "stepd/labelled_file.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>

namespace switchyard::stepd {

LabelledFile::LabelledFile(io::Loop& loop, std::uint32_t task_count)
    : loop_(loop),
      joiner_({.label = true, .unbuffered = false, .task_count = task_count},
              [this](std::string_view data) { queue_.append(data); }) {}

void LabelledFile::open(io::Fd file) {
    file_ = std::move(file);
    flush();
}

void LabelledFile::take(std::uint32_t task, std::string_view data) {
    joiner_.take(task, data);
    flush();
}

void LabelledFile::close() {
    watch_ = {};
    file_.reset();
    queue_.clear();
}

void LabelledFile::flush() {
    if (!file_) return;
    std::size_t done = 0;
    while (done < queue_.size()) {
        const ssize_t written = ::write(file_.get(), queue_.data() + done, queue_.size() - done);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0 && errno == EAGAIN) {
            queue_.erase(0, done);
            if (!watch_)
                watch_ = loop_.watch(file_.get(), EPOLLOUT, [this](std::uint32_t) { flush(); });
            return;
        }
        // What the disk does not take is lost, as it would be to the task itself.
        done = written <= 0 ? queue_.size() : done + static_cast<std::size_t>(written);
    }
    queue_.clear();
    watch_ = {};
    if (const auto written = written_) written();
}

}  // namespace switchyard::stepd
