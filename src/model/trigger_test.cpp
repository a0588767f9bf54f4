#include "model/trigger.hpp"

#include <gtest/gtest.h>

namespace switchyard::model {
namespace {

TEST(Trigger, names_what_it_is_about) {
    Trigger trigger;
    EXPECT_EQ(resource_id(trigger), "*");
    trigger.nodes = {"n1", "n2", "n4"};
    EXPECT_EQ(resource_id(trigger), "n[1-2,4]");
    trigger.resource = TriggerResource::Job;
    trigger.job = JobId{12};
    EXPECT_EQ(resource_id(trigger), "12");
}

TEST(Trigger, types_have_words_of_their_own) {
    for (int a = 0; a <= static_cast<int>(kTriggerTypeLast); ++a) {
        EXPECT_NE(to_string(static_cast<TriggerType>(a)), "unknown");
        for (int b = 0; b < a; ++b)
            EXPECT_NE(to_string(static_cast<TriggerType>(a)),
                      to_string(static_cast<TriggerType>(b)));
    }
}

}  // namespace
}  // namespace switchyard::model
