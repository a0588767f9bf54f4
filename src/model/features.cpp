// features.cpp: reads a constraint into a list of alternatives, each a set of features that a node
// must have.
//
//     expression = conjunction { '|' conjunction }
//     conjunction = factor { ('&' | ',') factor }
//     factor = name | '(' expression ')' | '[' expression ']'
//
// A conjunction of alternatives multiplies them out, so their number is bounded while it grows.
#include "model/features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.hpp"

namespace switchyard::model {
namespace {

using Alternatives = std::vector<std::vector<std::string>>;

constexpr std::size_t kAlternativesMax = 1024;
constexpr int kDepthMax = 32;
constexpr std::string_view kOperators = "&|,()[]*";

class Parser {
  public:
    explicit Parser(std::string_view text) : rest_(text) {}

    Result<Alternatives> run() {
        SY_TRY(Alternatives all, expression(0));
        if (!rest_.empty()) return fail(Errc::InvalidFeature);
        return all;
    }
    bool saw_bracket() const { return saw_bracket_; }

  private:
    bool take(char wanted) {
        skip_blanks();
        if (rest_.empty() || rest_[0] != wanted) return false;
        rest_.remove_prefix(1);
        skip_blanks();
        return true;
    }
    void skip_blanks() {
        while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t')) rest_.remove_prefix(1);
    }

    Result<Alternatives> expression(int depth) {
        if (depth > kDepthMax) return fail(Errc::InvalidFeature);
        SY_TRY(Alternatives all, conjunction(depth));
        while (take('|')) {
            SY_TRY(Alternatives more, conjunction(depth));
            all.insert(all.end(), more.begin(), more.end());
            if (all.size() > kAlternativesMax) return fail(Errc::InvalidFeature);
        }
        return all;
    }

    Result<Alternatives> conjunction(int depth) {
        SY_TRY(Alternatives all, factor(depth));
        while (take('&') || take(',')) {
            SY_TRY(const Alternatives more, factor(depth));
            if (all.size() * more.size() > kAlternativesMax) return fail(Errc::InvalidFeature);
            Alternatives product;
            for (const auto& left : all) {
                for (const auto& right : more) {
                    product.push_back(left);
                    product.back().insert(product.back().end(), right.begin(), right.end());
                }
            }
            all = std::move(product);
        }
        return all;
    }

    Result<Alternatives> factor(int depth) {
        if (take('(')) return enclosed(depth, ')');
        if (take('[')) {
            if (saw_bracket_) return fail(Errc::InvalidFeature);
            saw_bracket_ = true;
            return enclosed(depth, ']');
        }
        const std::size_t end = std::min(rest_.find_first_of(kOperators), rest_.size());
        const std::string_view name = trim(rest_.substr(0, end));
        if (name.empty() || name.find_first_of(" \t") != std::string_view::npos) {
            return fail(Errc::InvalidFeature);
        }
        rest_.remove_prefix(end);
        SY_CHECK(refuse_count());
        return Alternatives{{std::string(name)}};
    }

    Result<Alternatives> enclosed(int depth, char close) {
        SY_TRY(Alternatives inner, expression(depth + 1));
        if (!take(close)) return fail(Errc::InvalidFeature);
        SY_CHECK(refuse_count());
        return inner;
    }

    // "a*2" asks for a number of nodes with a feature, which is not done here.
    Status refuse_count() {
        if (!take('*')) return {};
        return fail(Errc::Unsupported,
                    "Node counts in --constraint (feature*count) are not supported");
    }

    std::string_view rest_;
    bool saw_bracket_ = false;
};

}  // namespace

Result<Constraint> Constraint::parse(std::string_view expression) {
    Constraint constraint;
    if (trim(expression).empty()) return constraint;
    Parser parser(trim(expression));
    SY_TRY(constraint.alternatives_, parser.run());
    for (auto& features : constraint.alternatives_) {
        std::ranges::sort(features);
        const auto repeated = std::ranges::unique(features);
        features.erase(repeated.begin(), repeated.end());
    }
    constraint.same_for_all_nodes_ = parser.saw_bracket() && constraint.alternatives_.size() > 1;
    return constraint;
}

bool Constraint::matches(const std::vector<std::string>& features) const {
    if (alternatives_.empty()) return true;
    const auto has = [&](const std::string& name) {
        return std::ranges::find(features, name) != features.end();
    };
    return std::ranges::any_of(alternatives_,
                               [&](const auto& all) { return std::ranges::all_of(all, has); });
}

std::vector<std::string> Constraint::names() const {
    std::vector<std::string> all;
    for (const auto& features : alternatives_)
        all.insert(all.end(), features.begin(), features.end());
    std::ranges::sort(all);
    const auto repeated = std::ranges::unique(all);
    all.erase(repeated.begin(), repeated.end());
    return all;
}

}  // namespace switchyard::model
