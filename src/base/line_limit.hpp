// line_limit.hpp: lines of a log that strangers can cause: so many a minute, and then how many were
// left out.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "base/time.hpp"

namespace switchyard {

class LineLimit {
  public:
    explicit LineLimit(std::size_t lines_a_minute) : lines_max_(lines_a_minute) {}

    // None: leave this line out. Else how many were left out since the last that was not.
    std::optional<std::size_t> admit(Instant now) {
        if (now - begun_ >= Seconds{60}) {
            begun_ = now;
            lines_ = 0;
        }
        if (lines_ >= lines_max_) {
            ++left_out_;
            return std::nullopt;
        }
        ++lines_;
        return std::exchange(left_out_, 0);
    }

  private:
    std::size_t lines_max_, lines_ = 0, left_out_ = 0;
    Instant begun_{};
};

}  // namespace switchyard
