// intercept_launch.cpp: everything that puts work on a card passes the pacer first.
#include "gpu/guard/driver.hpp"
#include "gpu/guard/guard.hpp"
#include "gpu/guard/intercept.hpp"

// Functions of C have one name, whatever namespace they stand in.
namespace switchyard::guard {

#define SY_REAL(name, ...)                           \
    const auto real = SY_DRIVER(#name, __VA_ARGS__); \
    if (real == nullptr) return kCudaNotInitialized
#define SY_PASS(stream) \
    if (Guard::get().is_active()) Guard::get().before_launch(stream)

using LaunchCall = Result (*)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                              unsigned, Stream, void**, void**);
#define SY_LAUNCH(name)                                                                   \
    SY_EXPORT Result name(Function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, \
                          unsigned by, unsigned bz, unsigned shared, Stream stream,       \
                          void** parameters, void** extra) {                              \
        SY_REAL(name, LaunchCall);                                                        \
        SY_PASS(stream);                                                                  \
        return real(f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);        \
    }
SY_LAUNCH(cuLaunchKernel)
SY_LAUNCH(cuLaunchKernel_ptsz)

using LaunchExCall = Result (*)(const LaunchConfig*, Function, void**, void**);
#define SY_LAUNCH_EX(name)                                                           \
    SY_EXPORT Result name(const LaunchConfig* config, Function f, void** parameters, \
                          void** extra) {                                            \
        SY_REAL(name, LaunchExCall);                                                 \
        SY_PASS(config == nullptr ? nullptr : config->stream);                       \
        return real(config, f, parameters, extra);                                   \
    }
SY_LAUNCH_EX(cuLaunchKernelEx)
SY_LAUNCH_EX(cuLaunchKernelEx_ptsz)

using CooperativeCall = Result (*)(Function, unsigned, unsigned, unsigned, unsigned, unsigned,
                                   unsigned, unsigned, Stream, void**);
#define SY_LAUNCH_COOPERATIVE(name)                                                       \
    SY_EXPORT Result name(Function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, \
                          unsigned by, unsigned bz, unsigned shared, Stream stream,       \
                          void** parameters) {                                            \
        SY_REAL(name, CooperativeCall);                                                   \
        SY_PASS(stream);                                                                  \
        return real(f, gx, gy, gz, bx, by, bz, shared, stream, parameters);               \
    }
SY_LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel)
SY_LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel_ptsz)

#define SY_GRAPH_LAUNCH(name)                           \
    SY_EXPORT Result name(void* graph, Stream stream) { \
        SY_REAL(name, Result (*)(void*, Stream));       \
        SY_PASS(stream);                                \
        return real(graph, stream);                     \
    }
SY_GRAPH_LAUNCH(cuGraphLaunch)
SY_GRAPH_LAUNCH(cuGraphLaunch_ptsz)

#define SY_BEGIN_CAPTURE(name)                                    \
    SY_EXPORT Result name(Stream stream, int mode) {              \
        SY_REAL(name, Result (*)(Stream, int));                   \
        if (!Guard::get().is_active()) return real(stream, mode); \
        Guard::get().capture_begins();                            \
        const Result result = real(stream, mode);                 \
        if (result != kCudaSuccess) Guard::get().capture_ended(); \
        return result;                                            \
    }
SY_BEGIN_CAPTURE(cuStreamBeginCapture_v2)
SY_BEGIN_CAPTURE(cuStreamBeginCapture_v2_ptsz)

// A capture is over even if ending it reports that it was invalid.
#define SY_END_CAPTURE(name)                                        \
    SY_EXPORT Result name(Stream stream, void** graph) {            \
        SY_REAL(name, Result (*)(Stream, void**));                  \
        const Result result = real(stream, graph);                  \
        if (Guard::get().is_active()) Guard::get().capture_ended(); \
        return result;                                              \
    }
SY_END_CAPTURE(cuStreamEndCapture)
SY_END_CAPTURE(cuStreamEndCapture_ptsz)

SY_EXPORT Result cuStreamDestroy_v2(Stream stream) {
    SY_REAL(cuStreamDestroy_v2, Result(*)(Stream));
    if (Guard::get().is_active()) Guard::get().stream_is_gone(stream);
    return real(stream);
}

#define SY_ROW(symbol, base, version, per_thread) \
    {#symbol, base, version, per_thread, reinterpret_cast<void*>(&symbol)}

Replacements launch_replacements() {
    static const Replacement rows[] = {
        SY_ROW(cuLaunchKernel, "cuLaunchKernel", 4000, false),
        SY_ROW(cuLaunchKernel_ptsz, "cuLaunchKernel", 7000, true),
        SY_ROW(cuLaunchKernelEx, "cuLaunchKernelEx", 11060, false),
        SY_ROW(cuLaunchKernelEx_ptsz, "cuLaunchKernelEx", 11060, true),
        SY_ROW(cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel", 9000, false),
        SY_ROW(cuLaunchCooperativeKernel_ptsz, "cuLaunchCooperativeKernel", 9000, true),
        SY_ROW(cuGraphLaunch, "cuGraphLaunch", 10000, false),
        SY_ROW(cuGraphLaunch_ptsz, "cuGraphLaunch", 10000, true),
        SY_ROW(cuStreamBeginCapture_v2, "cuStreamBeginCapture", 10010, false),
        SY_ROW(cuStreamBeginCapture_v2_ptsz, "cuStreamBeginCapture", 10010, true),
        SY_ROW(cuStreamEndCapture, "cuStreamEndCapture", 10000, false),
        SY_ROW(cuStreamEndCapture_ptsz, "cuStreamEndCapture", 10000, true),
        SY_ROW(cuStreamDestroy_v2, "cuStreamDestroy", 4000, false),
    };
    return {rows, sizeof(rows) / sizeof(rows[0])};
}

}  // namespace switchyard::guard
