#include "model/dependency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/limits.hpp"
#include "base/text.hpp"

namespace switchyard::model {
namespace {

constexpr std::size_t kTermsMax = 10'000;

struct KindName {
    DependencyKind kind;
    std::string_view name;
};
constexpr std::array<KindName, 7> kKinds{{
    {DependencyKind::After, "after"},
    {DependencyKind::AfterAny, "afterany"},
    {DependencyKind::AfterOk, "afterok"},
    {DependencyKind::AfterNotOk, "afternotok"},
    {DependencyKind::AfterCorr, "aftercorr"},
    {DependencyKind::AfterBurstBuffer, "afterburstbuffer"},
    {DependencyKind::Singleton, "singleton"},
}};

std::string_view kind_name(DependencyKind kind) {
    return std::ranges::find(kKinds, kind, &KindName::kind)->name;
}

std::string_view status_name(DependencyStatus status) {
    switch (status) {
        case DependencyStatus::Unfulfilled:
            return "unfulfilled";
        case DependencyStatus::Fulfilled:
            return "fulfilled";
        case DependencyStatus::Failed:
            return "failed";
    }
    return "unfulfilled";
}

// One job of a term: "12", "12_3", "12_*", "12+5".
std::optional<DependencyTerm> parse_job(DependencyKind kind, std::string_view text) {
    DependencyTerm term;
    term.kind = kind;
    if (const std::size_t plus = text.find('+'); plus != std::string_view::npos) {
        constexpr std::uint64_t kMinutesMax = 60u * 24 * 365 * 10;
        const auto minutes = parse_uint(text.substr(plus + 1));
        if (kind != DependencyKind::After || !minutes || *minutes > kMinutesMax)
            return std::nullopt;
        term.delay = Minutes{static_cast<std::int64_t>(*minutes)};
        text = text.substr(0, plus);
    }
    if (const std::size_t bar = text.find('_'); bar != std::string_view::npos) {
        const std::string_view element = text.substr(bar + 1);
        if (element == "*") {
            term.whole_array = true;
        } else {
            const auto value = parse_uint(element);
            if (!value || *value > limits::kArrayElementMax) return std::nullopt;
            term.element = static_cast<std::uint32_t>(*value);
        }
        text = text.substr(0, bar);
    }
    const auto id = parse_uint(text);
    if (!id || *id == 0 || *id > UINT32_MAX) return std::nullopt;
    term.job = JobId{static_cast<std::uint32_t>(*id)};
    return term;
}

// "afterok:12:13", "singleton", or plain "12" (after any end of it). False if malformed.
bool parse_term(std::string_view text, std::vector<DependencyTerm>& terms) {
    auto pieces = split(text, ':');
    if (pieces.empty()) return false;
    const auto known = std::ranges::find_if(
        kKinds, [&](const KindName& k) { return equals_ignoring_case(k.name, pieces[0]); });
    DependencyKind kind = DependencyKind::AfterAny;
    if (known != kKinds.end()) {
        kind = known->kind;
        pieces.erase(pieces.begin());
        if (kind == DependencyKind::Singleton) {
            if (!pieces.empty()) return false;
            terms.push_back({.kind = kind});
            return true;
        }
    }
    if (pieces.empty()) return false;
    for (const std::string_view piece : pieces) {
        const auto term = parse_job(kind, piece);
        if (!term || terms.size() >= kTermsMax) return false;
        terms.push_back(*term);
    }
    return true;
}

}  // namespace

Result<Dependency> parse_dependency(std::string_view text) {
    Dependency dependency;
    text = trim(text);
    dependency.any = text.contains('?');
    if (dependency.any && text.contains(',')) return fail(Errc::DependencyProblem);
    for (const std::string_view piece : split(text, dependency.any ? '?' : ',')) {
        if (!parse_term(trim(piece), dependency.terms)) return fail(Errc::DependencyProblem);
    }
    return dependency;
}

std::string to_string(const Dependency& dependency) {
    std::string out;
    for (const DependencyTerm& term : dependency.terms) {
        if (term.status == DependencyStatus::Fulfilled) continue;
        if (!out.empty()) out += dependency.any ? '?' : ',';
        out += kind_name(term.kind);
        if (term.kind != DependencyKind::Singleton) {
            fmt::format_to(std::back_inserter(out), ":{}", term.job.value);
            if (term.whole_array) out += "_*";
            if (term.element) fmt::format_to(std::back_inserter(out), "_{}", *term.element);
            if (term.delay.count() > 0) {
                fmt::format_to(std::back_inserter(out), "+{}", term.delay.count());
            }
        }
        fmt::format_to(std::back_inserter(out), "({})", status_name(term.status));
    }
    return out;
}

}  // namespace switchyard::model
