// Goal: frames arrive whole, in order and within the limits, and every way a peer can misbehave
// ends in one clear on_close. Method: real socket pairs and unix listeners on one loop.
#include "wire/channel.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <deque>
#include <random>

#include "base/limits.hpp"
#include "wire/channel_fixture.hpp"
#include "wire/frame_buffer.hpp"

namespace switchyard::wire {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string framed(std::string_view text) {
    std::string out;
    append_frame_header(out, text.size());
    return out.append(text);
}

class ChannelTest : public ChannelFixture {
  protected:
    // Two ends on one loop.
    void connect_pair() {
        auto [a, b] = socket_pair();
        left_.channel = Channel::adopt(loop_, std::move(a), kClientToController, left_.handlers());
        right_.channel =
            Channel::adopt(loop_, std::move(b), kControllerToClient, right_.handlers());
    }
    // One end, and the naked descriptor of the other, which has said `greeting`.
    io::Fd connect_naked(std::string_view greeting = kClientToController.says) {
        auto [a, b] = socket_pair();
        left_.channel = Channel::adopt(loop_, std::move(a), kControllerToClient, left_.handlers());
        put(b, greeting);
        return std::move(b);
    }
    static void put(const io::Fd& to, std::string_view bytes) {
        ASSERT_EQ(::write(to.get(), bytes.data(), bytes.size()),
                  static_cast<ssize_t>(bytes.size()));
    }
    static std::string drain(const io::Fd& from) {
        char bytes[4096];
        const ssize_t got = ::recv(from.get(), bytes, sizeof bytes, MSG_DONTWAIT);
        return {bytes, got > 0 ? static_cast<std::size_t>(got) : 0};
    }
    End left_, right_;
};

TEST_F(ChannelTest, CarriesFramesInOrderAlsoEmptyOnes) {
    connect_pair();
    left_.channel->send("one");
    left_.channel->send("");
    left_.channel->send("three");
    run_until([&] { return right_.frames.size() == 3; });
    EXPECT_THAT(right_.frames, ElementsAre("one", "", "three"));
    EXPECT_TRUE(left_.ready);
    EXPECT_TRUE(right_.ready);
    EXPECT_EQ(left_.channel->unsent_bytes(), 0u);
}

TEST_F(ChannelTest, CarriesManySmallFrames) {
    connect_pair();
    constexpr std::size_t kCount = 100'000;
    for (std::size_t i = 0; i < kCount; ++i) left_.channel->send(std::to_string(i));
    run_until([&] { return right_.frames.size() == kCount; });
    for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(right_.frames[i], std::to_string(i));
}

TEST_F(ChannelTest, CarriesFramesUpToTheLimitBothWaysAtOnce) {
    connect_pair();
    std::string large(limits::kFrameBytesMax, 'x');
    large[12345] = 'y';
    left_.channel->send(large);
    right_.channel->send(large);
    right_.channel->send("after");
    run_until([&] { return right_.frames.size() == 1 && left_.frames.size() == 2; });
    ASSERT_EQ(right_.frames.size(), 1u);
    ASSERT_EQ(left_.frames.size(), 2u);
    EXPECT_TRUE(right_.frames[0] == large);
    EXPECT_TRUE(left_.frames[0] == large);
    EXPECT_EQ(left_.frames[1], "after");
}

TEST_F(ChannelTest, PutsTogetherAFrameThatArrivesByteByByte) {
    const io::Fd naked = connect_naked();
    const std::string bytes = framed("hello") + framed("world");
    std::size_t next = 0;
    run_until([&] {
        if (next < bytes.size()) EXPECT_EQ(::write(naked.get(), &bytes[next++], 1), 1);
        return left_.frames.size() == 2;
    });
    EXPECT_THAT(left_.frames, ElementsAre("hello", "world"));
}

TEST_F(ChannelTest, ClosesWhenThePeerAnnouncesTooMuch) {
    const io::Fd naked = connect_naked();
    std::string header;
    append_frame_header(header, limits::kFrameBytesMax + 1);
    put(naked, header);
    run_until([&] { return left_.closed.has_value(); });
    EXPECT_EQ(left_.closed->code, Errc::InvalidArgument);
    EXPECT_THAT(left_.closed->message, HasSubstr("announced a message of 67108865 bytes"));
}

// Among them the greetings of all other protocols, and a frame of a version that did not greet.
TEST_F(ChannelTest, InterpretsNothingOfAPeerWithAnotherGreeting) {
    const std::string wrong_version = "SYcl-ct2";
    for (const std::string& greeting :
         {std::string("GET / HTTP/1.1"), framed("one"), wrong_version, std::string("x"),
          std::string(kControllerGreeting), std::string(kAgentGreeting),
          std::string(kAgentToStepdGreeting), std::string(kStepdToAgentGreeting),
          std::string(kStepdToSrunGreeting), std::string(kSrunToStepdGreeting),
          std::string(kControllerToAgentGreeting)}) {
        SCOPED_TRACE(greeting);
        left_ = {};
        const io::Fd naked = connect_naked(greeting + framed("an order"));
        run_until([&] { return left_.closed.has_value(); });
        EXPECT_TRUE(left_.frames.empty());
        EXPECT_EQ(left_.closed->code, Errc::ProtocolVersion);
        EXPECT_EQ(left_.closed->message,
                  greeting == wrong_version
                      ? "the other side speaks another version of this protocol"
                      : "the other side does not speak this protocol (an older version?)");
        EXPECT_EQ(drain(naked), kControllerGreeting);
    }
}

TEST_F(ChannelTest, TheGreetingTravelsWithTheFirstFrame) {
    const io::Fd naked = connect_naked({});
    run_for(Millis{5});
    EXPECT_EQ(drain(naked), "");
    left_.channel->send("one");
    left_.channel->send("two");
    run_for(Millis{5});
    EXPECT_EQ(drain(naked), std::string(kControllerGreeting) + framed("one") + framed("two"));
}

TEST_F(ChannelTest, AFrameOverTheTermsIsRefusedWithWords) {
    const io::Fd naked = connect_naked();
    left_.channel->set_terms(
        {.frame_bytes_max = 10, .farewell = [](const Error& why) { return why.message; }});
    put(naked, framed("short") + framed("much too long"));
    run_until([&] { return left_.closed.has_value(); });
    EXPECT_THAT(left_.frames, ElementsAre("short"));
    const std::string words = "the other side announced a message of 13 bytes, the limit is 10";
    EXPECT_EQ(left_.closed->message, words);
    EXPECT_EQ(drain(naked), std::string(kControllerGreeting) + framed(words));
}

TEST_F(ChannelTest, AFloodOfFramesIsTakenInTurns) {
    const io::Fd naked = connect_naked();
    left_.channel->set_terms({.frames_per_turn_max = 10});
    std::string flood;
    for (int i = 0; i < 1000; ++i) flood += framed("x");
    put(naked, flood);
    // Looks once a turn, for as long as there is something to come.
    std::size_t most = 0, before = 0;
    std::function<void()> look = [&] {
        most = std::max(most, left_.frames.size() - before);
        before = left_.frames.size();
        if (before < 1000) loop_.post(look);
    };
    loop_.post(look);
    run_until([&] { return left_.frames.size() == 1000; });
    EXPECT_LE(most, 20u);
}

TEST_F(ChannelTest, AFrameThatIsBegunMustEndInTime) {
    const io::Fd naked = connect_naked();
    left_.channel->set_terms({.frame_time_max = Millis{30}});
    run_for(Millis{60});
    EXPECT_FALSE(left_.closed) << "an idle peer has all the time";
    put(naked, framed("whole") + framed("half").substr(0, 5));
    run_until([&] { return left_.closed.has_value(); });
    EXPECT_EQ(left_.closed->code, Errc::Timeout);
    EXPECT_THAT(left_.frames, ElementsAre("whole"));
}

TEST_F(ChannelTest, UnfinishedFramesCountAgainstASum) {
    const auto sum = std::make_shared<Allowance>("unfinished messages of user 7", 150'000);
    std::string half;
    append_frame_header(half, 100'000);
    half += std::string(40'000, 'x');
    std::vector<io::Fd> naked;
    std::deque<End> ends;
    const auto begin_one = [&] {
        auto [a, b] = socket_pair();
        End& end = ends.emplace_back();
        end.channel = Channel::adopt(loop_, std::move(a), kControllerToClient, end.handlers());
        end.channel->set_terms({.unfinished = sum});
        put(b, std::string(kClientGreeting) + half);
        naked.push_back(std::move(b));
        run_for(Millis{10});
    };
    begin_one();
    EXPECT_FALSE(ends[0].closed);
    EXPECT_GE(sum->bytes.load(), 40'000u);
    begin_one();
    begin_one();
    ASSERT_TRUE(ends[2].closed);
    EXPECT_EQ(ends[2].closed->message,
              "the unfinished messages of user 7 hold more than 150000 bytes");
    EXPECT_FALSE(ends[0].closed);
    // What ends, in either way, counts no more.
    put(naked[0], std::string(60'000, 'x'));
    run_until([&] { return ends[0].frames.size() == 1; });
    naked[1].reset();
    run_until([&] { return ends[1].closed.has_value(); });
    EXPECT_EQ(sum->bytes.load(), 0u);
}

TEST_F(ChannelTest, WhatAPeerDoesNotReadCountsAgainstASum) {
    const auto sum = std::make_shared<Allowance>("unread answers", 3'000'000);
    const io::Fd naked = connect_naked();
    left_.channel->set_terms({.unsent = sum});
    left_.channel->send(std::string(2'000'000, 'x'));
    run_for(Millis{5});
    EXPECT_GT(sum->bytes.load(), 1'000'000u);
    EXPECT_FALSE(left_.closed);
    left_.channel->send(std::string(2'000'000, 'x'));
    run_until([&] { return left_.closed.has_value(); });
    EXPECT_EQ(left_.closed->message, "the unread answers hold more than 3000000 bytes");
    EXPECT_EQ(sum->bytes.load(), 0u);
}

TEST_F(ChannelTest, DeliversWhatCameBeforeThePeerClosed) {
    io::Fd naked = connect_naked();
    const std::string bytes = framed("last words");
    ASSERT_EQ(::write(naked.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    naked.reset();
    left_.channel->send("nobody reads this");
    run_until([&] { return left_.closed.has_value(); });
    EXPECT_THAT(left_.frames, ElementsAre("last words"));
    EXPECT_EQ(left_.closed->code, Errc::Io);
}

TEST_F(ChannelTest, SaysThatThePeerClosedInTheMiddleOfAMessage) {
    io::Fd naked = connect_naked();
    ASSERT_EQ(::write(naked.get(), framed("cut off").data(), 7), 7);
    naked.reset();
    run_until([&] { return left_.closed.has_value(); });
    EXPECT_EQ(left_.closed->message, "connection closed in the middle of a message");
    EXPECT_TRUE(left_.frames.empty());
}

TEST_F(ChannelTest, ClosesItselfWhenThePeerDoesNotRead) {
    const io::Fd naked = connect_naked();
    const std::string chunk(limits::kFrameBytesMax, 'x');
    for (std::size_t sent = 0; sent <= limits::kOutboxBytesMax; sent += chunk.size())
        left_.channel->send(chunk);
    run_until([&] { return left_.closed.has_value(); });
    EXPECT_EQ(left_.closed->code, Errc::Busy);
    EXPECT_THAT(left_.closed->message, HasSubstr("the other end does not read"));
}

TEST_F(ChannelTest, RefusesToSendAFrameOverTheLimit) {
    connect_pair();
    left_.channel->send(std::string(limits::kFrameBytesMax + 1, 'x'));
    EXPECT_FALSE(left_.closed);  // Never from inside send().
    run_until([&] { return left_.closed.has_value(); });
    EXPECT_EQ(left_.closed->code, Errc::Busy);
}

TEST_F(ChannelTest, StreamsByOnDrainedWithoutPilingUp) {
    connect_pair();
    constexpr int kChunks = 200;
    const std::string chunk(100'000, 'c');
    int sent = 0;
    std::size_t most_unsent = 0;
    const std::function<void()> next = [&] {
        EXPECT_EQ(left_.channel->unsent_bytes(), 0u);
        if (sent++ == kChunks) return;
        left_.channel->send(chunk);
        most_unsent = std::max(most_unsent, left_.channel->unsent_bytes());
        left_.channel->on_drained(next);
    };
    left_.channel->on_drained(next);
    run_until([&] { return right_.frames.size() == kChunks; });
    EXPECT_LE(most_unsent, chunk.size() + kFrameHeaderBytes + kGreetingBytes);
    EXPECT_EQ(sent, kChunks + 1);
}

TEST_F(ChannelTest, DeliversNothingWhilePausedAndAllOfItAfterwards) {
    auto [a, b] = socket_pair();
    right_.channel = Channel::adopt(loop_, std::move(b), kControllerToClient, right_.handlers());
    std::vector<std::string> got;
    left_.channel = Channel::adopt(loop_, std::move(a), kClientToController,
                                   {.on_frame =
                                        [&](std::string_view frame) {
                                            got.emplace_back(frame);
                                            if (got.size() == 2) left_.channel->pause_reading(true);
                                        },
                                    .on_close = {},
                                    .on_ready = {}});
    for (int i = 0; i < 5; ++i) right_.channel->send(std::to_string(i));
    run_for(Millis{20});
    EXPECT_THAT(got, ElementsAre("0", "1"));
    left_.channel->pause_reading(false);
    run_until([&] { return got.size() == 5; });
    EXPECT_THAT(got, ElementsAre("0", "1", "2", "3", "4"));
}

TEST_F(ChannelTest, APausedReaderHoldsTheWriterBack) {
    connect_pair();
    right_.channel->pause_reading(true);
    for (int i = 0; i < 100; ++i) left_.channel->send(std::string(100'000, 'x'));
    run_for(Millis{20});
    EXPECT_GT(left_.channel->unsent_bytes(), 5'000'000u);
    right_.channel->pause_reading(false);
    run_until([&] { return right_.frames.size() == 100; });
    EXPECT_EQ(left_.channel->unsent_bytes(), 0u);
}

TEST_F(ChannelTest, CloseSendsWhatIsQueuedAndCallsNobodyBack) {
    connect_pair();
    run_until([&] { return left_.ready; });
    left_.channel->send("goodbye");
    left_.channel->close();
    left_.channel->send("too late");
    run_until([&] { return right_.closed.has_value(); });
    EXPECT_THAT(right_.frames, ElementsAre("goodbye"));
    EXPECT_EQ(right_.closed->message, "connection closed");
    EXPECT_FALSE(left_.closed);
}

TEST_F(ChannelTest, DestroyingSendsWhatIsQueuedToo) {
    connect_pair();
    run_until([&] { return left_.ready; });
    left_.channel->send("goodbye");
    left_.channel.reset();
    run_until([&] { return right_.closed.has_value(); });
    EXPECT_THAT(right_.frames, ElementsAre("goodbye"));
}

TEST_F(ChannelTest, MayBeDestroyedByEachOfItsCallbacks) {
    for (int which = 0; which < 4; ++which) {
        SCOPED_TRACE(which);
        auto [a, b] = socket_pair();
        std::unique_ptr<Channel> channel;
        // Captured by value, so that a use of the callback's own memory after its end is seen by a
        // sanitizer.
        const std::string witness(100, 'w');
        bool called = false;
        const auto destroy = [&, which, witness](int here) {
            if (here != which) return;
            channel.reset();
            called = witness.size() == 100;
        };
        channel = Channel::adopt(loop_, std::move(a), kControllerToClient,
                                 {.on_frame = [destroy](std::string_view) { destroy(0); },
                                  .on_close = [destroy](const Error&) { destroy(1); },
                                  .on_ready = [destroy] { destroy(2); }});
        channel->on_drained([destroy] { destroy(3); });
        const std::string bytes = std::string(kClientGreeting) + framed("one") + framed("two");
        ASSERT_EQ(::write(b.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
        b.reset();
        run_until([&] { return called; });
    }
}

TEST_F(ChannelTest, TellsWhoIsAtTheOtherEnd) {
    connect_pair();
    const auto peer = left_.channel->peer();
    ASSERT_TRUE(peer);
    EXPECT_EQ(peer->uid, ::getuid());
    EXPECT_EQ(peer->pid, ::getpid());
    EXPECT_EQ(left_.channel->peer_address(), "");
}

class ListenerTest : public ChannelTest {
  protected:
    Result<std::unique_ptr<Listener>> listen(const std::string& path, std::uint32_t mode = 0600) {
        return Listener::on_unix(loop_, path, mode, [this](io::Fd socket) {
            right_.channel =
                Channel::adopt(loop_, std::move(socket), kControllerToClient, right_.handlers());
        });
    }
};

TEST_F(ListenerTest, ConnectsAndSendsBeforeItIsReady) {
    const std::string path = folder_ + "/s.sock";
    const auto listener = listen(path, 0640);
    ASSERT_TRUE(listener);
    struct stat file{};
    ASSERT_EQ(::stat(path.c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 07777, 0640u);
    left_.channel = Channel::connect_unix(loop_, path, kClientToController, left_.handlers());
    left_.channel->send("hello");
    run_until([&] { return !right_.frames.empty(); });
    EXPECT_THAT(right_.frames, ElementsAre("hello"));
    EXPECT_TRUE(left_.ready);
}

TEST_F(ListenerTest, TakesPathsLongerThanASocketAddress) {
    const std::string deep = folder_ + "/" + std::string(120, 'd');
    std::filesystem::create_directory(deep);
    const std::string path = deep + "/s.sock";
    const auto listener = listen(path);
    ASSERT_TRUE(listener) << listener.error().message;
    left_.channel = Channel::connect_unix(loop_, path, kClientToController, left_.handlers());
    left_.channel->send("hello");
    run_until([&] { return !right_.frames.empty(); });

    const auto hopeless = listen(folder_ + "/" + std::string(120, 'n'));
    ASSERT_FALSE(hopeless);
    EXPECT_THAT(hopeless.error().message, HasSubstr("the name of the socket is too long"));
}

TEST_F(ListenerTest, ReplacesAStaleSocketButNotALiveOneNorAFile) {
    const std::string path = folder_ + "/s.sock";
    {
        auto first = listen(path);
        ASSERT_TRUE(first);
        const auto second = listen(path);
        ASSERT_FALSE(second);
        EXPECT_EQ(second.error().message, "another daemon is already listening on " + path);
        // As after kill -9: the file stays, nobody listens.
        std::filesystem::create_hard_link(path, path + ".kept");
    }
    EXPECT_FALSE(std::filesystem::exists(path));
    std::filesystem::rename(path + ".kept", path);
    const auto third = listen(path);
    EXPECT_TRUE(third);

    const std::string file = folder_ + "/file";
    io::Fd(::open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    const auto fourth = listen(file);
    ASSERT_FALSE(fourth);
    EXPECT_EQ(fourth.error().message, file + " exists and is not a socket");
}

TEST_F(ListenerTest, DoesNotUnlinkTheSocketOfAnother) {
    const std::string path = folder_ + "/s.sock";
    auto first = listen(path);
    ASSERT_TRUE(first);
    std::filesystem::remove(path);
    const auto second = listen(path);
    ASSERT_TRUE(second);
    *first = nullptr;
    EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(ListenerTest, SaysWhyItCannotConnect) {
    left_.channel = Channel::connect_unix(loop_, folder_ + "/nobody.sock", kClientToController,
                                          left_.handlers());
    left_.channel->send("hello");
    run_until([&] { return left_.closed.has_value(); });
    EXPECT_EQ(left_.closed->code, Errc::Unreachable);
    EXPECT_EQ(left_.closed->message, folder_ + "/nobody.sock: No such file or directory");
}

TEST_F(ListenerTest, ALostConnectionAttemptMayBeDestroyedFromItsCallback) {
    left_.channel =
        Channel::connect_unix(loop_, folder_ + "/nobody.sock", kClientToController,
                              {.on_frame = {},
                               .on_close = [this](const Error&) { left_.channel.reset(); },
                               .on_ready = {}});
    run_until([&] { return left_.channel == nullptr; });
}

TEST_F(ListenerTest, MayBeDestroyedByItsCallback) {
    const std::string path = folder_ + "/s.sock";
    std::unique_ptr<Listener> listener;
    auto made = Listener::on_unix(loop_, path, 0600, [&](io::Fd) { listener.reset(); });
    ASSERT_TRUE(made);
    listener = *std::move(made);
    left_.channel = Channel::connect_unix(loop_, path, kClientToController, left_.handlers());
    run_until([&] { return listener == nullptr && left_.closed.has_value(); });
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(ListenerTest, GoesOnWhenDescriptorsRunOut) {
    const std::string path = folder_ + "/s.sock";
    const auto listener = listen(path);
    ASSERT_TRUE(listener);
    left_.channel = Channel::connect_unix(loop_, path, kClientToController, left_.handlers());
    // Connected by the kernel, but not to be accepted while the limit holds.
    rlimit before{};
    ::getrlimit(RLIMIT_NOFILE, &before);
    const int probe = ::dup(0);
    ::close(probe);
    const rlimit tight{.rlim_cur = static_cast<rlim_t>(probe) + 1, .rlim_max = before.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &tight);
    run_for(Millis{30});
    EXPECT_EQ(right_.channel, nullptr);
    ::setrlimit(RLIMIT_NOFILE, &before);
    left_.channel->send("patience");
    run_until([&] { return !right_.frames.empty(); });
}

TEST(FrameBuffer, CutsFramesWhateverTheSizeOfThePieces) {
    for (unsigned seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        std::vector<std::string> sent, got;
        std::string bytes;
        for (int i = 0; i < 50; ++i) {
            const std::size_t size = random() % 4 == 0 ? random() % 100'000 : random() % 50;
            sent.emplace_back(size, static_cast<char>('a' + i % 26));
            bytes += framed(sent.back());
        }
        FrameBuffer buffer(kWithOwnFork);
        std::size_t at = 0;
        while (at < bytes.size()) {
            const auto space = buffer.space();
            ASSERT_FALSE(space.empty());
            const std::size_t piece =
                std::min({space.size(), bytes.size() - at, std::size_t{1} + random() % 9000});
            std::copy_n(bytes.data() + at, piece, space.data());
            buffer.commit(piece);
            at += piece;
            for (auto frame = buffer.next(); frame && *frame; frame = buffer.next())
                got.emplace_back(**frame);
        }
        EXPECT_EQ(got, sent);
        EXPECT_FALSE(buffer.ends_inside_frame());
    }
}

// The work must stay in proportion to the bytes: the buffer may grow only as often as it doubles.
TEST(FrameBuffer, MovesALargeFrameOnlyAFewTimes) {
    constexpr std::size_t kSize = 16u << 20;
    FrameBuffer buffer(kWithOwnFork);
    std::string header;
    append_frame_header(header, kSize);
    std::copy_n(header.data(), header.size(), buffer.space().data());
    buffer.commit(header.size());
    int moves = 0;
    const char* place = nullptr;
    for (std::size_t at = 0; at < kSize;) {
        const auto space = buffer.space();
        moves += space.data() != place;
        const std::size_t piece = std::min({space.size(), kSize - at, std::size_t{5000}});
        buffer.commit(piece);
        place = space.data() + piece;
        at += piece;
    }
    const auto frame = buffer.next();
    ASSERT_TRUE(frame && *frame);
    EXPECT_EQ((*frame)->size(), kSize);
    EXPECT_LT(moves, 20);
}

TEST(FrameBuffer, DoesNotBelieveAnAnnouncementBeforeBytesArrive) {
    FrameBuffer buffer(kWithOwnFork);
    std::string header;
    append_frame_header(header, limits::kFrameBytesMax);
    std::copy_n(header.data(), header.size(), buffer.space().data());
    buffer.commit(header.size());
    EXPECT_LT(buffer.space().size(), 1u << 20);
}

}  // namespace
}  // namespace switchyard::wire
