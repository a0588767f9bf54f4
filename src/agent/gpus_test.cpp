// Goal: what a node reports of its cards, from its configuration and a fake NVML library.
#include "agent/gpus.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu/fake_world.hpp"

namespace switchyard::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kTwoCards =
    "card NAME=Quadro RTX 4000;UUID=GPU-a;MINOR=0;MEMORY=8192;CPUS=0-3\n"
    "card NAME=Quadro RTX 4000;UUID=GPU-b;MINOR=1;MEMORY=8192;CPUS=4-7\nlink 0 1\n";

const gpu::ShareMeans kGuardOnly{.dmem = false, .mps = false, .guard = true};

model::GresInventory entry(const std::string& name, const std::string& type, std::uint64_t count) {
    model::GresInventory made;
    made.name = name;
    made.type = type;
    made.count = count;
    if (name == "gpu")
        made.devices = model::IndexSet::range(0, static_cast<std::uint32_t>(count) - 1);
    return made;
}

model::NodeConfig node_with(std::vector<model::GresInventory> gres) {
    model::NodeConfig node;
    node.name = "n1";
    node.gres = std::move(gres);
    return node;
}

std::vector<model::IndexSet> eight_cores() {
    std::vector<model::IndexSet> cores;
    for (std::uint32_t cpu = 0; cpu < 8; ++cpu) cores.push_back(model::IndexSet::range(cpu, cpu));
    return cores;
}

NodeGpus describe(const std::string& world, const model::NodeConfig& node,
                  const std::string& auto_detect, gpu::ShareMeans means = kGuardOnly) {
    gpu::FakeWorld fake(world);
    return describe_gpus(node, auto_detect, {fake.open(), "no library"}, eight_cores(), means);
}

TEST(Gpus, are_found_with_all_that_is_near_them) {
    const NodeGpus found = describe(kTwoCards, node_with({}), "nvml");
    EXPECT_EQ(to_string(found.gres), "gpu:Quadro_RTX_4000:2");
    EXPECT_EQ(found.problem, "");
    EXPECT_THAT(found.gres[0].device_names, ElementsAre("GPU-a", "GPU-b"));
    EXPECT_THAT(found.gres[0].device_memory, ElementsAre(8192u, 8192u));
    EXPECT_EQ(to_string(found.gres[0].device_cores[1]), "4-7");
    EXPECT_EQ(to_string(found.gres[0].device_links[0]), "1");
    EXPECT_EQ(found.nvml_index, (std::map<std::uint32_t, std::uint32_t>{{0, 0}, {1, 1}}));
    EXPECT_EQ(gres_lines(found.gres, 8),
              "slurmd: Gres Name=gpu Type=Quadro_RTX_4000 Count=1 Index=0 File=/dev/nvidia0 "
              "Cores=0-3 CoreCnt=8 Links=-1,1 UniqueId=GPU-a\n"
              "slurmd: Gres Name=gpu Type=Quadro_RTX_4000 Count=1 Index=1 File=/dev/nvidia1 "
              "Cores=4-7 CoreCnt=8 Links=1,-1 UniqueId=GPU-b\n");
}

TEST(Gpus, other_than_configured_are_a_problem_that_names_both) {
    EXPECT_EQ(describe(kTwoCards, node_with({entry("gpu", "rtx_4000", 2)}), "nvml").problem, "");
    EXPECT_EQ(describe(kTwoCards, node_with({entry("gpu", "rtx_4000", 3)}), "nvml").problem,
              "gres/gpu: configured gpu:rtx_4000:3 but found gpu:Quadro_RTX_4000:2");
    EXPECT_EQ(describe(kTwoCards, node_with({entry("gpu", "h200", 2)}), "nvml").problem,
              "gres/gpu: configured gpu:h200:2 but found gpu:Quadro_RTX_4000:2");
    EXPECT_EQ(describe("", node_with({entry("gpu", "", 2)}), "nvml").problem,
              "gres/gpu: configured gpu:2 but found no GPU (no library)");
    EXPECT_EQ(describe("", node_with({}), "nvml").problem, "");
}

TEST(Gpus, named_by_files_must_be_there) {
    model::GresInventory cards = entry("gpu", "", 2);
    cards.files = {"/dev/null", "/dev/nothing9"};
    EXPECT_EQ(describe("", node_with({cards}), "").problem,
              "gres/gpu: configured gpu:2 but found no /dev/nothing9");
    cards.files = {"/dev/null"};
    EXPECT_EQ(describe("", node_with({cards}), "").problem,
              "gres/gpu: configured gpu:2 but gres.conf names 1 device file");
    cards.files = {"/dev/null", "/dev/zero"};
    EXPECT_EQ(describe("", node_with({cards}), "").problem, "");
    // Cards that are only counted are nobody's problem.
    EXPECT_EQ(describe("", node_with({entry("gpu", "", 2)}), "").problem, "");
}

TEST(Gpus, say_how_their_shares_are_kept) {
    const auto level = [](const std::string& world, const std::string& name,
                          const std::string& wanted, gpu::ShareMeans means) {
        model::GresInventory shares = entry(name, "", 64);
        shares.devices = model::IndexSet::range(0, 1);
        shares.protection = wanted;
        return describe(world, node_with({entry("gpu", "", 2), shares}),
                        world.empty() ? "" : "nvml", means)
            .gres[1]
            .protection;
    };
    const gpu::ShareMeans all{.dmem = false, .mps = true, .guard = true};
    EXPECT_EQ(level(kTwoCards, "shard", "", all), "guard");
    EXPECT_EQ(level(kTwoCards, "shard", "mps", all), "mps");
    EXPECT_EQ(level(kTwoCards, "shard", "none", all), "none");
    EXPECT_EQ(level(kTwoCards, "shard", "guard+strict", all), "guard+strict");
    EXPECT_EQ(level(kTwoCards, "mps", "", all), "mps");
    EXPECT_EQ(level(kTwoCards, "mps", "", kGuardOnly), "guard");
    EXPECT_EQ(level(kTwoCards, "shard", "", {}), "none");
    // There is no card to keep anybody to a share of.
    EXPECT_EQ(level("", "shard", "", all), "");
}

}  // namespace
}  // namespace switchyard::agent
