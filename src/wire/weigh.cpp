#include "wire/weigh.hpp"

#include "wire/fields.hpp"

namespace switchyard::wire {
namespace {

constexpr int kDepthMax = 16;  // Deeper parts are as large as their bytes at most.

// None are counted in what is no message.
std::size_t count(std::string_view message, std::size_t most, int depth) {
    std::size_t found = 0;
    Fields fields(message);
    for (Field field; found < most && fields.next(field);) {
        ++found;
        if (field.is_bytes && depth < kDepthMax)
            found += count(field.value, most - found, depth + 1);
    }
    return found >= most || fields.ok() ? found : 0;
}

}  // namespace

std::size_t count_fields(std::string_view message, std::size_t most) {
    return count(message, most, 0);
}

std::size_t count_repeated(std::string_view message, std::span<const std::uint32_t> path) {
    std::size_t found = 0;
    Fields fields(message);
    for (Field field; fields.next(field);) {
        if (field.number != path.front()) continue;
        found += path.size() == 1 ? 1 : count_repeated(field.value, path.subspan(1));
    }
    return found;
}

}  // namespace switchyard::wire
