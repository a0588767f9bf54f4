// dependency.hpp: --dependency=afterok:12:13,singleton and friends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace switchyard::model {

enum class DependencyKind {
    After,
    AfterAny,
    AfterOk,
    AfterNotOk,
    AfterCorr,
    AfterBurstBuffer,
    Singleton
};

enum class DependencyStatus { Unfulfilled, Fulfilled, Failed };

struct DependencyTerm {
    DependencyKind kind = DependencyKind::AfterAny;
    JobId job{};                             // Not for Singleton.
    std::optional<std::uint32_t> element{};  // 12_3
    bool whole_array = false;                // 12_*
    Minutes delay{0};                        // after:12+5
    DependencyStatus status = DependencyStatus::Unfulfilled;
    bool operator==(const DependencyTerm&) const = default;
};

// Terms joined by ',' (all of them) or by '?' (any of them); never both.
struct Dependency {
    std::vector<DependencyTerm> terms;
    bool any = false;
    bool empty() const { return terms.empty(); }
    bool operator==(const Dependency&) const = default;
};

Result<Dependency> parse_dependency(std::string_view text);
// As scontrol show job prints what is left: "afterok:131(unfulfilled)"; "(null)" is the caller's.
std::string to_string(const Dependency& dependency);

}  // namespace switchyard::model
