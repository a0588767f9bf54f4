// order_key.hpp: several sort keys as one string that compares byte by byte.
//
// A long list is sorted without keeping its records: each line keeps its text and such a key.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace switchyard::view {

class OrderKey {
  public:
    OrderKey() { bytes_.reserve(kUsualBytes); }
    void add_number(std::int64_t number, bool descending);
    void add_text(std::string_view text, bool descending);
    // As people sort node names: n2 before n10.
    void add_host(std::string_view host, bool descending);

    // Whatever a field shows: a text that begins with a number sorts as one, "8+" after "4".
    void add_value(std::string_view text, bool descending);

    // Nothing, in the memory it has.
    void clear() { bytes_.clear(); }
    const std::string& bytes() const& { return bytes_; }
    std::string bytes() && { return std::move(bytes_); }

  private:
    void add(std::string_view bytes, bool descending);
    static constexpr std::size_t kUsualBytes = 64;
    std::string bytes_;
};

}  // namespace switchyard::view
