// late_libm.cpp: the functions of libm that the archives we link refer to, found when they are
// first called.
//
// SQLite can compute sines for whoever asks in SQL, and formatting a number may round one up. No
// command does the former and few the latter, yet linked as usual, libm.so would be looked for,
// mapped and relocated at every start: a tenth of the time an empty program takes.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace {

template <class Function>
Function* find(const char* name) {
    static void* const library = ::dlopen("libm.so.6", RTLD_LAZY);
    void* const function = library != nullptr ? ::dlsym(library, name) : nullptr;
    if (function == nullptr) {
        std::fprintf(stderr, "switchyard: no %s in libm.so.6: %s\n", name, ::dlerror());
        std::abort();
    }
    return reinterpret_cast<Function*>(function);
}

}  // namespace

#define SY_LATE_1(name)                                            \
    double name(double x) noexcept {                               \
        static auto* const function = find<double(double)>(#name); \
        return function(x);                                        \
    }
#define SY_LATE_2(name)                                                    \
    double name(double x, double y) noexcept {                             \
        static auto* const function = find<double(double, double)>(#name); \
        return function(x, y);                                             \
    }

extern "C" {
SY_LATE_1(acos)
SY_LATE_1(acosh)
SY_LATE_1(asin)
SY_LATE_1(asinh)
SY_LATE_1(atan)
SY_LATE_1(atanh)
SY_LATE_1(ceil)
SY_LATE_1(cos)
SY_LATE_1(cosh)
SY_LATE_1(exp)
SY_LATE_1(log)
SY_LATE_1(sin)
SY_LATE_1(sinh)
SY_LATE_1(sqrt)
SY_LATE_1(tan)
SY_LATE_1(tanh)
SY_LATE_1(trunc)
SY_LATE_2(atan2)
SY_LATE_2(fmod)
SY_LATE_2(pow)

float modff(float x, float* whole) noexcept {
    static auto* const function = find<float(float, float*)>("modff");
    return function(x, whole);
}
}
