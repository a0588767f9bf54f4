// small_pieces.cpp: small pieces of memory that were given back wait for whoever asks for as much.
//
// A record is decoded into a hundred small strings, and all of them are freed at once. glibc keeps
// seven pieces of a size at hand; the others it joins with their neighbours, to cut them up again
// for the next record. That was a tenth of what the daemons and long lists cost.
//
// Behind this stands malloc: a piece may be freed by another thread than asked for it. What a
// thread keeps is given back when it ends. The first pieces of a process come from memory that was
// there at its start: a command asks for a few hundred, and each would be cut off by malloc.
#include <malloc.h>
#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

// What malloc makes of a request: 24 bytes at least, then in steps of 16.
constexpr std::size_t kLeast = 24, kStep = 16, kClasses = 64;
constexpr std::size_t kKeptBytesMax = 16u << 10;  // In a class, for each thread.

struct Piece {
    Piece* next;
};

// As malloc does it: before each piece stands its size, and so it has a multiple of 16 bytes in
// all.
constexpr std::size_t kHead = 8, kFirstBytes = 96u << 10, kFirstPieceMax = 8u << 10;
alignas(16) constinit char first_memory[kFirstBytes];
constinit std::size_t first_used = 0;
constinit bool is_first_taken = false;  // By the thread that asked first, before there were others.
constinit thread_local bool has_first = false;

bool is_first(const void* piece) noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(piece);
    const auto begin = reinterpret_cast<std::uintptr_t>(first_memory);
    return at - begin < kFirstBytes;
}

// Null when it is used up, and for other threads. What is larger than the largest class is lost
// when it is freed. `bytes` is as malloc would make it.
void* cut_from_first(std::size_t bytes) noexcept {
    if (!is_first_taken) is_first_taken = has_first = true;
    if (!has_first || bytes + kHead > kFirstBytes - first_used - kHead) return nullptr;
    char* const piece = first_memory + first_used + 16;
    new (piece - kHead) std::size_t(bytes);
    first_used += bytes + kHead;
    return piece;
}

void free_piece(void* piece) noexcept {
    if (!is_first(piece)) std::free(piece);
}
struct Class {
    Piece* first;
    std::uint32_t count;
};
constinit thread_local Class classes[kClasses] = {};

enum class Keeping : unsigned char { NotYet, Yes, Over };
constinit thread_local Keeping keeping = Keeping::NotYet;

void give_back_all(void*) {
    keeping = Keeping::Over;
    for (Class& own : classes) {
        while (Piece* const piece = own.first) {
            own.first = piece->next;
            free_piece(piece);
        }
        own.count = 0;
    }
}

// Whether this thread keeps pieces; from the first one on its end is watched for.
bool may_keep() noexcept {
    if (keeping != Keeping::NotYet) return keeping == Keeping::Yes;
    static pthread_key_t at_end;
    static const bool made = ::pthread_key_create(&at_end, give_back_all) == 0;
    const bool watched = made && ::pthread_setspecific(at_end, classes) == 0;
    keeping = watched ? Keeping::Yes : Keeping::Over;
    return watched;
}

constexpr std::size_t class_size(std::size_t index) { return kLeast + index * kStep; }
// The least class that holds so many bytes.
constexpr std::size_t class_for(std::size_t bytes) {
    return bytes <= kLeast ? 0 : (bytes - kLeast + kStep - 1) / kStep;
}

void keep(void* piece, std::size_t index) noexcept {
    if (index >= kClasses || !may_keep()) return free_piece(piece);
    Class& own = classes[index];
    if (own.count >= kKeptBytesMax / class_size(index)) return free_piece(piece);
    own.first = new (piece) Piece{own.first};
    ++own.count;
}

}  // namespace

void* operator new(std::size_t bytes) {
    const std::size_t index = class_for(bytes);
    if (index < kClasses) {
        Class& own = classes[index];
        if (Piece* const piece = own.first) {
            own.first = piece->next;
            --own.count;
            return piece;
        }
    }
    if (bytes <= kFirstPieceMax) {
        bytes = class_size(index);
        if (void* const piece = cut_from_first(bytes)) return piece;
    }
    for (;;) {
        if (void* const piece = std::malloc(bytes)) return piece;
        const std::new_handler handler = std::get_new_handler();
        // Ours catch nothing, and std::terminate names it; the library catches it where it can do
        // with less: a stable sort without room for a copy, new (std::nothrow).
        if (handler == nullptr) throw std::bad_alloc();
        handler();
    }
}

void operator delete(void* piece) noexcept {
    if (piece == nullptr) return;
    // What malloc gave may be larger than what was asked for: of its own class, or between two.
    const std::size_t bytes =
        is_first(piece) ? *reinterpret_cast<std::size_t*>(static_cast<char*>(piece) - kHead)
                        : ::malloc_usable_size(piece);
    if (bytes < kLeast) return std::free(piece);
    keep(piece, (bytes - kLeast) / kStep);
}

void operator delete(void* piece, std::size_t bytes) noexcept {
    if (piece != nullptr) keep(piece, class_for(bytes));
}
