// het_test.cpp: components on a command line and in a script, and what passes on between them.
#include "options/het.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace switchyard::options {
namespace {

using testing::ElementsAre;

std::vector<JobRequest> understand(Command command, std::vector<std::string> words,
                                   std::string_view script = {}) {
    Surroundings world;
    world.work_dir = "/home/alice";
    words.insert(words.begin(), std::string(to_string(command)));
    Line line;
    std::vector<JobRequest> requests;
    auto fault = split_line(command, words, world, line);
    if (!fault)
        fault = understand_components(command, line, split_directives(scan_directives(script)),
                                      world, requests);
    EXPECT_FALSE(fault) << (fault ? fault->text : "");
    return requests;
}

TEST(Het, ComponentsOfALineHaveTheirOwnSizes) {
    const auto requests = understand(
        Command::Sbatch, {"-J", "pair", "-n", "4", "-t", "5", ":", "-n", "2", "-c", "3", "job.sh"});
    ASSERT_EQ(requests.size(), 2u);
    EXPECT_EQ(requests[0].job.tasks, 4u);
    EXPECT_EQ(requests[1].job.tasks, 2u);
    EXPECT_EQ(requests[1].job.cpus_per_task, 3u);
    EXPECT_EQ(requests[1].job.name, "pair");
    EXPECT_EQ(requests[1].job.time_limit, requests[0].job.time_limit);
}

TEST(Het, ASizeThatIsNotGivenDoesNotPassOn) {
    const auto requests = understand(Command::Sbatch, {"-N2", "--mem=1G", ":", "job.sh"});
    EXPECT_FALSE(requests[1].job.nodes_min);
    EXPECT_EQ(requests[1].job.memory, model::MemoryRequest{});
}

TEST(Het, ScriptsSeparateThemByALine) {
    const auto requests = understand(Command::Sbatch, {"-n8", "job.sh"},
                                     "#!/bin/sh\n#SBATCH -n1 -p one\n#SBATCH hetjob\n"
                                     "#SBATCH -n2 -p two\n#SBATCH packjob\n#SBATCH -n3\n");
    ASSERT_EQ(requests.size(), 3u);
    EXPECT_EQ(requests[0].job.tasks, 8u);  // The command line speaks of the first.
    EXPECT_EQ(requests[1].job.tasks, 2u);
    EXPECT_THAT(requests[1].job.partitions, ElementsAre("two"));
    EXPECT_EQ(requests[2].job.tasks, 3u);
    EXPECT_TRUE(requests[2].job.partitions.empty());
}

TEST(Het, OperandsBelongToTheLastComponentAndOfSrunToEach) {
    Surroundings world;
    Line line;
    ASSERT_FALSE(split_line(Command::Salloc, {"salloc", "-n1", ":", "-n2", "sh", "-c", "a : b"},
                            world, line));
    EXPECT_THAT(line.operands, ElementsAre("sh", "-c", "a : b"));
    line = {};
    ASSERT_FALSE(split_line(Command::Srun, {"srun", "-n1", "one", "-x", ":", "--label", "two", "y"},
                            world, line));
    EXPECT_THAT(line.components, ElementsAre(ElementsAre("srun", "-n1", "one", "-x"),
                                             ElementsAre("srun", "--label", "two", "y")));
    line = {};
    ASSERT_FALSE(split_line(Command::Srun, {"srun", "sh", "-c", ":"}, world, line));
    EXPECT_EQ(line.components.size(), 1u);
}

TEST(Het, AGroupHasVariablesOfItsOwn) {
    Surroundings world;
    world.environment = {"SLURM_JOB_ID=5", "SLURM_NTASKS=4",   "SLURM_JOB_ID_HET_GROUP_1=6",
                         "SLURM_CONF=/c",  "SLURM_HET_SIZE=2", "SLURM_NTASKS_HET_GROUP_0=4"};
    const Surroundings seen = of_group(world, 1);
    EXPECT_EQ(seen.variable("SLURM_JOB_ID"), "6");
    EXPECT_EQ(seen.variable("SLURM_NTASKS"), std::nullopt);
    EXPECT_EQ(seen.variable("SLURM_CONF"), "/c");
}

TEST(Het, GroupsAreAList) {
    EXPECT_THAT(*parse_het_groups("0,2-3"), ElementsAre(0, 2, 3));
    EXPECT_FALSE(parse_het_groups(""));
    EXPECT_FALSE(parse_het_groups("x"));
}

}  // namespace
}  // namespace switchyard::options
