#include "model/gres.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/text.hpp"
#include "model/size_format.hpp"

namespace switchyard::model {
namespace {

bool is_word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-' || c == '+';
}

// A name or a type: no blank, no separator, not something that reads like an option or a negative
// count.
bool is_word(std::string_view text) {
    return !text.empty() && text[0] != '-' && std::ranges::all_of(text, is_word_char);
}

bool is_name(std::string_view text) { return is_word(text) && !(text[0] >= '0' && text[0] <= '9'); }

// Digits, or digits and a unit: meant as a count, even if it is one that is too large.
bool looks_like_count(std::string_view text) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 0) return false;
    const std::string_view unit = text.substr(digits);
    return unit.empty() || (unit.size() == 1 && std::string_view("kKmMgGtTpP").contains(unit[0]));
}

std::optional<std::uint64_t> positive_count(std::string_view text) {
    const auto count = parse_count(text);
    if (!count || *count == 0) return std::nullopt;
    return *count;
}

// What stands behind the name: "rtx4000:2", "2", "rtx4000", or nothing.
bool parse_tail(std::vector<std::string_view> pieces, GresRequest& request) {
    if (pieces.empty()) return true;
    if (pieces.size() > 2) return false;
    if (looks_like_count(pieces.back())) {
        const auto count = positive_count(pieces.back());
        if (!count) return false;
        request.count = *count;
        pieces.pop_back();
    } else if (pieces.size() == 2) {
        return false;
    }
    if (pieces.empty()) return true;
    if (!is_word(pieces[0])) return false;
    request.type = pieces[0];
    return true;
}

// Adds to an earlier term for the same thing, if there is one. False on overflow.
bool add_request(std::vector<GresRequest>& requests, GresRequest next) {
    const auto same = std::ranges::find_if(requests, [&](const GresRequest& known) {
        return known.name == next.name && known.type == next.type;
    });
    if (same == requests.end()) {
        requests.push_back(std::move(next));
        return true;
    }
    return !__builtin_add_overflow(same->count, next.count, &same->count);
}

std::vector<std::string_view> split_term(std::string& term) {
    std::ranges::replace(term, '=', ':');
    return split(term, ':');
}

void append_named(std::string& out, std::string_view prefix, std::string_view name,
                  std::string_view type) {
    if (!out.empty()) out += ',';
    out += prefix;
    out += name;
    if (!type.empty()) {
        out += ':';
        out += type;
    }
}

std::string format_requests(const std::vector<GresRequest>& requests, std::string_view prefix) {
    std::string out;
    for (const GresRequest& request : requests) {
        append_named(out, prefix, request.name, request.type);
        fmt::format_to(std::back_inserter(out), ":{}", request.count);
    }
    return out;
}

const GresGrant* find_grant(const std::vector<GresGrant>& grants, std::string_view name,
                            std::string_view type) {
    const auto found = std::ranges::find_if(
        grants, [&](const GresGrant& grant) { return grant.name == name && grant.type == type; });
    return found == grants.end() ? nullptr : &*found;
}

// "0/64,32/64": shares in use of each card.
std::string format_shares(const GresInventory& owned, const GresGrant* used) {
    std::string out;
    for (const std::uint32_t device : owned.devices.to_vector()) {
        std::uint64_t amount = 0;
        if (used != nullptr) {
            for (const auto& share : used->shares) {
                if (share.device == device) amount += share.amount;
            }
        }
        if (!out.empty()) out += ',';
        fmt::format_to(std::back_inserter(out), "{}/{}", amount, owned.per_device());
    }
    return out;
}

}  // namespace

Result<std::vector<GresRequest>> parse_gres(std::string_view text) {
    std::vector<GresRequest> requests;
    if (trim(text).empty() || equals_ignoring_case(trim(text), "none")) return requests;
    for (const std::string_view given : split(text, ',')) {
        std::string term(trim(given));
        if (term.starts_with("gres/") || term.starts_with("gres:")) term.erase(0, 5);
        auto pieces = split_term(term);
        // "gres" before a name only says what the name is of; alone it is none.
        if (pieces.empty() || !is_name(pieces[0]) || pieces[0] == "gres")
            return fail(Errc::InvalidGres);
        GresRequest request{std::string(pieces[0]), {}, 1};
        pieces.erase(pieces.begin());
        if (!parse_tail(std::move(pieces), request) || !add_request(requests, std::move(request))) {
            return fail(Errc::InvalidGres);
        }
    }
    return requests;
}

Result<std::vector<GresRequest>> parse_gpus(std::string_view text) {
    std::vector<GresRequest> requests;
    if (trim(text).empty()) return fail(Errc::InvalidGres);
    for (const std::string_view given : split(text, ',')) {
        std::string term(trim(given));
        for (const std::string_view prefix : {"gres/gpu:", "gres/gpu=", "gpu:", "gpu="}) {
            if (term.starts_with(prefix)) {
                term.erase(0, prefix.size());
                break;
            }
        }
        GresRequest request{"gpu", {}, 1};
        auto pieces = split_term(term);
        if (pieces.empty() || !parse_tail(std::move(pieces), request) ||
            !add_request(requests, std::move(request))) {
            return fail(Errc::InvalidGres);
        }
    }
    return requests;
}

std::string to_string(const std::vector<GresRequest>& requests) {
    return format_requests(requests, "");
}

std::string to_tres_string(const std::vector<GresRequest>& requests) {
    return format_requests(requests, "gres/");
}

std::string to_string(const std::vector<GresInventory>& inventory) {
    std::string out;
    for (const GresInventory& owned : inventory) {
        append_named(out, "", owned.name, owned.type);
        fmt::format_to(std::back_inserter(out), ":{}", owned.count);
    }
    return out;
}

std::string to_string(const std::vector<GresGrant>& grants) {
    std::string out;
    for (const GresGrant& grant : grants) {
        append_named(out, "", grant.name, grant.type);
        IndexSet devices = grant.devices;
        for (const auto& share : grant.shares) devices.insert(share.device);
        if (devices.empty()) {
            fmt::format_to(std::back_inserter(out), "(CNT:{})", grant.count);
        } else {
            fmt::format_to(std::back_inserter(out), ":{}(IDX:{})", grant.count, to_string(devices));
        }
    }
    return out;
}

std::string format_gres_used(const std::vector<GresInventory>& inventory,
                             const std::vector<GresGrant>& used) {
    std::string out;
    for (const GresInventory& owned : inventory) {
        const GresGrant* grant = find_grant(used, owned.name, owned.type);
        append_named(out, "", owned.name, owned.type);
        fmt::format_to(std::back_inserter(out), ":{}", grant != nullptr ? grant->count : 0);
        if (owned.devices.empty()) continue;
        if (owned.is_shared()) {
            fmt::format_to(std::back_inserter(out), "({})", format_shares(owned, grant));
        } else {
            const bool idle = grant == nullptr || grant->devices.empty();
            fmt::format_to(std::back_inserter(out), "(IDX:{})",
                           idle ? "N/A" : to_string(grant->devices));
        }
    }
    return out;
}

void add_grants(std::vector<GresGrant>& sum, const std::vector<GresGrant>& more) {
    for (const GresGrant& grant : more) {
        const auto same = std::ranges::find_if(sum, [&](const GresGrant& known) {
            return known.name == grant.name && known.type == grant.type;
        });
        if (same == sum.end()) {
            sum.push_back(grant);
            continue;
        }
        same->count += grant.count;
        same->devices.insert(grant.devices);
        for (const auto& share : grant.shares) {
            const auto at =
                std::ranges::lower_bound(same->shares, share.device, {}, &GresGrant::Share::device);
            if (at != same->shares.end() && at->device == share.device) {
                at->amount += share.amount;
            } else {
                same->shares.insert(at, share);
            }
        }
    }
}

}  // namespace switchyard::model
