// channel_fixture.hpp: what the channel tests share: a loop that cannot hang, a folder, pairs of
// channels.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "wire/channel.hpp"

namespace switchyard::wire {

class ChannelFixture : public testing::Test {
  protected:
    ChannelFixture() {
        char name[] = "/tmp/sy-wire-XXXXXX";
        folder_ = ::mkdtemp(name);
    }
    ~ChannelFixture() override { std::filesystem::remove_all(folder_); }

    // Until `done`; a test whose condition never holds fails instead of hanging.
    void run_until(const std::function<bool()>& done) {
        const auto deadline = loop_.after(Millis{60'000}, [this] {
            ADD_FAILURE() << "gave up waiting";
            loop_.stop();
        });
        // Looks again after every turn in which something happened, and every millisecond.
        io::Loop::Timer poll;
        const std::function<void()> look = [&] {
            if (done()) return loop_.stop();
            poll = loop_.after(Millis{1}, look);
        };
        look();
        loop_.run();
    }
    void run_for(Millis time) {
        const auto end = loop_.after(time, [this] { loop_.stop(); });
        loop_.run();
    }

    static std::pair<io::Fd, io::Fd> socket_pair() {
        int fds[2] = {-1, -1};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
        return {io::Fd(fds[0]), io::Fd(fds[1])};
    }

    // One end, and what it saw.
    struct End {
        std::unique_ptr<Channel> channel;
        std::vector<std::string> frames;
        std::optional<Error> closed;
        bool ready = false;

        Channel::Handlers handlers() {
            return {.on_frame = [this](std::string_view frame) { frames.emplace_back(frame); },
                    .on_close = [this](const Error& why) { closed = why; },
                    .on_ready = [this] { ready = true; }};
        }
    };

    io::Loop loop_;
    std::string folder_;
};

}  // namespace switchyard::wire
