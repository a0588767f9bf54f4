// facts_test.cpp: which node an agent is, and what it says of it.
#include "agent/facts.hpp"

#include <gtest/gtest.h>

#include "agent/options.hpp"

namespace switchyard::agent {
namespace {

os::Topology machine(std::uint32_t cores, std::uint32_t threads) {
    os::Topology topology;
    topology.cores_per_socket = cores;
    topology.threads_per_core = threads;
    for (std::uint32_t core = 0; core < cores; ++core) {
        model::IndexSet cpus;
        for (std::uint32_t thread = 0; thread < threads; ++thread)
            cpus.insert(core + thread * cores);
        topology.core_cpus.push_back(cpus);
    }
    topology.memory = model::MiB{24103};
    return topology;
}

model::NodeConfig node(const std::string& name, const std::string& host, std::uint32_t cpus) {
    model::NodeConfig config;
    config.name = name;
    config.host_name = host;
    config.cpus = cpus;
    return config;
}

TEST(FindNode, ByNameByHostOrNone) {
    config::Config config;
    config.nodes = {node("n1", "vm", 8), node("n2", "vm", 8), node("gpu1", "", 4)};
    EXPECT_EQ((*find_node(config, "n2", "vm"))->name, "n2");
    EXPECT_EQ((*find_node(config, "", "gpu1"))->name, "gpu1");
    EXPECT_FALSE(find_node(config, "", "login")->has_value()) << "a login host";
    EXPECT_FALSE(find_node(config, "n9", "vm"));
    const auto both = find_node(config, "", "vm");
    ASSERT_FALSE(both);
    EXPECT_EQ(both.error().message, "nodes n1 and n2 are both on host vm: say which with -N");
}

TEST(Facts, APretendNodeReportsWhatIsConfigured) {
    model::NodeConfig pretend = node("n1", "vm", 8);
    pretend.memory = model::MiB{4000};
    const model::NodeFacts facts = make_facts({}, pretend, machine(2, 1), "cgroup/v1");
    EXPECT_EQ(facts.cpus, 8u);
    EXPECT_EQ(facts.cores_per_socket, 8u);
    EXPECT_EQ(facts.memory.value, 4000u);
    EXPECT_EQ(facts.containment, "cgroup/v1");
    EXPECT_EQ(facts.version, "26.05.0");
}

TEST(Facts, ARealNodeReportsTheMachine) {
    const model::NodeFacts facts = make_facts({}, node("vm", "", 8), machine(2, 2), "none");
    EXPECT_EQ(facts.cpus, 4u);
    EXPECT_EQ(facts.threads_per_core, 2u);
    EXPECT_EQ(facts.memory.value, 24103u);
}

TEST(PlaceCores, PretendNodesLieSideBySideAndAreNotPinnedWhenTheyAreTooMany) {
    config::Config config;
    config.nodes = {node("n1", "vm", 2), node("x", "other", 64), node("n2", "vm", 2)};
    const auto second = place_cores(config, config.nodes[2], machine(4, 1));
    ASSERT_EQ(second.size(), 2u);
    EXPECT_EQ(to_string(second[0]), "2");
    EXPECT_EQ(to_string(second[1]), "3");
    EXPECT_TRUE(place_cores(config, config.nodes[2], machine(3, 1)).empty());
}

TEST(Hardware, LinesAreThoseOfSlurmd) {
    EXPECT_EQ(hardware_lines("vm", machine(2, 1), Seconds{3506}),
              "NodeName=vm CPUs=2 Boards=1 SocketsPerBoard=1 CoresPerSocket=2 ThreadsPerCore=1 "
              "RealMemory=24103\n"
              "UpTime=0-00:58:26\n");
}

Result<Options> parse(std::vector<std::string> words) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    return parse_options(static_cast<int>(words.size()), argv.data());
}

TEST(CommandLine, LettersClusterAndUnknownOnesAreRefused) {
    const auto options = parse({"slurmd", "-Dvv", "-N", "n1", "-f/etc/x"});
    ASSERT_TRUE(options);
    EXPECT_TRUE(options->foreground);
    EXPECT_EQ(options->verbose, 2);
    EXPECT_EQ(options->node, "n1");
    EXPECT_EQ(options->config, "/etc/x");
    EXPECT_EQ(parse({"slurmd", "-x"}).error().message, "invalid option -- 'x'");
    EXPECT_EQ(parse({"slurmd", "-N"}).error().message, "option requires an argument -- 'N'");
    EXPECT_FALSE(parse({"slurmd", "word"}));
}

}  // namespace
}  // namespace switchyard::agent
