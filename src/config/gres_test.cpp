// gres_test.cpp: generic resources, gres.conf and cgroup.conf.
#include "config/config_fixture.hpp"

namespace switchyard::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string inventory(const model::NodeConfig& node) {
    std::string out;
    for (const auto& gres : node.gres) {
        out += gres.name + ":" + gres.type + ":" + std::to_string(gres.count);
        out += "[" + to_string(gres.devices) + "]";
        for (const std::string& file : gres.files) out += " " + file;
        if (!gres.cores.empty()) out += " cores " + to_string(gres.cores);
        out += ";";
    }
    return out;
}

TEST_F(ConfigTest, GresWithoutGresConfIsCountedAndCardsHaveIndexes) {
    const Config config = load(
        "GresTypes=gpu,shard,disk\nNodeName=n1 Gres=gpu:rtx4000:2,shard:rtx4000:128,disk:4K\n"
        "NodeName=n2 Gres=gpu:4(S:0-1)\nNodeName=n3 Gres=gpu:a100\nNodeName=n4 "
        "Gres=(null)\nNodeName=n5 Gres=gpu:0\n");
    EXPECT_EQ(inventory(config.nodes[0]),
              "gpu:rtx4000:2[0-1];disk::4096[];shard:rtx4000:128[0-1];");
    EXPECT_EQ(config.nodes[0].gres[2].per_device(), 64u);
    EXPECT_EQ(inventory(config.nodes[1]), "gpu::4[0-3];");
    EXPECT_EQ(inventory(config.nodes[2]), "gpu:a100:1[0];");
    EXPECT_EQ(inventory(config.nodes[3]), "");
    EXPECT_EQ(inventory(config.nodes[4]), "");
    EXPECT_THAT(config.notices, IsEmpty());
}

TEST_F(ConfigTest, GresConfGivesFilesTypesAndCores) {
    write("gres.conf",
          "NodeName=n[1-2] Name=gpu Type=a100 File=/dev/nvidia[0-1] Cores=0-3\n"
          "NodeName=n[1-2] Name=gpu Type=t4 File=/dev/nvidia3 Cores=4-7\n"
          "Name=disk Count=8 Flags=CountOnly\n");
    const Config config = load(
        "GresTypes=gpu,disk\nNodeName=n1 Gres=gpu:3,disk:8\nNodeName=n2 "
        "Gres=gpu:t4:1,gpu:a100:2\n");
    EXPECT_EQ(inventory(config.nodes[0]),
              "gpu:a100:2[0-1] /dev/nvidia0 /dev/nvidia1 cores 0-3;gpu:t4:1[2] /dev/nvidia3 cores "
              "4-7;disk::8[];");
    EXPECT_EQ(
        inventory(config.nodes[1]),
        "gpu:t4:1[0] /dev/nvidia3 cores 4-7;gpu:a100:2[1-2] /dev/nvidia0 /dev/nvidia1 cores 0-3;");
    EXPECT_THAT(config.notices, IsEmpty());
}

TEST_F(ConfigTest, SharesSpreadOverTheCards) {
    write("gres.conf",
          "Name=gpu File=/dev/nvidia[0-1]\nName=shard Count=64 File=/dev/nvidia0\nName=shard "
          "Count=64 "
          "File=/dev/nvidia1\n");
    const Config config = load(
        "GresTypes=gpu,shard,mps\nNodeName=n1 Gres=gpu:2,shard:128\nNodeName=n2 Gres=mps:100\n"
        "NodeName=n3 Gres=gpu:2,shard:129\n");
    EXPECT_EQ(inventory(config.nodes[0]), "gpu::2[0-1] /dev/nvidia0 /dev/nvidia1;shard::128[0-1];");
    EXPECT_EQ(inventory(config.nodes[1]), "mps::100[];");
    EXPECT_EQ(config.nodes[2].gres[1].count, 128u);
    EXPECT_THAT(
        notices(config),
        ElementsAre(
            "slurm.conf:3: node n2 has mps but no gpu to share; they are only counted",
            HasSubstr("gres.conf:2: shard are spread evenly"),
            HasSubstr("gres.conf:3: shard are spread evenly"),
            "slurm.conf:4: node n3: 129 shard do not spread evenly over 2 cards; 128 are used"));
}

TEST_F(ConfigTest, CardsOfOneTypeMayBeNearDifferentCoresAndLinked) {
    write("gres.conf",
          "Name=gpu File=/dev/nvidia0 Cores=0-3 Links=-1,16\n"
          "Name=gpu File=/dev/nvidia1 Cores=4-7 Links=16,-1\n");
    const Config config = load("GresTypes=gpu\nNodeName=n1 Gres=gpu:2\n");
    const auto& cards = config.nodes[0].gres[0];
    ASSERT_EQ(cards.device_cores.size(), 2u);
    EXPECT_EQ(to_string(cards.device_cores[0]), "0-3");
    EXPECT_EQ(to_string(cards.device_cores[1]), "4-7");
    ASSERT_EQ(cards.device_links.size(), 2u);
    EXPECT_EQ(to_string(cards.device_links[0]), "1");
    EXPECT_EQ(to_string(cards.device_links[1]), "0");
    EXPECT_THAT(config.notices, IsEmpty());
}

TEST_F(ConfigTest, GresConfChoosesHowCardsAreFoundAndSharesAreKept) {
    write(
        "gres.conf",
        "AutoDetect=nvml\nNodeName=n2 AutoDetect=off\n"
        "NodeName=n1 Name=shard Count=64 Flags=guard,strict\n"
        "NodeName=n2 Name=shard Count=64 Flags=unprotected\n"
        "NodeName=n3 Name=shard Count=64 Flags=mps\nNodeName=n4 Name=shard Count=64 Flags=wild\n");
    const Config config = load("GresTypes=gpu,shard\nNodeName=n[1-4] Gres=gpu:1,shard:64\n");
    EXPECT_EQ(config.auto_detect.at(""), "nvml");
    EXPECT_EQ(config.auto_detect.at("n2"), "off");
    EXPECT_EQ(config.nodes[0].gres[1].protection, "guard+strict");
    EXPECT_EQ(config.nodes[1].gres[1].protection, "none");
    EXPECT_EQ(config.nodes[2].gres[1].protection, "mps");
    EXPECT_EQ(config.nodes[3].gres[1].protection, "");
    EXPECT_THAT(notices(config), ElementsAre("gres.conf:6: Flags: \"wild\" is not supported"));
    write("gres.conf", "AutoDetect=rsmi\n");
    EXPECT_THAT(notices(load("NodeName=n1\n")),
                ElementsAre("gres.conf:1: AutoDetect=rsmi is not supported: only nvml"));
    write("gres.conf", "AutoDetect=nvidia\n");
    const Config found = load("NodeName=n1\n");
    EXPECT_EQ(found.auto_detect.at(""), "nvml");
    EXPECT_THAT(found.gres_types, ElementsAre("gpu"));
}

TEST_F(ConfigTest, ADeviceMayHaveSeveralFiles) {
    write("gres.conf",
          "Name=gpu Type=1g.5gb MultipleFiles=/dev/nvidia0,/dev/nvidia-caps/nvidia-cap[30-31]\n"
          "Name=gpu Type=1g.5gb MultipleFiles=/dev/nvidia0,/dev/nvidia-caps/nvidia-cap39\n");
    const Config config = load("GresTypes=gpu\nNodeName=n1 Gres=gpu:1g.5gb:2\n");
    EXPECT_EQ(inventory(config.nodes[0]),
              "gpu:1g.5gb:2[0-1] "
              "/dev/nvidia0,/dev/nvidia-caps/nvidia-cap30,/dev/nvidia-caps/nvidia-cap31 "
              "/dev/nvidia0,/dev/nvidia-caps/nvidia-cap39;");
    EXPECT_THAT(config.notices, IsEmpty());
}

TEST_F(ConfigTest, MistakesInGresAreNamed) {
    EXPECT_EQ(refusal("GresTypes=gpu\nNodeName=n1 Gres=gpu:a:b:c\n"),
              "slurm.conf:2: Gres=gpu:a:b:c: cannot read \"gpu:a:b:c\"");
    write("gres.conf", "Name=gpu Count=3 File=/dev/nvidia[0-1]\nType=x\n");
    EXPECT_EQ(refusal("GresTypes=gpu\nNodeName=n1 Gres=gpu:2\n"),
              "gres.conf:1: Count=3 does not agree with 2 device files\n"
              "gres.conf:2: a line of gres.conf needs Name=");
    write("gres.conf",
          "NodeName=n1 Name=gpu File=/dev/nvidia0\nNodeName=n1 Name=nic "
          "File=/dev/x\nAutoDetect=nvml\n");
    const Config config = load("NodeName=n1 Gres=gpu:2\n");
    EXPECT_EQ(inventory(config.nodes[0]), "gpu::2[0-1] /dev/nvidia0;");
    EXPECT_THAT(config.gres_types, ElementsAre("gpu"));
    EXPECT_THAT(notices(config),
                ElementsAre(HasSubstr("node n1 has 2 gpu by Gres= but 1 in gres.conf"),
                            HasSubstr("gres.conf:2: nic of this line are not in Gres= of node n1"),
                            "slurm.conf:1: GresTypes does not name gpu; it is added"));
}

TEST_F(ConfigTest, CgroupConfSaysWhatIsConstrained) {
    write("cgroup.conf",
          "CgroupPlugin=cgroup/"
          "v2\nConstrainCores=no\nConstrainDevices=yes\nAllowedRAMSpace=90\nX=1\n");
    const Config config = load("ClusterName=c\n");
    EXPECT_FALSE(config.constrain_cores);
    EXPECT_TRUE(config.constrain_memory);
    EXPECT_EQ(config.cgroup_plugin, "cgroup/v2");
    EXPECT_THAT(notices(config),
                ElementsAre("cgroup.conf:4: AllowedRAMSpace is not supported and has no effect",
                            "cgroup.conf:5: X is not a key of cgroup.conf; it has no effect"));
}

}  // namespace
}  // namespace switchyard::config
