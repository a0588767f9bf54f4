#include "cli/switchyard/log_errors.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.hpp"
#include "io/fd.hpp"

namespace switchyard::cli {
namespace {

constexpr std::size_t kTailBytes = 256u << 10;

// "[2026-11-15T01:43:52.181] error: text"
bool is_error(std::string_view line) {
    const std::size_t at = line.find("] ");
    if (!line.starts_with('[') || at == std::string_view::npos) return false;
    const std::string_view text = line.substr(at + 2);
    return text.starts_with("error: ") || text.starts_with("fatal: ");
}

}  // namespace

std::vector<std::string> errors_in(std::string_view log, std::size_t count, bool from_middle) {
    std::vector<std::string> errors;
    auto lines = split(log, '\n');
    if (from_middle && !lines.empty()) lines.erase(lines.begin());
    for (auto line = lines.rbegin(); line != lines.rend() && errors.size() < count; ++line) {
        if (is_error(*line)) errors.emplace_back(*line);
    }
    std::ranges::reverse(errors);
    return errors;
}

std::vector<std::string> last_errors(const std::string& path, std::size_t count) {
    const io::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file) return {};
    const off_t size = ::lseek(file.get(), 0, SEEK_END);
    const off_t from = std::max<off_t>(size - static_cast<off_t>(kTailBytes), 0);
    std::string text(static_cast<std::size_t>(std::max<off_t>(size - from, 0)), '\0');
    const ssize_t got = ::pread(file.get(), text.data(), text.size(), from);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return errors_in(text, count, from > 0);
}

}  // namespace switchyard::cli
