// Goal: a shard job cannot hold more memory than its share, whatever its processes do and however
// they find the driver, and together jobs use a card in proportion to their shares. Method: the
// guard as it is shipped, preloaded into a probe program over a fake CUDA driver whose card is a
// file.
#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdlib>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "gpu/fake_world.hpp"
#include "gpu/guard/holdings.hpp"
#include "gpu/guard/ledger.hpp"

namespace switchyard::gpu {
namespace {

constexpr const char* kUuid = "GPU-00000000-0000-0000-0000-000000000000";

// A folder with an empty ledger, an empty file for turns, and the fake card.
class Place {
  public:
    Place() {
        char name[] = "/tmp/sy_guard_XXXXXX";
        path = ::mkdtemp(name);
        for (const char* file : {"/ledger", "/ledger2", "/turns"}) std::ofstream(path + file);
    }
    ~Place() { EXPECT_EQ(std::system(("rm -r " + path).c_str()), 0); }

    // The probe of a job that has `share` of 64; "" is no guard.
    std::string command(const std::string& arguments, const std::string& share, int job = 1,
                        const std::string& extra = "", const std::string& limit = "") const {
        std::string out = "FAKE_CUDA=" + path + "/card FAKE_MEMORY_MIB=8192 FAKE_KERNEL_US=500 " +
                          "FAKE_NVML= LD_LIBRARY_PATH=" SY_FAKE_LIBRARIES " ";
        if (!share.empty()) {
            out += "SWITCHYARD_GUARD='job=" + std::to_string(job) + extra + ";ledger=" + path +
                   (job == 1 ? "/ledger" : "/ledger2") + ";card=" + kUuid + "," + share + ",64," +
                   path + "/turns" + limit + "' LD_PRELOAD=" SY_GUARD " ";
        }
        return out + SY_FAKE_LIBRARIES "/guard_probe " + arguments;
    }

    std::string path;
};

std::string output_of(FILE* pipe) {
    std::string text;
    for (int c = ::fgetc(pipe); c != EOF; c = ::fgetc(pipe)) text += static_cast<char>(c);
    ::pclose(pipe);
    return text;
}

std::string run(const std::string& command) { return output_of(::popen(command.c_str(), "r")); }

std::string first_line(FILE* pipe) {
    std::string line;
    for (int c = ::fgetc(pipe); c != EOF && c != '\n'; c = ::fgetc(pipe))
        line += static_cast<char>(c);
    return line;
}

int number_after(const std::string& text, const std::string& word) {
    const std::size_t at = text.find(word);
    return at == std::string::npos ? -1 : std::atoi(text.c_str() + at + word.size());
}

TEST(Guard, without_its_variable_it_changes_nothing) {
    const Place place;
    EXPECT_EQ(run(place.command("info alloc 8000 info", "")),
              "info 8192 of 8192 device 8192\nalloc ok\ninfo 192 of 8192 device 8192\n");
    const Place other;
    EXPECT_EQ(run("LD_PRELOAD=" SY_GUARD " " + other.command("info", "")),
              "info 8192 of 8192 device 8192\n");
}

// 16 of 64 of 8192 MiB are 2048; the fake driver does not say what a context takes, so 256 of them
// are counted for it.
TEST(Guard, a_job_sees_a_card_of_the_size_of_its_share_and_no_more) {
    const Place place;
    EXPECT_EQ(run(place.command("info alloc 1000 info alloc 1000 free alloc 1700 alloc 100", "16")),
              "info 1792 of 2048 device 2048\nalloc ok\ninfo 792 of 2048 device 2048\n"
              "alloc error 2\nfree ok\nalloc ok\nalloc error 2\n");
}

// As it is told where the driver keeps the same limit.
TEST(Guard, a_limit_in_bytes_is_taken_as_it_is) {
    const Place place;
    EXPECT_EQ(run(place.command("info alloc 700 alloc 100", "16", 1, "", ",1073741824")),
              "info 768 of 1024 device 1024\nalloc ok\nalloc error 2\n");
}

TEST(Guard, functions_found_by_cuGetProcAddress_are_guarded_too) {
    const Place place;
    EXPECT_EQ(run(place.command("proc info alloc 1800 alloc 1700 info free info", "16")),
              "info 1792 of 2048 device 2048\nalloc error 2\nalloc ok\n"
              "info 92 of 2048 device 2048\nfree ok\ninfo 1792 of 2048 device 2048\n");
}

TEST(Guard, stream_ordered_and_physical_memory_count) {
    const Place place;
    EXPECT_EQ(run(place.command("async 1000 async 1000 create 700 info unmap info create 790 "
                                "create 10",
                                "16")),
              "async ok\nasync error 2\ncreate ok\ninfo 92 of 2048 device 2048\nunmap ok\n"
              "info 792 of 2048 device 2048\ncreate ok\ncreate error 2\n");
}

TEST(Guard, a_reset_context_gives_its_memory_back) {
    const Place place;
    EXPECT_EQ(run(place.command("alloc 500 alloc 500 reset info", "16")),
              "alloc ok\nalloc ok\nreset ok\ninfo 1792 of 2048 device 2048\n");
}

TEST(Guard, the_processes_of_a_job_have_one_share_together) {
    const Place place;
    FILE* first = ::popen(place.command("alloc 1000 hold", "16").c_str(), "w");
    // Its line goes to our own output; wait until the ledger shows it.
    std::string seen;
    for (int i = 0; i < 500 && seen != "info 536 of 2048 device 2048\n"; ++i) {
        ::usleep(10'000);
        seen = run(place.command("info", "16"));
    }
    EXPECT_EQ(seen, "info 536 of 2048 device 2048\n");
    EXPECT_EQ(run(place.command("alloc 600 alloc 500", "16")), "alloc error 2\nalloc ok\n");
    ::pclose(first);
    EXPECT_EQ(run(place.command("alloc 1700", "16")), "alloc ok\n");
}

TEST(Guard, what_a_killed_process_held_is_free_again) {
    const Place place;
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(run(place.command("alloc 1500 die", "16")), "alloc ok\n");
    }
}

TEST(Guard, another_jobs_memory_is_not_ours) {
    const Place place;
    FILE* other = ::popen(place.command("alloc 1700 hold", "16", 2).c_str(), "w");
    ::usleep(300'000);
    EXPECT_EQ(run(place.command("alloc 1700", "16")), "alloc ok\n");
    ::pclose(other);
}

// How fast turns go round depends on what else the machine does, so these looks at the clock are
// taken only where somebody asks for them on a quiet machine: SY_MEASURE=1 gpu_test. One good look
// of three is enough.
#define ONLY_WHEN_MEASURING() \
    if (std::getenv("SY_MEASURE") == nullptr) GTEST_SKIP() << "rates: run with SY_MEASURE=1"

bool holds_once_in_three(const std::function<bool()>& look) { return look() || look() || look(); }

TEST(Guard, alone_a_job_has_the_whole_card) {
    ONLY_WHEN_MEASURING();
    EXPECT_TRUE(holds_once_in_three([] {
        const Place place;
        const int free_running = number_after(run(place.command("launch 500", "")), "launched ");
        const int guarded = number_after(run(place.command("launch 500", "16")), "launched ");
        return guarded > free_running * 9 / 10;
    }));
}

TEST(Guard, a_strict_job_never_passes_its_share) {
    ONLY_WHEN_MEASURING();
    const Place place;
    // 2000 of 500 us each fit into a second; 16 of 64 are 500 of them.
    const std::string text = run(place.command("launch 1000", "16", 1, ";strict"));
    EXPECT_LT(number_after(text, "launched "), 600);
    EXPECT_GT(number_after(text, "launched "), 100);
}

TEST(Guard, together_jobs_use_the_card_in_proportion_to_their_shares) {
    ONLY_WHEN_MEASURING();
    EXPECT_TRUE(holds_once_in_three([] {
        const Place place;
        FILE* small = ::popen(place.command("launch 3000", "16", 1).c_str(), "r");
        FILE* large = ::popen(place.command("launch 3000", "48", 2).c_str(), "r");
        const int of_small = number_after(output_of(small), "launched ");
        const int of_large = number_after(output_of(large), "launched ");
        const double share = double(of_small) / double(of_small + of_large);
        return share > 0.2 && share < 0.3;
    }));
}

TEST(Guard, a_killed_holder_does_not_keep_its_turn) {
    ONLY_WHEN_MEASURING();
    const Place place;
    EXPECT_EQ(run(place.command("burst 10 die", "16", 1)).substr(0, 5), "burst");
    const int after = number_after(run(place.command("burst 10", "48", 2)), "burst ");
    EXPECT_LT(after, 500'000);
}

TEST(Guard, a_holder_that_stops_launching_gives_its_turn_up) {
    ONLY_WHEN_MEASURING();
    const Place place;
    FILE* idle = ::popen(place.command("burst 10 sleep 2000", "16", 1).c_str(), "r");
    EXPECT_EQ(first_line(idle).substr(0, 5), "burst");
    const int other = number_after(run(place.command("burst 10", "48", 2)), "burst ");
    EXPECT_LT(other, 500'000);
    output_of(idle);
}

TEST(GuardHoldings, what_goes_in_comes_out_whatever_the_order) {
    guard::Holdings holdings;
    std::map<std::uint64_t, std::uint64_t> truth;
    std::uint64_t state = 1;
    for (int i = 0; i < 200'000; ++i) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        const std::uint64_t key = ((state >> 33) % 20'000) << 9;
        guard::Holding holding;
        if (truth.contains(key)) {
            ASSERT_TRUE(holdings.take(guard::Kind::Pointer, key, &holding)) << i;
            ASSERT_EQ(holding.bytes, truth[key]);
            truth.erase(key);
        } else {
            ASSERT_FALSE(holdings.find(guard::Kind::Pointer, key, &holding));
            holding.kind = guard::Kind::Pointer;
            holding.key = key;
            holding.bytes = truth[key] = state;
            ASSERT_TRUE(holdings.insert(holding));
        }
    }
}

TEST(GuardLedger, a_charge_past_the_limit_is_refused_and_leaves_no_trace) {
    guard::Ledger ledger;
    ledger.open(nullptr);
    EXPECT_TRUE(ledger.charge(0, 60, 100));
    EXPECT_FALSE(ledger.charge(0, 50, 100));
    EXPECT_TRUE(ledger.charge(0, 40, 100));
    EXPECT_FALSE(ledger.charge(0, ~0ull, 100));
    EXPECT_EQ(ledger.job_holds(0), 100u);
    ledger.release(0, 500);
    EXPECT_EQ(ledger.job_holds(0), 0u);
}

}  // namespace
}  // namespace switchyard::gpu
