// export_test.cpp: the forms of --export, and what of an enclosing job does not go into the next
// one.
#include "options/export.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace switchyard::options {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

const Environment kCaller = {"HOME=/home/alice", "EDITOR=vi", "SLURM_CONF=/etc/slurm.conf",
                             "EMPTY="};

TEST(Export, AllIsEverything) { EXPECT_EQ(exported(kCaller, "ALL"), kCaller); }

TEST(Export, NoneLeavesOnlySlurmsOwn) {
    EXPECT_THAT(exported(kCaller, "NONE"), ElementsAre("SLURM_CONF=/etc/slurm.conf"));
    EXPECT_THAT(exported(kCaller, "NIL"), ElementsAre("SLURM_CONF=/etc/slurm.conf"));
}

TEST(Export, NamesHandOnTheirValueAndPairsSetOne) {
    EXPECT_THAT(
        exported(kCaller, "EDITOR,ARG1=test,UNSET,EMPTY"),
        UnorderedElementsAre("SLURM_CONF=/etc/slurm.conf", "EDITOR=vi", "ARG1=test", "EMPTY="));
}

TEST(Export, WhatStandsLaterInTheListWins) {
    EXPECT_THAT(exported(kCaller, "ALL,EDITOR=emacs"),
                UnorderedElementsAre("HOME=/home/alice", "EDITOR=emacs",
                                     "SLURM_CONF=/etc/slurm.conf", "EMPTY="));
}

TEST(Export, QuotesKeepCommasAndAreRemoved) {
    EXPECT_THAT(exported({}, "A='x,y',B=\"p q\",C=1"), ElementsAre("A=x,y", "B=p q", "C=1"));
}

TEST(Export, ADescriptionOfTheJobAroundIsRemovedAndInputVariablesStay) {
    Environment environment = {
        "SLURM_JOB_ID=7",       "SLURM_NTASKS=4",         "SLURM_STEP_ID=0",
        "SLURM_CONF=/x",        "SLURM_TIME_FORMAT=%s",   "SBATCH_PARTITION=p",
        "SLURM_UNBUFFEREDIO=1", "SLURM_ARRAY_TASK_ID=3",  "SLURMD_NODENAME=n1",
        "SLURM_CPU_BIND=none",  "SLURM_TOPOLOGY_ADDR=n1", "SLURM_MEM_PER_CPU=1"};
    remove_job_description(environment);
    EXPECT_THAT(environment, ElementsAre("SLURM_CONF=/x", "SLURM_TIME_FORMAT=%s",
                                         "SBATCH_PARTITION=p", "SLURM_UNBUFFEREDIO=1"));
}

TEST(Export, EveryNameOfTheListIsFound) {
    for (const char* name :
         {"SLURMD_DEBUG", "SLURM_GTIDS", "SLURM_NNODES", "SLURM_PROCID", "SRUN_DEBUG",
          "SLURM_UMASK", "SLURM_GPUS", "SLURM_TASK_PID", "SLURM_SHARDS_ON_NODE"}) {
        EXPECT_TRUE(describes_a_job(name)) << name;
    }
}

}  // namespace
}  // namespace switchyard::options
