// drawers.hpp: a folding for tests: what it folded lies in a drawer, and it gives out the drawer's
// number. It counts how often somebody looked into one.
#pragma once

#include <map>
#include <string>

#include "model/job_folding.hpp"

namespace switchyard::core::testing {

class Drawers final : public model::JobFolding {
  public:
    void fold(const model::Job& job, std::string& to) const override {
        to = std::to_string(++last_);
        drawers_.emplace(to, job);
    }
    model::Job unfold(std::string_view folded) const override {
        ++unfolded_;
        return drawers_.at(std::string(folded));
    }
    int unfolded() const { return unfolded_; }
    void count_anew() { unfolded_ = 0; }

  private:
    mutable int last_ = 0, unfolded_ = 0;
    mutable std::map<std::string, model::Job> drawers_;
};

}  // namespace switchyard::core::testing
