// fuzz.hpp: what the targets share. A target feeds what it is given to one reader of text or bytes
// that people or peers can reach, and where there is a writer too, checks that what is written
// reads back as the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace switchyard {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace fuzz {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

// A broken promise is a crash, which is what the fuzzer looks for.
inline void must(bool holds, std::string_view promise, std::string_view shown = {}) {
    if (holds) return;
    std::fprintf(stderr, "broken promise: %.*s\n%.*s\n", static_cast<int>(promise.size()),
                 promise.data(), static_cast<int>(shown.size()), shown.data());
    std::abort();
}

}  // namespace fuzz
}  // namespace switchyard
