// time_format.cpp: time limits and moments. A limit reads back as it is printed.
#include "model/time_format.hpp"
#include "fuzz/fuzz.hpp"

namespace switchyard {
namespace {
constexpr std::int64_t kNow = 1'800'000'000;  // 2027-01-15
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::as_text(data, size);
    if (const auto limit = model::parse_time_limit(text); limit) {
        const std::string shown = model::format_limit(*limit);
        const auto again = model::parse_time_limit(shown);
        fuzz::must(again && *again == *limit, "a printed limit reads back", shown);
        (void)model::format_limit_short(*limit);
    }
    if (const auto at = model::parse_instant(text, Instant{Seconds{kNow}}); at) {
        (void)model::format_instant(*at);
        (void)model::format_instant(*at, "relative", Instant{Seconds{kNow}});
        (void)model::format_instant_millis(*at);
    }
    return 0;
}

}  // namespace switchyard
