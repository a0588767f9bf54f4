#include "options/bind_words.hpp"

#include <gtest/gtest.h>

namespace switchyard::options {
namespace {

// What a Slurm 26.05 puts in SLURM_CPU_BIND and SLURM_MEM_BIND of the same requests.
TEST(BindWords, EverySpellingBecomesTheSameText) {
    EXPECT_EQ(canonical_bind("", ""), "");
    EXPECT_EQ(canonical_bind("q", ""), "");
    EXPECT_EQ(canonical_bind("verbose", ""), "verbose");
    EXPECT_EQ(canonical_bind("v,none", ""), "verbose,none");
    EXPECT_EQ(canonical_bind("no", ""), "quiet,none");
    EXPECT_EQ(canonical_bind("core", ""), "quiet,cores");
    EXPECT_EQ(canonical_bind("core,,", ""), "quiet,cores");
    EXPECT_EQ(canonical_bind("one_thread", ""), "quiet");
    EXPECT_EQ(canonical_bind("mask_cpu=0x1,0x2", ""), "quiet,mask_cpu:1,2");
    EXPECT_EQ(canonical_bind("v,map_cpu:0,3", ""), "verbose,map_cpu:0,3");
    EXPECT_EQ(canonical_bind("mask_cpu:0x0xc", ""), "quiet,mask_cpu:c");
    EXPECT_EQ(canonical_bind("p,map_mem:0", ""), "quiet,prefer,map_mem:0");
}

TEST(BindWords, WhatOtherOptionsBindToStandsInFrontUnlessALevelIsNamed) {
    EXPECT_EQ(canonical_bind("", "threads"), "quiet,threads");
    EXPECT_EQ(canonical_bind("none", "cores"), "quiet,cores,none");
    EXPECT_EQ(canonical_bind("v,sockets", "cores"), "verbose,sockets");
    EXPECT_EQ(canonical_bind("quiet,cores", "cores"), "quiet,cores");
}

}  // namespace
}  // namespace switchyard::options
