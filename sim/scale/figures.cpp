// figures.cpp: see figures.hpp.

#include "sim/scale/figures.hpp"

#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>

namespace switchyard::sim::scale {
namespace {

constexpr double kLeast = 1e-3;
constexpr double kSteps = 16;

}  // namespace

double Stopwatch::now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

void Distribution::add(double value) {
    const double at = value <= kLeast ? 0 : kSteps * std::log2(value / kLeast);
    ++buckets_[std::min(buckets_.size() - 1, static_cast<std::size_t>(at))];
    ++count_;
    sum_ += value;
    most_ = std::max(most_, value);
}

double Distribution::quantile(double part) const {
    const auto wanted = static_cast<std::uint64_t>(part * static_cast<double>(count_));
    std::uint64_t seen = 0;
    for (std::size_t at = 0; at < buckets_.size(); ++at) {
        seen += buckets_[at];
        if (seen > wanted)
            return std::min(most_, kLeast * std::exp2((static_cast<double>(at) + 0.5) / kSteps));
    }
    return most_;
}

void Report::add(const std::string& name, const Distribution& times) {
    add(name + "_median", times.quantile(0.5));
    add(name + "_p99", times.quantile(0.99));
    add(name + "_most", times.most());
}

void Report::print(bool json) const {
    std::string text;
    for (const auto& [name, value] : rows_) {
        if (json) {
            text += fmt::format("{}\"{}\": {:.6g}", text.empty() ? "{" : ", ", name, value);
        } else {
            text += fmt::format("{:<32}{:>16.6g}\n", name, value);
        }
    }
    std::printf("%s%s", text.c_str(), json ? "}\n" : "");
    std::fflush(stdout);
}

std::uint64_t allocated_bytes() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

}  // namespace switchyard::sim::scale
