// apply.hpp: one pair of a line through the table of its kind of line.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

#include "base/text.hpp"
#include "config/findings.hpp"
#include "config/lines.hpp"
#include "config/setters.hpp"

namespace switchyard::config {

// `kind` keeps the keys of different kinds of lines apart where something is said once; `of` names
// the kind to people ("a NodeName line").
template <class T>
void apply_pair(const KeyRule<T>* rule, T& target, const Pair& pair, const std::string& where,
                std::string_view kind, std::string_view of, Findings& findings) {
    const auto once = [&] { return fmt::format("{}:{}", kind, to_lower(pair.key)); };
    if (rule == nullptr) {
        findings.notice_once(once(), where, unknown_key_text(pair.key, of));
        return;
    }
    if (!rule->has_effect()) {
        findings.notice_once(once(), where, unused_key_text(rule->name, rule->note));
    }
    if (rule->set == nullptr) return;
    if (const Status status = rule->set(target, pair.value); !status) {
        findings.error(where, fmt::format("{}: {}", rule->name, status.error().message));
    }
}

}  // namespace switchyard::config
