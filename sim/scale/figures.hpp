// figures.hpp: how long things took, without keeping every one of them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace switchyard::sim::scale {

// The time of this thread's processor, so that other work on the machine is not counted.
class Stopwatch {
  public:
    Stopwatch() : begin_(now()) {}
    double microseconds() const { return now() - begin_; }

  private:
    static double now();
    double begin_;
};

// A histogram with steps of a sixteenth of a power of two.
class Distribution {
  public:
    void add(double value);
    double quantile(double part) const;
    double mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }
    double most() const { return most_; }
    double sum() const { return sum_; }
    std::uint64_t count() const { return count_; }

  private:
    std::array<std::uint64_t, 1024> buckets_{};
    std::uint64_t count_ = 0;
    double sum_ = 0, most_ = 0;
};

// Named metrics, in the order they were added; printed as lines or as one JSON object.
class Report {
  public:
    void add(std::string name, double value) { rows_.emplace_back(std::move(name), value); }
    void add(const std::string& name, const Distribution& times);  // Median, p99, most.
    void print(bool json) const;

  private:
    std::vector<std::pair<std::string, double>> rows_;
};

// Bytes that are allocated now.
std::uint64_t allocated_bytes();

}  // namespace switchyard::sim::scale
