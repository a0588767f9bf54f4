// cluster_tres_test.cpp: what can be counted on a few nodes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "view/cluster/cluster_tres.hpp"
#include "view/testing/samples.hpp"

namespace switchyard::view {
namespace {

TEST(ClusterTres, AreCountedOverAllNodesAndCardsHaveNumbersOfTheirOwn) {
    std::vector<model::Node> nodes = {samples::node("a"), samples::node("b")};
    nodes[0].config.gres = {
        {.name = "gpu", .type = "t4", .count = 2, .devices = {}, .files = {}, .cores = {}}};
    nodes[1].config.gres = {
        {.name = "gpu", .type = "", .count = 1, .devices = {}, .files = {}, .cores = {}}};
    std::string text;
    for (const CountedTres& each : count_tres(nodes)) {
        if (each.count > 0)
            text += fmt::format("{}/{} {}={}\n", each.type, each.name, each.id, each.count);
    }
    const std::uint64_t cpus = nodes[0].config.cpus + nodes[1].config.cpus;
    const std::uint64_t memory = nodes[0].config.memory.value + nodes[1].config.memory.value;
    EXPECT_EQ(text, fmt::format("cpu/ 1={}\nmem/ 2={}\nnode/ 4=2\nbilling/ 5={}\n"
                                "gres/gpu 1001=3\ngres/gpu:t4 1002=2\n",
                                cpus, memory, cpus));
}

}  // namespace
}  // namespace switchyard::view
