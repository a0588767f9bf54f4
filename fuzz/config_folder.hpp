// config_folder.hpp: a private folder with the files that load_config reads.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "fuzz/fuzz.hpp"

namespace switchyard::fuzz {

class ConfigFolder {
  public:
    ConfigFolder() {
        std::string pattern = std::filesystem::temp_directory_path() / "sy-fuzz-XXXXXX";
        must(::mkdtemp(pattern.data()) != nullptr, "a folder can be made");
        path_ = pattern;
    }
    ~ConfigFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    ConfigFolder(const ConfigFolder&) = delete;
    ConfigFolder& operator=(const ConfigFolder&) = delete;

    std::string write(const std::string& name, std::string_view text) const {
        const std::string file = path_ + "/" + name;
        std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
        return file;
    }

  private:
    std::string path_;
};

// Other files of this machine are none of the fuzzer's business.
inline bool includes_elsewhere(std::string_view text) {
    return to_lower(text).find("include") != std::string::npos &&
           text.find('/') != std::string_view::npos;
}

}  // namespace switchyard::fuzz
