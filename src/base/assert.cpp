#include "base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace switchyard {

void assertion_failed(const char* condition, const char* file, int line) {
    std::fprintf(stderr, "switchyard: assertion failed: %s (%s:%d)\n", condition, file, line);
    std::abort();
}

}  // namespace switchyard
