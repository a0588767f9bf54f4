// assert.hpp: SY_ASSERT, for what only a bug can do wrong. On in release builds too: a daemon that
// trips one stops, and its restart loads the last committed records.
#pragma once

namespace switchyard {
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);
}

#define SY_ASSERT(condition) \
    ((condition) ? void(0) : ::switchyard::assertion_failed(#condition, __FILE__, __LINE__))
