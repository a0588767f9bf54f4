// guard_image.cpp: the bytes of libswitchyard_guard.so, so that installing a node is copying one
// file.
#include "gpu/shares.hpp"

__asm__(
    ".section .rodata\n"
    ".balign 16\n"
    "switchyard_guard_begin:\n"
    ".incbin \"" SY_GUARD_FILE
    "\"\n"
    "switchyard_guard_end:\n"
    ".byte 0\n"
    ".previous\n");

extern "C" const std::byte switchyard_guard_begin[];
extern "C" const std::byte switchyard_guard_end[];

namespace switchyard::gpu {

std::span<const std::byte> guard_image() { return {switchyard_guard_begin, switchyard_guard_end}; }

}  // namespace switchyard::gpu
