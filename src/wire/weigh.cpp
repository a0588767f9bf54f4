#include "wire/weigh.hpp"

#include "wire/fields.hpp"

namespace switchyard::wire {
namespace {

constexpr int kDepthMax = 16;  // Deeper parts are as large as their bytes at most.
constexpr std::size_t kLooksPerField = 4;

class Counter {
  public:
    explicit Counter(std::size_t most) : most_(most), looks_left_(kLooksPerField * most + 1) {}

    // None are counted in what is no message; but to find that out costs as well, and counts as
    // much as it may when it costs too much.
    std::size_t count(std::string_view message, int depth) {
        std::size_t found = 0;
        Fields fields(message);
        for (Field field; fields.next(field);) {
            if (looks_left_ == 0) return most_;
            --looks_left_;
            ++found;
            if (field.is_bytes && depth < kDepthMax) found += count(field.value, depth + 1);
            if (found >= most_) return most_;
        }
        return fields.ok() ? found : 0;
    }

  private:
    std::size_t most_, looks_left_;
};

}  // namespace

std::size_t count_fields(std::string_view message, std::size_t most) {
    return Counter(most).count(message, 0);
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
