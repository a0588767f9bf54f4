// transcript_test.cpp: the tests made from the scenario files.

#include "core/testing/transcript.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace switchyard::core::testing {
namespace {

// One section of a scenario file: "=== a sentence about behaviour", then the transcript.
class ScenarioTest : public ::testing::Test {
  public:
    explicit ScenarioTest(std::string text) : text_(std::move(text)) {}
    void TestBody() override { EXPECT_EQ(play(text_), text_); }

  private:
    std::string text_;
};

struct Section {
    std::string title, text;
};

std::vector<Section> read_sections(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::vector<Section> sections;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("=== ")) {
            sections.push_back({line.substr(4), {}});
        } else if (!sections.empty()) {
            sections.back().text += line + "\n";
        }
    }
    return sections;
}

// With SY_BLESS set, the files are rewritten with what came out, unless a word was misunderstood;
// read the difference before you keep it.
void bless(const std::filesystem::path& path) {
    std::string text;
    for (const Section& section : read_sections(path))
        text += "=== " + section.title + "\n" + play(section.text);
    if (!text.contains(kMisunderstood)) std::ofstream(path) << text;
}

bool register_scenarios() {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(SY_SCENARIOS)) {
        if (entry.path().extension() == ".txt") paths.push_back(entry.path());
    }
    std::ranges::sort(paths);
    for (const std::filesystem::path& path : paths) {
        if (std::getenv("SY_BLESS") != nullptr) bless(path);
        for (const Section& section : read_sections(path)) {
            std::string name = section.title;
            for (char& c : name) c = isalnum(static_cast<unsigned char>(c)) ? c : '_';
            ::testing::RegisterTest(
                ("Scenario_" + path.stem().string()).c_str(), name.c_str(), nullptr, nullptr,
                path.c_str(), 1,
                [text = section.text]() -> ScenarioTest* { return new ScenarioTest(text); });
        }
    }
    return true;
}

[[maybe_unused]] const bool kRegistered = register_scenarios();

}  // namespace

}  // namespace switchyard::core::testing
