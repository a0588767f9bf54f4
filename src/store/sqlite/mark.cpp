#include "store/sqlite/mark.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace switchyard::store {
namespace {

constexpr std::size_t kTextBytesMax = 256;

struct Field {
    std::string_view name;
    std::uint64_t Mark::* place;
};
constexpr Field kFields[] = {{"identity", &Mark::identity},
                             {"epoch", &Mark::epoch},
                             {"commits", &Mark::commits},
                             {"next_job", &Mark::next_job},
                             {"jobs_below", &Mark::jobs_below}};
constexpr std::string_view kClosed = "closed";

Failure mark_failure(std::string_view what, const std::string& path) {
    const bool full = errno == ENOSPC || errno == EDQUOT;
    return fail(full ? kFull : Errc::Io,
                fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

bool put(int fd, const std::string& text) {
    return ::pwrite(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

}  // namespace

std::string to_text(const Mark& mark) {
    std::string text;
    for (const Field& field : kFields)
        text += fmt::format("{}={:020} ", field.name, mark.*field.place);
    return text + fmt::format("{}={}\n", kClosed, mark.closed ? 1 : 0);
}

std::optional<Mark> parse_mark(std::string_view text) {
    Mark mark;
    std::size_t known = 0;
    for (const std::string_view piece : split(trim(text.substr(0, text.find('\n'))), ' ')) {
        const std::size_t equals = piece.find('=');
        if (equals == std::string_view::npos) return std::nullopt;
        const auto value = parse_uint(piece.substr(equals + 1));
        if (!value) return std::nullopt;
        if (piece.substr(0, equals) == kClosed) mark.closed = *value != 0;
        for (const Field& field : kFields) {
            if (piece.substr(0, equals) != field.name) continue;
            mark.*field.place = *value;
            ++known;
        }
    }
    if (known != std::size(kFields)) return std::nullopt;
    return mark;
}

Result<MarkFile> MarkFile::open(const std::string& path) {
    io::Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return mark_failure("open", path);
    char text[kTextBytesMax];
    const ssize_t got = ::pread(file.get(), text, sizeof text, 0);
    if (got < 0) return mark_failure("read", path);
    const auto found = parse_mark(std::string_view(text, static_cast<std::size_t>(got)));
    return MarkFile(path, std::move(file), found);
}

Status MarkFile::write(const Mark& mark) {
    if (!put(file_.get(), to_text(mark)) || ::fsync(file_.get()) != 0)
        return mark_failure("write", path_);
    return {};
}

void MarkFile::note(const Mark& mark) const { put(file_.get(), to_text(mark)); }

}  // namespace switchyard::store
