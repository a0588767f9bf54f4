// holdings.hpp: what this process has allocated, so that freeing it can be credited.
//
// A hash table from (kind, handle) to card and size, behind one lock. It is made for a library that
// is loaded into other people's programs: no allocator of the program's is used, nothing throws.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/guard/cuda_abi.hpp"

namespace switchyard::guard {

enum class Kind : std::uint8_t { None = 0, Pointer, Array, Handle, Mapping };

struct Holding {
    Kind kind = Kind::None;
    std::uint8_t card = 0;
    std::uint32_t references = 1;  // Of a Handle: itself and its mappings.
    std::uint64_t key = 0;
    std::uint64_t bytes = 0;
    std::uint64_t link = 0;  // Of a Mapping: the handle. Of the others: the context they live in.
};

class Holdings {
  public:
    bool insert(const Holding& holding);
    // Takes it out and copies it to `found`.
    bool take(Kind kind, std::uint64_t key, Holding* found);
    bool find(Kind kind, std::uint64_t key, Holding* found);
    // Adds to the references of a handle; the number left, or -1 if it is not known.
    int add_references(std::uint64_t handle, int change);
    // Takes out one that lives in this context (null: in any) of this card.
    bool take_of_context(unsigned card, Context context, Holding* found);

  private:
    Holding* slot_for(Kind kind, std::uint64_t key);
    bool grow();
    void close_gap(std::size_t hole);

    Holding* table_ = nullptr;
    std::size_t size_ = 0, used_ = 0;  // Size is a power of two.
};

}  // namespace switchyard::guard
