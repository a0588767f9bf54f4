// Goal: what NVML tells becomes the inventory of a node, and a configuration that disagrees with it
// is named. Method: the real reader over a fake NVML library, driven by text.
#include "gpu/discovery.hpp"

#include <gtest/gtest.h>

#include "gpu/fake_world.hpp"

namespace switchyard::gpu {
namespace {

using model::IndexSet;

const std::string kTwoCards =
    "driver 580.159.04\n"
    "card NAME=Quadro RTX "
    "4000;UUID=GPU-a;MINOR=0;MEMORY=8192;CPUS=0-3;UTIL=7;USED=512;POWER=30000\n"
    "card NAME=Quadro RTX 4000;UUID=GPU-b;MINOR=1;MEMORY=8192;CPUS=4-7;UTIL=93;USED=4096;POWER=9;"
    "RESERVED=300\n"
    "link 0 1\n";

std::vector<IndexSet> eight_cores() {
    std::vector<IndexSet> cores;
    for (std::uint32_t cpu = 0; cpu < 8; ++cpu) cores.push_back(IndexSet::range(cpu, cpu));
    return cores;
}

std::vector<Device> devices_of(const std::string& text) {
    FakeWorld world(text);
    return find_devices(*world.open()->cards(), eight_cores(),
                        [](const std::string& name) -> std::optional<std::uint32_t> {
                            return name.contains("ci0") ? 31u : 30u;
                        });
}

model::GresInventory entry(const std::string& name, const std::string& type, std::uint64_t count) {
    model::GresInventory made;
    made.name = name;
    made.type = type;
    made.count = count;
    return made;
}

TEST(Nvml, a_library_that_is_not_there_is_named) {
    const auto nvml = Nvml::open("/nowhere/libnvidia-ml.so.1");
    ASSERT_FALSE(nvml);
    EXPECT_NE(nvml.error().message.find("/nowhere/libnvidia-ml.so.1"), std::string::npos);
}

TEST(Nvml, a_driver_without_cards_does_not_open) {
    FakeWorld world("");
    const auto nvml = Nvml::open(kFakeNvml);
    ASSERT_FALSE(nvml);
    EXPECT_EQ(nvml.error().message, "NVML: Driver Not Loaded");
}

TEST(Nvml, cards_are_described_in_full) {
    FakeWorld world(kTwoCards);
    const auto nvml = world.open();
    EXPECT_EQ(*nvml->driver_version(), "580.159.04");
    const auto cards = *nvml->cards();
    ASSERT_EQ(cards.size(), 2u);
    EXPECT_EQ(cards[1].name, "Quadro RTX 4000");
    EXPECT_EQ(cards[1].uuid, "GPU-b");
    EXPECT_EQ(cards[1].minor_number, 1u);
    EXPECT_EQ(cards[1].memory_bytes, 8192ull << 20);
    EXPECT_EQ(to_string(cards[1].cpus), "4-7");
    EXPECT_EQ(to_string(cards[1].links), "0");
    EXPECT_FALSE(cards[1].mig);
}

TEST(Nvml, a_sample_tells_use_memory_power_and_processes) {
    FakeWorld world(kTwoCards + "process 1 4711 2048 60\nprocess 1 4712 1024 30\n");
    const auto nvml = world.open();
    ASSERT_TRUE(nvml->cards());
    const auto sample = *nvml->sample(1);
    EXPECT_EQ(sample.utilization_percent, 93u);
    EXPECT_EQ(sample.memory_used_bytes, 4096ull << 20);  // What the driver keeps is not counted.
    EXPECT_EQ(sample.power_milliwatts, 9u);
    ASSERT_EQ(sample.processes.size(), 2u);
    EXPECT_EQ(sample.processes[0], (CardProcess{4711, 2048ull << 20, 60u}));
    EXPECT_FALSE(nvml->sample(7));
}

TEST(Nvml, an_xid_is_told_once_and_a_lost_card_until_it_is_back) {
    FakeWorld world(kTwoCards);
    const auto nvml = world.open();
    ASSERT_TRUE(nvml->cards());
    EXPECT_TRUE(nvml->faults().empty());
    world.say(kTwoCards + "xid 1 79\nxid 0 31\n");
    const auto faults = nvml->faults();
    ASSERT_EQ(faults.size(), 2u);
    EXPECT_EQ(faults[0], (CardFault{1, "XID 79", true}));
    EXPECT_EQ(faults[1], (CardFault{0, "XID 31", false}));
    EXPECT_TRUE(nvml->faults().empty());
    world.say(kTwoCards + "lost 1\n");
    EXPECT_EQ(nvml->faults().at(0), (CardFault{1, "GPU is lost", true}));
    EXPECT_FALSE(nvml->sample(1));
    EXPECT_EQ(nvml->cards()->size(), 1u);
    EXPECT_EQ(nvml->faults().at(0), (CardFault{1, "GPU is lost", true}));
}

TEST(Discovery, a_type_is_the_drivers_name_with_underscores) {
    const auto found = inventory_of(devices_of(kTwoCards));
    EXPECT_EQ(to_string(found), "gpu:Quadro_RTX_4000:2");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(to_string(found[0].devices), "0-1");
    EXPECT_EQ(found[0].files, (std::vector<std::string>{"/dev/nvidia0", "/dev/nvidia1"}));
    EXPECT_EQ(to_string(found[0].cores), "0-7");
    ASSERT_EQ(found[0].device_cores.size(), 2u);
    EXPECT_EQ(to_string(found[0].device_cores[1]), "4-7");
    EXPECT_EQ(to_string(found[0].device_links[0]), "1");
}

TEST(Discovery, cards_are_numbered_by_their_device_files) {
    const auto devices =
        devices_of("card NAME=B;UUID=b;MINOR=1;MEMORY=1\ncard NAME=A;UUID=a;MINOR=0;MEMORY=1\n");
    EXPECT_EQ(devices[0].type, "A");
    EXPECT_EQ(devices[0].card, 1u);
    EXPECT_EQ(devices[1].files.front(), "/dev/nvidia1");
}

TEST(Discovery, a_card_near_all_cores_names_none) {
    const auto found =
        inventory_of(devices_of("card NAME=NVIDIA H200;UUID=a;MINOR=0;MEMORY=1;CPUS=0-7\n"));
    EXPECT_TRUE(found[0].cores.empty());
    EXPECT_TRUE(found[0].device_cores.empty());
}

TEST(Discovery, mig_slices_are_types_of_their_own) {
    const auto devices = devices_of(
        "card NAME=NVIDIA H200;UUID=a;MINOR=0;MEMORY=140000\n"
        "slice 0 1g.18gb MIG-1 18000 7 0\nslice 0 1g.18gb MIG-2 18000 8 0\n"
        "slice 0 3g.71gb MIG-3 71000 2 0\n");
    EXPECT_EQ(to_string(inventory_of(devices)),
              "gpu:NVIDIA_H200_1g.18gb:2,gpu:NVIDIA_H200_3g.71gb:1");
    EXPECT_EQ(devices[0].files,
              (std::vector<std::string>{"/dev/nvidia0", "/dev/nvidia-caps/nvidia-cap30",
                                        "/dev/nvidia-caps/nvidia-cap31"}));
    EXPECT_EQ(devices[2].uuid, "MIG-3");
    EXPECT_EQ(devices[2].memory_bytes, 71000ull << 20);
}

TEST(Discovery, a_configured_type_is_part_of_the_name_in_any_case) {
    EXPECT_TRUE(type_matches("h200", "NVIDIA_H200"));
    EXPECT_TRUE(type_matches("", "NVIDIA_H200"));
    EXPECT_TRUE(type_matches("quadro_rtx_4000", "Quadro_RTX_4000"));
    EXPECT_TRUE(type_matches("1g.18gb", "NVIDIA_H200_1g.18gb"));
    EXPECT_FALSE(type_matches("h100", "NVIDIA_H200"));
}

TEST(Discovery, configured_entries_get_the_files_cores_and_links_of_what_was_found) {
    const auto match = match_inventory({entry("gpu", "rtx_4000", 2), entry("shard", "", 128)},
                                       devices_of(kTwoCards));
    EXPECT_EQ(match.problem, "");
    EXPECT_EQ(to_string(match.gres), "gpu:rtx_4000:2,shard:128");
    EXPECT_EQ(match.gres[0].files.size(), 2u);
    EXPECT_EQ(match.gres[0].device_cores.size(), 2u);
}

TEST(Discovery, fewer_cards_than_configured_names_both) {
    const auto match = match_inventory({entry("gpu", "rtx_4000", 4)}, devices_of(kTwoCards));
    EXPECT_EQ(match.problem, "gres/gpu: configured gpu:rtx_4000:4 but found gpu:Quadro_RTX_4000:2");
}

TEST(Discovery, another_type_than_configured_names_both) {
    const auto match = match_inventory({entry("gpu", "a100", 2)}, devices_of(kTwoCards));
    EXPECT_EQ(match.problem, "gres/gpu: configured gpu:a100:2 but found gpu:Quadro_RTX_4000:2");
    EXPECT_EQ(match_inventory({entry("gpu", "a100", 1)}, {}).problem,
              "gres/gpu: configured gpu:a100:1 but found no GPU");
}

TEST(Discovery, numbers_and_links_follow_the_order_of_the_configuration) {
    auto wanted = entry("gpu", "", 2);
    wanted.files = {"/dev/nvidia2", "/dev/nvidia0"};
    wanted.devices = model::IndexSet::range(0, 1);
    const auto match = match_inventory(
        {wanted},
        devices_of("card NAME=A;UUID=a;MINOR=0;MEMORY=1\ncard NAME=A;UUID=b;MINOR=1;"
                   "MEMORY=1\ncard NAME=A;UUID=c;MINOR=2;MEMORY=1\nlink 0 2\nlink 0 1\n"));
    EXPECT_EQ(match.problem, "");
    EXPECT_EQ(match.gres[0].device_names, (std::vector<std::string>{"c", "a"}));
    ASSERT_EQ(match.gres[0].device_links.size(), 2u);
    EXPECT_EQ(to_string(match.gres[0].device_links[0]), "1");
    EXPECT_EQ(to_string(match.gres[0].device_links[1]), "0");
}

TEST(Discovery, files_of_gres_conf_choose_the_cards) {
    auto wanted = entry("gpu", "", 1);
    wanted.files = {"/dev/nvidia1"};
    wanted.devices.insert(0);
    const auto match = match_inventory({wanted}, devices_of(kTwoCards));
    EXPECT_EQ(match.problem, "");
    // The only card of the configuration is its number 0, whatever the driver calls it.
    EXPECT_EQ(to_string(match.gres[0].devices), "0");
    EXPECT_EQ(match.gres[0].device_names, (std::vector<std::string>{"GPU-b"}));
    EXPECT_EQ(to_string(match.gres[0].cores), "4-7");
    wanted.files = {"/dev/nvidia5"};
    EXPECT_NE(match_inventory({wanted}, devices_of(kTwoCards)).problem, "");
}

}  // namespace
}  // namespace switchyard::gpu
