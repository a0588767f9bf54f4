#include "controller/names/names.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <semaphore>

namespace switchyard::controller {
namespace {

// A name service that says nothing about user 13 until it is let go.
class SlowService {
  public:
    NameAnswer operator()(const NameKey& key) {
        ++questions;
        if (key.id == 13) go.acquire();
        NameAnswer answer;
        answer.found = key.id != 404;
        answer.text = "user" + std::to_string(key.id);
        answer.gid = 100;
        return answer;
    }
    std::counting_semaphore<64> go{0};
    std::atomic<int> questions{0};
};

struct NamesTest : testing::Test {
    io::Loop loop;
    // Shared with threads that may outlive the test.
    std::shared_ptr<SlowService> service = std::make_shared<SlowService>();
    Names names{loop, [service = service](const NameKey& key) { return (*service)(key); },
                Millis{100}};

    // The loop runs until these are known, or were waited for long enough.
    void wait_for(const std::vector<NameKey>& keys) {
        names.when_known(keys, [this] { loop.stop(); });
        loop.run();
    }
    ~NamesTest() override { service->go.release(8); }
};

TEST_F(NamesTest, AnAnswerIsReadOnceItIsKnownAndNotAskedForAgain) {
    EXPECT_FALSE(names.has({NameKey::user(7)}));
    EXPECT_EQ(names.name_of(7), "7");
    wait_for({NameKey::user(7), NameKey::user(404)});
    EXPECT_TRUE(names.has({NameKey::user(7), NameKey::user(404)}));
    EXPECT_EQ(names.name_of(7), "user7");
    EXPECT_EQ(names.find(7)->gid, 100u);
    EXPECT_FALSE(names.find(404));
    EXPECT_TRUE(names.is_answered(NameKey::user(404)));
    EXPECT_EQ(names.name_of(404), "404");
    wait_for({NameKey::user(7)});
    EXPECT_EQ(service->questions, 2);
}

TEST_F(NamesTest, WhoeverAsksForOthersDoesNotWaitForOneThatHangs) {
    bool came_back = false;
    names.when_known({NameKey::user(13)}, [&] { came_back = true; });
    wait_for({NameKey::user(7)});
    EXPECT_EQ(names.name_of(7), "user7");
    EXPECT_FALSE(came_back);
}

TEST_F(NamesTest, SilenceIsWaitedForOnceAndForAWhileOnly) {
    wait_for({NameKey::user(13)});
    EXPECT_FALSE(names.is_answered(NameKey::user(13)));
    EXPECT_TRUE(names.has({NameKey::user(13)}));
    service->go.release();
    names.forget();
    wait_for({NameKey::user(13)});
    EXPECT_EQ(names.name_of(13), "user13");
    EXPECT_EQ(service->questions, 1);
}

TEST_F(NamesTest, WhatWasKnownCountsOnWhileNobodyAnswers) {
    service->go.release();
    wait_for({NameKey::user(13)});
    names.forget();
    EXPECT_FALSE(names.has({NameKey::user(13)}));
    wait_for({NameKey::user(13)});
    EXPECT_TRUE(names.is_answered(NameKey::user(13)));
    EXPECT_EQ(names.name_of(13), "user13");
    EXPECT_EQ(service->questions, 2);
}

}  // namespace
}  // namespace switchyard::controller
