#include "model/sluid.hpp"

#include <cstdint>

namespace switchyard::model {
namespace {

// From the top: 12 bits for the cluster, 41 for the millisecond, 10 that tell jobs of one
// millisecond apart. Ids follow one another, so the low bits of the id do that.
constexpr unsigned kSequenceBits = 10, kMomentBits = 41, kClusterBits = 12;

constexpr std::uint64_t low_bits(std::uint64_t value, unsigned bits) {
    return value & ((std::uint64_t{1} << bits) - 1);
}

// FNV-1a, folded: the same for a name on every machine. 0 is no cluster.
std::uint64_t cluster_number(std::string_view name) {
    std::uint32_t hash = 2166136261U;
    for (const char c : name) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    }
    const std::uint64_t folded =
        low_bits(hash ^ (hash >> kClusterBits) ^ (hash >> (2 * kClusterBits)), kClusterBits);
    return folded == 0 ? 1 : folded;
}

}  // namespace

std::string sluid_of(const Job& job, std::string_view cluster) {
    constexpr std::string_view kDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    constexpr unsigned kDigitBits = 5, kDigitCount = 13;
    const auto millis = static_cast<std::uint64_t>(job.submitted.time_since_epoch().count());
    const std::uint64_t value = cluster_number(cluster) << (kMomentBits + kSequenceBits) |
                                low_bits(millis, kMomentBits) << kSequenceBits |
                                low_bits(job.id.value, kSequenceBits);
    std::string text = "s";
    for (unsigned digit = kDigitCount; digit-- > 0;) {
        text += kDigits[low_bits(value >> (digit * kDigitBits), kDigitBits)];
    }
    return text;
}

}  // namespace switchyard::model
