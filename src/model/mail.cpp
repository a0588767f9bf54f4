#include "model/mail.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/limits.hpp"
#include "base/text.hpp"
#include "base/visible.hpp"

namespace switchyard::model {
namespace {

struct EventName {
    MailEvent event;
    std::string_view name;
};

// In the order in which scontrol show job prints them.
constexpr std::array<EventName, 11> kEvents{{
    {MailEvent::InvalidDepend, "INVALID_DEPEND"},
    {MailEvent::ArrayTasks, "ARRAY_TASKS"},
    {MailEvent::Begin, "BEGIN"},
    {MailEvent::End, "END"},
    {MailEvent::Fail, "FAIL"},
    {MailEvent::Requeue, "REQUEUE"},
    {MailEvent::StageOut, "STAGE_OUT"},
    {MailEvent::TimeLimit50, "TIME_LIMIT_50"},
    {MailEvent::TimeLimit80, "TIME_LIMIT_80"},
    {MailEvent::TimeLimit90, "TIME_LIMIT_90"},
    {MailEvent::TimeLimit, "TIME_LIMIT"},
}};

}  // namespace

Result<MailTypes> parse_mail_types(std::string_view text) {
    unsigned types = 0;
    bool none = false;
    const auto pieces = split(text, ',');
    for (std::string_view piece : pieces) {
        piece = trim(piece);
        const auto known = std::ranges::find_if(
            kEvents, [&](const EventName& e) { return equals_ignoring_case(e.name, piece); });
        if (known != kEvents.end()) {
            types |= static_cast<unsigned>(known->event);
        } else if (equals_ignoring_case(piece, "ALL")) {
            types |= kMailAll;
        } else if (equals_ignoring_case(piece, "NONE")) {
            none = true;
        } else {
            return fail(Errc::InvalidArgument, fmt::format("Invalid mail type: {}", piece));
        }
    }
    if (pieces.empty()) return fail(Errc::InvalidArgument, "Invalid mail type: ");
    return none ? MailTypes{0} : static_cast<MailTypes>(types);
}

std::string mail_types_to_string(MailTypes types) {
    std::string out;
    for (const EventName& known : kEvents) {
        if (!has(types, known.event)) continue;
        if (!out.empty()) out += ',';
        out += known.name;
    }
    return out.empty() ? "NONE" : out;
}

bool is_mail_address(std::string_view text) {
    return !text.empty() && text.size() <= limits::kMailAddressBytesMax && !text.starts_with('-') &&
           !text.contains(' ') && !has_control_characters(text);
}

}  // namespace switchyard::model
