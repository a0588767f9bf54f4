// size_format.cpp: amounts of memory and counts. An amount reads back as it is printed.
#include "model/size_format.hpp"
#include "fuzz/fuzz.hpp"

namespace switchyard {
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::as_text(data, size);
    if (const auto amount = model::parse_memory(text); amount) {
        const std::string shown = model::format_memory(*amount);
        const auto again = model::parse_memory(shown);
        fuzz::must(again && *again == *amount, "a printed amount reads back", shown);
    }
    (void)model::parse_count(text);
    return 0;
}

}  // namespace switchyard
