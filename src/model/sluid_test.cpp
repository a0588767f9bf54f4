#include "model/sluid.hpp"

#include <gtest/gtest.h>

namespace switchyard::model {
namespace {

Job job_of(std::uint32_t id, std::int64_t millis) {
    Job job;
    job.id = JobId{id};
    job.submitted = Instant{Millis{millis}};
    return job;
}

constexpr std::int64_t kMoment = 1'794'707'128'685;

TEST(Sluid, IsAnSAndThirteenDigitsWithoutLettersThatLookAlike) {
    const std::string text = sluid_of(job_of(135, kMoment), "peer");
    EXPECT_EQ(text.size(), 14U);
    EXPECT_EQ(text.front(), 's');
    EXPECT_EQ(text.find_first_not_of("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 1), std::string::npos);
}

TEST(Sluid, HoldsTheMillisecondWhereSlurmHasIt) {
    // The real one says s3YNM7EE30BD00 of this millisecond: all but cluster and sequence are equal.
    const std::string text = sluid_of(job_of(1024, kMoment), "peer");
    EXPECT_EQ(text.substr(4), "M7EE30BD00");
    EXPECT_EQ(sluid_of(job_of(1025, kMoment), "peer").substr(4), "M7EE30BD01");
}

TEST(Sluid, SortsByTheMomentOfSubmission) {
    EXPECT_LT(sluid_of(job_of(900, kMoment), "peer"), sluid_of(job_of(3, kMoment + 1), "peer"));
    EXPECT_LT(sluid_of(job_of(7, kMoment), "peer"), sluid_of(job_of(8, kMoment), "peer"));
}

TEST(Sluid, DiffersBetweenClustersAndIsTheSameEachTime) {
    const Job job = job_of(12, kMoment);
    EXPECT_NE(sluid_of(job, "peer"), sluid_of(job, "other"));
    EXPECT_EQ(sluid_of(job, "peer"), sluid_of(job, "peer"));
}

}  // namespace
}  // namespace switchyard::model
