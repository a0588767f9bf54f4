// array.cpp: --array expressions and sets of numbers. Both read back as they are printed.
#include "fuzz/fuzz.hpp"
#include "model/job_array.hpp"

namespace switchyard {
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::as_text(data, size);
    if (const auto set = model::parse_index_set(text); set && set->intervals().size() < 4096) {
        const std::string shown = model::to_string(*set);
        const auto again = model::parse_index_set(shown);
        fuzz::must(again && *again == *set, "a printed set reads back", shown);
    }
    if (const auto spec = model::parse_array(text);
        spec && spec->elements.intervals().size() < 4096) {
        model::ArrayPlace place;
        place.pending = spec->elements;
        place.throttle = spec->throttle;
        const std::string shown = model::format_pending_elements(place);
        const auto again = model::parse_array(shown);
        fuzz::must(again && again->elements == spec->elements && again->throttle == spec->throttle,
                   "a printed array reads back", shown);
        const std::string cut = model::format_pending_elements(place, 64);
        fuzz::must(cut.size() <= shown.size(), "a cut form is no longer than the whole", cut);
    }
    return 0;
}

}  // namespace switchyard
