#include "model/signals.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace switchyard::model {
namespace {

TEST(ParseSignal, knows_names_and_numbers) {
    EXPECT_EQ(*parse_signal("TERM"), SIGTERM);
    EXPECT_EQ(*parse_signal("SIGTERM"), SIGTERM);
    EXPECT_EQ(*parse_signal("sigterm"), SIGTERM);
    EXPECT_EQ(*parse_signal("usr2"), SIGUSR2);
    EXPECT_EQ(*parse_signal("9"), SIGKILL);
    EXPECT_EQ(*parse_signal("CLD"), SIGCHLD);
    EXPECT_EQ(*parse_signal("64"), 64);
    for (const char* bad :
         {"", "0", "-9", "65", "4294967305", "NOSUCH", "SIG", "TERM ", "9x", "SIGSIGTERM"}) {
        EXPECT_FALSE(parse_signal(bad)) << bad;
    }
}

TEST(SignalName, is_read_back_for_every_signal) {
    EXPECT_EQ(signal_name(SIGTERM), "TERM");
    EXPECT_EQ(signal_name(SIGABRT), "ABRT");
    EXPECT_EQ(signal_name(SIGCHLD), "CHLD");
    EXPECT_EQ(signal_name(64), "64");
    for (int signal = 1; signal <= 64; ++signal) {
        EXPECT_EQ(*parse_signal(signal_name(signal)), signal);
    }
}

TEST(SignalDescription, is_what_srun_prints) {
    EXPECT_EQ(signal_description(SIGTERM), "Terminated");
    EXPECT_EQ(signal_description(SIGKILL), "Killed");
    EXPECT_EQ(signal_description(SIGSEGV), "Segmentation fault");
    EXPECT_EQ(signal_description(35), "Real-time signal 1");
    EXPECT_EQ(signal_description(99), "Unknown signal 99");
}

TEST(WarnSignal, reads_target_and_lead_time) {
    EXPECT_EQ(*parse_warn_signal("USR2@90"), (WarnSignal{SIGUSR2, Seconds{90}, false, false}));
    EXPECT_EQ(*parse_warn_signal("B:USR2@30"), (WarnSignal{SIGUSR2, Seconds{30}, true, false}));
    EXPECT_EQ(*parse_warn_signal("10"), (WarnSignal{SIGUSR1, Seconds{60}, false, false}));
    EXPECT_EQ(*parse_warn_signal("R:INT@0"), (WarnSignal{SIGINT, Seconds{0}, false, true}));
    EXPECT_EQ(*parse_warn_signal("rb:SIGINT@65535"),
              (WarnSignal{SIGINT, Seconds{65'535}, true, true}));
    for (const char* bad : {"", "B:", ":USR1", "X:USR1", "USR1@", "USR1@-1", "USR1@65536", "USR1@x",
                            "@30", "0@30", "B:USR1:2", "NOSUCH@3"}) {
        EXPECT_FALSE(parse_warn_signal(bad)) << bad;
    }
}

TEST(WarnSignal, prints_what_it_reads) {
    for (const char* text : {"USR2@90", "B:USR2@30", "R:INT@60", "RB:TERM@5"}) {
        EXPECT_EQ(to_string(*parse_warn_signal(text)), text);
    }
    EXPECT_EQ(to_string(WarnSignal{}), "");
}

}  // namespace
}  // namespace switchyard::model
