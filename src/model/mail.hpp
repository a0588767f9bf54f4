// mail.hpp: --mail-type and the subject lines of job mail.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace switchyard::model {

enum class MailEvent : std::uint16_t {
    Begin = 1,
    End = 2,
    Fail = 4,
    Requeue = 8,
    TimeLimit = 16,
    TimeLimit90 = 32,
    TimeLimit80 = 64,
    TimeLimit50 = 128,
    StageOut = 256,
    InvalidDepend = 512,
    ArrayTasks = 1024,
    GpuIdle = 2048,  // Of the site's choice, not of the user's.
};

using MailTypes = std::uint16_t;  // A set of MailEvent bits.
inline constexpr MailTypes kMailAll = 1 | 2 | 4 | 8 | 256 | 512;

inline bool has(MailTypes types, MailEvent event) {
    return (types & static_cast<MailTypes>(event)) != 0;
}

// "BEGIN,END", "ALL", "NONE", any case.
Result<MailTypes> parse_mail_types(std::string_view text);
std::string mail_types_to_string(MailTypes types);  // "BEGIN,END"; "NONE" when empty.

// Not what a mail program could take for an option, for several words or for more lines.
bool is_mail_address(std::string_view text);

}  // namespace switchyard::model
