// record.hpp: the "Key=Value" records of scontrol show: several lines, or with -o one.
#pragma once

#include <string>
#include <string_view>

#include "base/time.hpp"
#include "base/visible.hpp"

namespace switchyard::view {

struct RecordStyle {
    bool one_line = false;
    bool details = false;
    std::string time_format;        // SLURM_TIME_FORMAT
    std::size_t elements_max = 64;  // SLURM_BITSTR_LEN; 0: never cut.
    Instant now{};
    std::string cluster;
};

class Record {
  public:
    explicit Record(const RecordStyle& style) : one_line_(style.one_line) {}

    void line(std::string_view text) {
        if (!text_.empty()) text_ += one_line_ ? " " : "\n   ";
        text_ += visible(text);
    }
    // With the end that sets it apart from the next record.
    std::string take() {
        text_ += one_line_ ? "\n" : "\n\n";
        return std::move(text_);
    }

  private:
    bool one_line_;
    std::string text_;
};

}  // namespace switchyard::view
