// config_fixture.hpp: a folder of the test's own, with a slurm.conf and what belongs to it.
//
// Goal of the tests that use it: what a slurm.conf, gres.conf and cgroup.conf say is what Config
// holds, and every complaint names its place.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "model/hostlist.hpp"

namespace switchyard::config {

class ConfigTest : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = ::testing::TempDir() + "/config_test_XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string path(const std::string& name) const { return folder_ + "/" + name; }
    void write(const std::string& name, const std::string& text) const {
        std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
        std::ofstream(path(name)) << text;
    }

    Config load(const std::string& text) const {
        write("slurm.conf", text);
        auto config = load_config(path("slurm.conf"));
        EXPECT_TRUE(config) << (config ? "" : config.error().message);
        return config ? *config : Config{};
    }
    // The message of the refusal, with the folder cut out.
    std::string refusal(const std::string& text) const {
        write("slurm.conf", text);
        const auto config = load_config(path("slurm.conf"));
        return config ? "accepted" : without_folder(config.error().message);
    }
    std::string without_folder(std::string message) const {
        for (std::size_t at; (at = message.find(folder_ + "/")) != std::string::npos;) {
            message.erase(at, folder_.size() + 1);
        }
        return message;
    }
    std::vector<std::string> notices(const Config& config) const {
        std::vector<std::string> out;
        for (const auto& notice : config.notices) {
            out.push_back(without_folder(notice.where) + ": " + notice.text);
        }
        return out;
    }

    std::string folder_;
};

inline std::string node_names(const Config& config) {
    std::vector<std::string> names;
    for (const auto& node : config.nodes) names.push_back(node.name);
    return model::compress_hostlist(names);
}

}  // namespace switchyard::config
