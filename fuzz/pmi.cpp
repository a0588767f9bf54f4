// pmi.cpp: what a task says to the PMI server of its step, in both dialects, in any pieces.
#include "fuzz/fuzz.hpp"
#include "pmi/simple_wire.hpp"

namespace switchyard {
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    for (const pmi::Dialect dialect : {pmi::Dialect::Pmi1, pmi::Dialect::Pmi2}) {
        std::string bytes(fuzz::as_text(data, size));
        while (true) {
            const std::size_t before = bytes.size();
            const auto words = pmi::take_words(bytes, dialect);
            if (!words || !*words) break;
            fuzz::must(bytes.size() < before, "a message is taken from the front");
            (void)pmi::format_words(**words, dialect);
        }
    }
    return 0;
}

}  // namespace switchyard
