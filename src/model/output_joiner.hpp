// output_joiner.hpp: puts the output of many tasks on one stream, line by line, so that lines of
// different tasks do not mix; with -l each behind the number of its task.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace switchyard::model {

class OutputJoiner {
  public:
    using Write = std::function<void(std::string_view bytes)>;
    struct Style {
        bool label = false;
        bool unbuffered = false;  // Pass on what comes, also half a line.
        std::uint32_t task_count = 1;
    };

    OutputJoiner(Style style, Write write);

    void take(std::uint32_t task, std::string_view bytes);
    // The task will write no more: what it left without a line break is passed on.
    void end(std::uint32_t task);
    void end_all();

  private:
    struct Line {
        std::string begun;
        bool labelled = false;  // Part of the line is out already.
    };
    void take_lines(std::uint32_t task, Line& line, std::string_view bytes);
    void pass_on_begun(std::uint32_t task, Line& line);
    std::string_view label_of(std::uint32_t task);

    Style style_;
    Write write_;
    int label_width_ = 1;
    std::string label_, out_;  // Kept for their memory.
    std::map<std::uint32_t, Line> lines_;
};

}  // namespace switchyard::model
