#include "gpu/guard/holdings.hpp"

#include <sys/mman.h>

namespace switchyard::guard {
namespace {

constexpr std::size_t kFirstSize = 4096;

std::size_t hash_of(Kind kind, std::uint64_t key) {
    std::uint64_t mixed = (key ^ (static_cast<std::uint64_t>(kind) << 60)) * 0x9e3779b97f4a7c15ull;
    return static_cast<std::size_t>(mixed ^ (mixed >> 29));
}

}  // namespace

// Its place, or the free place where it belongs.
Holding* Holdings::slot_for(Kind kind, std::uint64_t key) {
    std::size_t at = hash_of(kind, key) & (size_ - 1);
    while (table_[at].kind != Kind::None && (table_[at].kind != kind || table_[at].key != key)) {
        at = (at + 1) & (size_ - 1);
    }
    return &table_[at];
}

bool Holdings::grow() {
    const std::size_t size = size_ == 0 ? kFirstSize : size_ * 2;
    void* fresh = mmap(nullptr, size * sizeof(Holding), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED) return false;
    Holding* old = table_;
    const std::size_t old_size = size_;
    table_ = static_cast<Holding*>(fresh);
    size_ = size;
    for (std::size_t i = 0; i < old_size; ++i) {
        if (old[i].kind != Kind::None) *slot_for(old[i].kind, old[i].key) = old[i];
    }
    if (old != nullptr) munmap(old, old_size * sizeof(Holding));
    return true;
}

bool Holdings::insert(const Holding& holding) {
    if (used_ * 2 >= size_ && !grow()) return false;
    Holding* slot = slot_for(holding.kind, holding.key);
    if (slot->kind == Kind::None) ++used_;
    *slot = holding;
    return true;
}

// Moves what was displaced by the one at `hole` back towards its place.
void Holdings::close_gap(std::size_t hole) {
    const std::size_t mask = size_ - 1;
    std::size_t at = hole;
    table_[hole].kind = Kind::None;
    for (;;) {
        at = (at + 1) & mask;
        if (table_[at].kind == Kind::None) return;
        const std::size_t home = hash_of(table_[at].kind, table_[at].key) & mask;
        if (((at - home) & mask) < ((at - hole) & mask)) continue;
        table_[hole] = table_[at];
        table_[at].kind = Kind::None;
        hole = at;
    }
}

bool Holdings::take(Kind kind, std::uint64_t key, Holding* found) {
    if (size_ == 0) return false;
    Holding* slot = slot_for(kind, key);
    if (slot->kind == Kind::None) return false;
    *found = *slot;
    close_gap(static_cast<std::size_t>(slot - table_));
    --used_;
    return true;
}

bool Holdings::find(Kind kind, std::uint64_t key, Holding* found) {
    if (size_ == 0) return false;
    const Holding* slot = slot_for(kind, key);
    if (slot->kind == Kind::None) return false;
    *found = *slot;
    return true;
}

int Holdings::add_references(std::uint64_t handle, int change) {
    if (size_ == 0) return -1;
    Holding* slot = slot_for(Kind::Handle, handle);
    if (slot->kind == Kind::None) return -1;
    slot->references += static_cast<std::uint32_t>(change);
    return static_cast<int>(slot->references);
}

bool Holdings::take_of_context(unsigned card, Context context, Holding* found) {
    for (std::size_t at = 0; at < size_; ++at) {
        const Holding& each = table_[at];
        const bool bound = each.kind == Kind::Pointer || each.kind == Kind::Array;
        if (!bound || (context == nullptr && each.card != card)) continue;
        if (context != nullptr && each.link != reinterpret_cast<std::uint64_t>(context)) continue;
        return take(each.kind, each.key, found);
    }
    return false;
}

}  // namespace switchyard::guard
