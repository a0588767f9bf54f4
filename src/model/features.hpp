// features.hpp: --constraint expressions over the features of a node: "intel&gpu", "a|b", "[a|b]",
// "(a&b)|c".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace switchyard::model {

class Constraint {
  public:
    Constraint() = default;  // Matches every node.
    // Errc::InvalidFeature for a malformed expression. Counted terms (a*2) are refused as
    // unsupported.
    static Result<Constraint> parse(std::string_view expression);

    bool matches(const std::vector<std::string>& features) const;
    // All feature names in the expression, so that unknown ones can be refused.
    std::vector<std::string> names() const;
    bool empty() const { return alternatives_.empty(); }
    // Each is a set of features; a node matches if it has all of one set.
    const std::vector<std::vector<std::string>>& alternatives() const { return alternatives_; }
    // "[rack1|rack2]": every node of a job must match the same alternative.
    bool same_for_all_nodes() const { return same_for_all_nodes_; }

  private:
    std::vector<std::vector<std::string>> alternatives_;  // Or of ands.
    bool same_for_all_nodes_ = false;
};

}  // namespace switchyard::model
