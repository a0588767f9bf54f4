#include "model/output_joiner.hpp"

#include <fmt/format.h>

namespace switchyard::model {
namespace {

// A line longer than this is passed on in pieces.
constexpr std::size_t kLineBytesMax = 256u << 10;

}  // namespace

OutputJoiner::OutputJoiner(Style style, Write write) : style_(style), write_(std::move(write)) {
    for (std::uint32_t last = style.task_count > 0 ? style.task_count - 1 : 0; last >= 10;
         last /= 10)
        ++label_width_;
    // A single task has nobody to mix with.
    if (style_.task_count <= 1) style_.unbuffered = true;
}

std::string_view OutputJoiner::label_of(std::uint32_t task) {
    label_.clear();
    fmt::format_to(std::back_inserter(label_), "{:>{}}: ", task, label_width_);
    return label_;
}

void OutputJoiner::take(std::uint32_t task, std::string_view bytes) {
    if (bytes.empty()) return end(task);
    if (style_.unbuffered && !style_.label) return write_(bytes);
    out_.clear();
    take_lines(task, lines_[task], bytes);
    if (!out_.empty()) write_(out_);
}

void OutputJoiner::take_lines(std::uint32_t task, Line& line, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto end = bytes.find('\n');
        if (end == std::string_view::npos) {
            line.begun += bytes;
            if (style_.unbuffered || line.begun.size() > kLineBytesMax) pass_on_begun(task, line);
            return;
        }
        if (style_.label && !line.labelled) out_ += label_of(task);
        out_ += line.begun;
        out_ += bytes.substr(0, end + 1);
        line = {};
        bytes.remove_prefix(end + 1);
    }
}

void OutputJoiner::pass_on_begun(std::uint32_t task, Line& line) {
    if (style_.label && !line.labelled) out_ += label_of(task);
    out_ += line.begun;
    line.begun.clear();
    line.labelled = true;
}

void OutputJoiner::end(std::uint32_t task) {
    const auto found = lines_.find(task);
    if (found == lines_.end()) return;
    out_.clear();
    Line& line = found->second;
    const bool open = !line.begun.empty() || line.labelled;
    if (!line.begun.empty()) pass_on_begun(task, line);
    // Behind a label every line ends, or the next label would stand in the middle of one.
    if (open && style_.label) out_ += '\n';
    lines_.erase(found);
    if (!out_.empty()) write_(out_);
}

void OutputJoiner::end_all() {
    while (!lines_.empty()) end(lines_.begin()->first);
}

}  // namespace switchyard::model
