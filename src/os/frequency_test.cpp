#include "os/frequency.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace switchyard::os {
namespace {

// A host of files: what it has of /sys and /proc is what a test writes.
class FrequenciesTest : public testing::Test {
  protected:
    FrequenciesTest() {
        std::string name = "/tmp/sy-frequency-XXXXXX";
        root_ = ::mkdtemp(name.data());
    }
    ~FrequenciesTest() override { std::filesystem::remove_all(root_); }

    void write(const std::string& path, const std::string& text) const {
        const std::filesystem::path file = root_ + path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    std::string root_;
};

TEST_F(FrequenciesTest, AreThoseOfTheGovernorWhereThereIsOne) {
    write("/sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq", "2400123\n");
    write("/proc/cpuinfo", "processor : 3\ncpu MHz : 1000.000\n");
    EXPECT_EQ(Frequencies(root_).of_cpu(3), 2400123u);
}

TEST_F(FrequenciesTest, AreReadFromCpuinfoElse) {
    write("/proc/cpuinfo",
          "processor\t: 0\nmodel name\t: some\ncpu MHz\t\t: 2299.998\n\n"
          "processor\t: 1\ncpu MHz\t\t: 1200\n\nprocessor\t: 2\nBogoMIPS\t: 50.00\n");
    write("/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "<unknown>\n");
    Frequencies all(root_);
    EXPECT_EQ(all.of_cpu(0), 2299998u);
    EXPECT_EQ(all.of_cpu(1), 1200000u);
    EXPECT_FALSE(all.of_cpu(2)) << "as on ARM";
    EXPECT_FALSE(all.of_cpu(7));
}

TEST_F(FrequenciesTest, AreNoneWhereNothingTellsThem) {
    EXPECT_FALSE(Frequencies(root_).of_cpu(0));
}

TEST_F(FrequenciesTest, AreOfOneLook) {
    write("/proc/cpuinfo", "processor : 0\ncpu MHz : 1000\n");
    Frequencies look(root_);
    EXPECT_EQ(look.of_cpu(0), 1000000u);
    write("/proc/cpuinfo", "processor : 0\ncpu MHz : 2000\n");
    EXPECT_EQ(look.of_cpu(0), 1000000u);
    EXPECT_EQ(Frequencies(root_).of_cpu(0), 2000000u);
}

}  // namespace
}  // namespace switchyard::os
