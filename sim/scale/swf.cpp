// swf.cpp: see swf.hpp. Fields by number, from 1: 2 submitted, 4 ran, 5 processors given,
// 8 processors asked for, 9 time asked for, 11 status, 12 user; -1 where it is not known.

#include "sim/scale/swf.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include <fmt/format.h>

namespace switchyard::sim::scale {
namespace {

constexpr int kFields = 18;
constexpr std::int64_t kLimitUnknown = 86400;

struct Line {
    std::int64_t submitted, number, ran, processors, limit, user;
    bool failed;
};

class SwfStream : public Stream {
  public:
    SwfStream(std::vector<Line> lines, double load, Instant from)
        : lines_(std::move(lines)), load_(load), from_(from) {}

    std::optional<Work> next() override {
        if (at_ == lines_.size()) return std::nullopt;
        const Line& line = lines_[at_++];
        Work work;
        const auto since = static_cast<double>(line.submitted - lines_.front().submitted) / load_;
        work.arrives = from_ + Millis{static_cast<std::int64_t>(1000 * since)};
        work.runs = Seconds{std::max<std::int64_t>(1, line.ran)};
        work.exit_code = line.failed ? 1 : 0;
        work.spec.uid = work.spec.gid =
            1000 + static_cast<std::uint32_t>(std::max<std::int64_t>(0, line.user));
        work.spec.user = fmt::format("user{}", work.spec.uid);
        work.spec.name = fmt::format("swf-{}", at_);
        work.spec.work_dir = "/home";
        work.spec.partitions = {"batch"};
        work.spec.tasks = static_cast<std::uint32_t>(line.processors);
        work.spec.cpus_per_task = 1;
        // Records are exact to the second; nothing may end at its limit that did not.
        work.spec.time_limit = model::TimeLimit{Seconds{std::max(line.limit, line.ran + 1)}, false};
        return work;
    }

  private:
    std::vector<Line> lines_;
    double load_;
    Instant from_;
    std::size_t at_ = 0;
};

// "; MaxProcs: 1024"
void read_comment(const std::string& text, std::int64_t& nodes, std::int64_t& processors) {
    const auto value = [&](std::string_view name) -> std::int64_t {
        const auto at = text.find(name);
        return at == std::string::npos ? 0 : std::atoll(text.c_str() + at + name.size());
    };
    if (const auto found = value("MaxNodes:")) nodes = found;
    if (const auto found = value("MaxProcs:")) processors = found;
}

}  // namespace

Result<Trace> read_swf(const std::string& path, std::uint32_t jobs, double load, Instant from) {
    std::ifstream file(path);
    if (!file) return fail(Errc::InvalidArgument, fmt::format("cannot read {}", path));
    std::vector<Line> lines;
    std::int64_t nodes = 0, processors = 0;
    std::string text;
    for (int number = 1; std::getline(file, text) && lines.size() < jobs; ++number) {
        if (text.empty() || text == "\r") continue;
        if (text.starts_with(';')) {
            read_comment(text, nodes, processors);
            continue;
        }
        std::array<double, kFields> field{};
        std::istringstream words(text);
        for (double& value : field) {
            if (!(words >> value))
                return fail(Errc::InvalidArgument,
                            fmt::format("{}:{}: not {} numbers", path, number, kFields));
        }
        const auto whole = [&](std::size_t at) { return static_cast<std::int64_t>(field[at - 1]); };
        Line line{whole(2),
                  number,
                  whole(4),
                  whole(8) > 0 ? whole(8) : whole(5),
                  whole(9) > 0 ? whole(9) : kLimitUnknown,
                  whole(12),
                  whole(11) == 0};
        if (line.ran < 0 || line.processors <= 0) continue;  // Never ran.
        lines.push_back(line);
    }
    if (lines.empty()) return fail(Errc::InvalidArgument, fmt::format("{}: no jobs", path));
    std::ranges::sort(lines, {},
                      [](const Line& line) { return std::pair(line.submitted, line.number); });
    for (const Line& line : lines) processors = std::max(processors, line.processors);
    Trace trace;
    // Without a number of nodes every processor is one.
    trace.nodes = static_cast<std::uint32_t>(nodes > 0 ? std::min(nodes, processors) : processors);
    trace.cores_per_node = static_cast<std::uint32_t>((processors + trace.nodes - 1) / trace.nodes);
    trace.stream = std::make_unique<SwfStream>(std::move(lines), load, from);
    return trace;
}

}  // namespace switchyard::sim::scale
