#include "model/dependency.hpp"

#include <gtest/gtest.h>

namespace switchyard::model {
namespace {

using Kind = DependencyKind;

DependencyTerm term(Kind kind, std::uint32_t job) {
    DependencyTerm out;
    out.kind = kind;
    out.job = JobId{job};
    return out;
}

TEST(ParseDependency, reads_kinds_and_lists_of_jobs) {
    const auto all = parse_dependency("afterok:20:21,afterany:23");
    ASSERT_TRUE(all);
    EXPECT_FALSE(all->any);
    EXPECT_EQ(all->terms, (std::vector{term(Kind::AfterOk, 20), term(Kind::AfterOk, 21),
                                       term(Kind::AfterAny, 23)}));
    const auto any = parse_dependency("afterok:20?afternotok:21");
    EXPECT_TRUE(any->any);
    EXPECT_EQ(any->terms.size(), 2u);
    EXPECT_EQ(parse_dependency("12")->terms, std::vector{term(Kind::AfterAny, 12)});
    EXPECT_EQ(parse_dependency("12:13")->terms.size(), 2u);
    EXPECT_EQ(parse_dependency("AfterCorr:7")->terms, std::vector{term(Kind::AfterCorr, 7)});
    EXPECT_EQ(parse_dependency("afterburstbuffer:7")->terms,
              std::vector{term(Kind::AfterBurstBuffer, 7)});
    EXPECT_EQ(parse_dependency("singleton")->terms, std::vector{term(Kind::Singleton, 0)});
    EXPECT_TRUE(parse_dependency("")->empty());
}

TEST(ParseDependency, reads_elements_and_delays) {
    EXPECT_EQ(parse_dependency("afterok:12_3")->terms[0].element, 3u);
    EXPECT_TRUE(parse_dependency("afterok:12_*")->terms[0].whole_array);
    EXPECT_EQ(parse_dependency("after:12+5:13")->terms[0].delay, Minutes{5});
    EXPECT_EQ(parse_dependency("after:12+5:13")->terms[1].delay, Minutes{0});
}

TEST(ParseDependency, refuses_everything_else) {
    for (const char* bad : {"bogus:1",
                            "afterok",
                            "afterok:",
                            "afterok:0",
                            "afterok:-1",
                            "afterok:x",
                            "afterok::1",
                            "afterok:1,",
                            ",afterok:1",
                            "afterok:1,afterok:2?afterok:3",
                            "afterok:1?",
                            "?",
                            ",",
                            "afterok:1+5",
                            "after:1+",
                            "after:1+x",
                            "after:1+-5",
                            "after:1+99999999999",
                            "afterok:4294967296",
                            "afterok:1_",
                            "afterok:1_x",
                            "afterok:1_4000001",
                            "singleton:1",
                            "afterok:1_*_2",
                            "expand:1",
                            "afterok 1",
                            ":1"}) {
        const auto parsed = parse_dependency(bad);
        ASSERT_FALSE(parsed) << bad;
        EXPECT_EQ(parsed.error().message, "Job dependency problem");
    }
    std::string many = "afterok";
    for (int i = 1; i <= 20'000; ++i) many += ":7";
    EXPECT_FALSE(parse_dependency(many));
}

TEST(Dependency, prints_what_is_left_with_its_status) {
    Dependency dependency =
        *parse_dependency("afterok:121,afternotok:12_3,after:5+2,aftercorr:9_*,singleton");
    EXPECT_EQ(to_string(dependency),
              "afterok:121(unfulfilled),afternotok:12_3(unfulfilled),after:5+2(unfulfilled),"
              "aftercorr:9_*(unfulfilled),singleton(unfulfilled)");
    dependency.terms[0].status = DependencyStatus::Fulfilled;
    dependency.terms[1].status = DependencyStatus::Failed;
    dependency.terms.resize(2);
    EXPECT_EQ(to_string(dependency), "afternotok:12_3(failed)");
    EXPECT_EQ(to_string(*parse_dependency("afterok:1?afterok:2")),
              "afterok:1(unfulfilled)?afterok:2(unfulfilled)");
    EXPECT_EQ(to_string(Dependency{}), "");
}

}  // namespace
}  // namespace switchyard::model
