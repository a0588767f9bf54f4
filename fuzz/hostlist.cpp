// hostlist.cpp: what is expanded, compressed and expanded again is the same list.
#include "model/hostlist.hpp"
#include "fuzz/fuzz.hpp"

namespace switchyard {
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto names = model::expand_hostlist(fuzz::as_text(data, size));
    if (!names || names->size() > 4096) return 0;
    const std::string compressed = model::compress_hostlist(*names);
    const auto again = model::expand_hostlist(compressed);
    fuzz::must(again && *again == *names, "a compressed hostlist expands to the same", compressed);
    const auto sorted = model::sort_hostnames(*names);
    fuzz::must(sorted.size() <= names->size(), "sorting adds no names");
    return 0;
}

}  // namespace switchyard
