// near_calls.cpp: functions of the C library whose addresses stand in tables of the archives we
// link, first of all SQLite's table of system calls.
//
// Such an address is looked up by the loader before main, in every command, though only a daemon
// opens a database. The linker's --wrap (src/CMakeLists.txt) puts the address of one of these in
// its place, which is known when it links; the function itself is then found at its first call, as
// all others are.

#if defined(__x86_64__)
#define SY_JUMP "jmp"
#elif defined(__aarch64__)
#define SY_JUMP "b"
#endif

#define SY_NEAR(name)                                      \
    asm(".pushsection .text.near_calls,\"ax\",@progbits\n" \
        ".globl __wrap_" #name                             \
        "\n"                                               \
        ".type __wrap_" #name                              \
        ",@function\n"                                     \
        "__wrap_" #name ": " SY_JUMP " __real_" #name      \
        "\n"                                               \
        ".size __wrap_" #name ",.-__wrap_" #name           \
        "\n"                                               \
        ".popsection\n");

SY_NEAR(access)
SY_NEAR(close)
SY_NEAR(fchmod)
SY_NEAR(fchown)
SY_NEAR(fcntl64)
SY_NEAR(fstat64)
SY_NEAR(ftruncate64)
SY_NEAR(getcwd)
SY_NEAR(geteuid)
SY_NEAR(getentropy)
SY_NEAR(lstat64)
SY_NEAR(mkdir)
SY_NEAR(mmap64)
SY_NEAR(mremap)
SY_NEAR(munmap)
SY_NEAR(pread64)
SY_NEAR(pthread_getaffinity_np)
SY_NEAR(pthread_self)
SY_NEAR(pthread_setaffinity_np)
SY_NEAR(pwrite64)
SY_NEAR(read)
SY_NEAR(readlink)
SY_NEAR(rmdir)
SY_NEAR(stat64)
SY_NEAR(strcmp)
SY_NEAR(unlink)
SY_NEAR(write)
