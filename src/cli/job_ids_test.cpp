// Goal: ids as they are typed. Method: text in, ids or the word that is none out.
#include <gtest/gtest.h>

#include "cli/job_ids.hpp"

namespace switchyard::cli {
namespace {

TEST(JobIds, CommasInsideBracketsDoNotSplit) {
    EXPECT_EQ(split_list("12_[1,3],14,,15"), (std::vector<std::string>{"12_[1,3]", "14", "15"}));
    EXPECT_EQ(parse_job_list("12,x").error().message, "x");
}

}  // namespace
}  // namespace switchyard::cli
