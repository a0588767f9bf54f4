// name_index.hpp: which jobs of a user may carry a name. Names differ from job to job, so what is
// kept of each is a number made from it; whoever finds a job here compares the name itself.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/ids.hpp"
#include "base/packed_set.hpp"

namespace switchyard::core {

class NameIndex {
  public:
    struct Entry {
        std::uint64_t number = 0;
        JobId job;
        auto operator<=>(const Entry&) const = default;
    };
    using Set = PackedSet<Entry>;

    void add(std::uint32_t uid, std::string_view name, JobId job) {
        set_.insert({number_of(uid, name), job});
    }
    void remove(std::uint32_t uid, std::string_view name, JobId job) {
        set_.erase({number_of(uid, name), job});
    }
    struct Range {
        Set::const_iterator begin, end;
    };
    Range find(std::uint32_t uid, std::string_view name) const {  // In the order of ids.
        const std::uint64_t number = number_of(uid, name);
        return {set_.lower_bound({number, JobId{0}}),
                set_.upper_bound({number, JobId{0xffffffff}})};
    }

  private:
    // FNV-1a: the same on every machine.
    static std::uint64_t number_of(std::uint32_t uid, std::string_view name) {
        std::uint64_t number = 0xcbf29ce484222325u;
        const auto mix = [&](unsigned char byte) { number = (number ^ byte) * 0x100000001b3u; };
        for (int shift = 0; shift < 32; shift += 8) mix(static_cast<unsigned char>(uid >> shift));
        for (const char letter : name) mix(static_cast<unsigned char>(letter));
        return number;
    }
    Set set_;
};

}  // namespace switchyard::core
