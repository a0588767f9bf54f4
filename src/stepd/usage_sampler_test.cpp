// The processes are real, the frequencies are written by the tests.
#include "stepd/usage_sampler.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace switchyard::stepd {
namespace {

class UsageSamplerTest : public testing::Test {
  protected:
    UsageSamplerTest() {
        std::string name = "/tmp/sy-sampler-XXXXXX";
        root_ = ::mkdtemp(name.data());
        std::filesystem::create_directories(root_ + "/proc");
    }
    ~UsageSamplerTest() override { std::filesystem::remove_all(root_); }

    void run_all_at(int megahertz) const {
        std::ofstream file(root_ + "/proc/cpuinfo");
        for (long cpu = 0; cpu < ::sysconf(_SC_NPROCESSORS_CONF); ++cpu)
            file << fmt::format("processor : {}\ncpu MHz : {}.000\n\n", cpu, megahertz);
    }
    // Lets the process run until it has used so much, and stops it there; what it has used then.
    static std::uint64_t run_until(pid_t pid, std::uint64_t micros) {
        const auto used = [&] {
            const auto usage = os::read_usage(pid);
            return usage ? usage->user_us + usage->system_us : micros;
        };
        ::kill(pid, SIGCONT);
        while (used() < micros) ::usleep(1000);
        ::kill(pid, SIGSTOP);
        while (os::read_process(pid)->state != 'T') ::usleep(1000);
        return used();
    }
    static std::uint64_t khz(const UsageSampler& sampler) {
        const model::StepUsage usage = sampler.usage("n1");
        const model::UsageMeasure* measure = model::find_measure(usage, model::kFrequency);
        return measure == nullptr ? 0 : measure->average();
    }
    std::string root_;
};

TEST_F(UsageSamplerTest, WeighsFrequenciesByTheProcessorTimeUsedAtThem) {
    UsageSampler sampler(root_);
    const pid_t busy = ::fork();
    if (busy == 0) {
        for (volatile std::uint64_t turns = 0;; turns = turns + 1) {
        }
    }
    sampler.add_task(0, busy);
    run_all_at(1000);
    const auto first = static_cast<double>(run_until(busy, 50'000));
    sampler.look({busy});
    EXPECT_EQ(khz(sampler), 1000000u);
    // About three times as long at three times the speed.
    run_all_at(3000);
    const auto all = static_cast<double>(run_until(busy, static_cast<std::uint64_t>(4 * first)));
    sampler.look({busy});
    EXPECT_NEAR(static_cast<double>(khz(sampler)),
                (first * 1'000'000 + (all - first) * 3'000'000) / all, 1);
    ::kill(busy, SIGKILL);
    ::waitpid(busy, nullptr, 0);
}

TEST_F(UsageSamplerTest, ATaskThatUsedNoTimeHasTheFrequencyOfItsProcessor) {
    UsageSampler sampler(root_);
    const pid_t child = ::fork();
    if (child == 0) {
        ::pause();
        ::_exit(0);
    }
    sampler.add_task(0, child);
    run_all_at(1234);
    sampler.look({child});
    EXPECT_EQ(khz(sampler), 1234000u);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
}

TEST_F(UsageSamplerTest, WhereNothingTellsItThereIsNone) {
    UsageSampler sampler(root_);
    sampler.add_task(0, ::getpid());
    sampler.look({::getpid()});
    EXPECT_EQ(khz(sampler), 0u);
    const model::StepUsage usage = sampler.usage("n1");
    EXPECT_EQ(model::find_measure(usage, model::kFrequency), nullptr);
}

}  // namespace
}  // namespace switchyard::stepd
