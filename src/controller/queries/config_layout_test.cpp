// Goal: scontrol show config has every key, each once, ours among them. Method: a few values in.
#include "controller/queries/config_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace switchyard::controller {
namespace {

TEST(ConfigLayout, KnownValuesStandInSlurmsOrderAndTheRestIsAbsent) {
    const ConfigValues out = lay_out({{"SwitchyardRunDir", "/run/x"},
                                      {"SLURM_CONF", "/etc/slurm.conf"},
                                      {"KillWait", "30 sec"}});
    const auto at = [&](std::string_view key) {
        const auto found = std::ranges::find(out, key, [](const auto& e) { return e.first; });
        EXPECT_NE(found, out.end()) << key;
        return found;
    };
    EXPECT_EQ(at("KillWait")->second, "30 sec");
    EXPECT_EQ(at("Licenses")->second, "(null)");
    EXPECT_EQ(at("HealthCheckInterval")->second, "0 sec");
    EXPECT_LT(at("SlurmctldPidFile"), at("SLURM_CONF"));
    EXPECT_LT(at("StateSaveLocation"), at("SwitchyardRunDir"));
    EXPECT_LT(at("SwitchyardRunDir"), at("TaskEpilog"));
    std::set<std::string> keys;
    for (const auto& [key, value] : out) EXPECT_TRUE(keys.insert(key).second) << key;
}

}  // namespace
}  // namespace switchyard::controller
