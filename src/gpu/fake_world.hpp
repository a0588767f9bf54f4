// fake_world.hpp: for tests: writes the file that the fake NVML library reads.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>

#include "gpu/nvml.hpp"

namespace switchyard::gpu {

inline const std::string kFakeNvml = SY_FAKE_LIBRARIES "/libnvidia-ml.so.1";

class FakeWorld {
  public:
    explicit FakeWorld(const std::string& text) {
        char name[] = "/tmp/fake_nvml_XXXXXX";
        ::close(::mkstemp(name));
        path_ = name;
        say(text);
        ::setenv("FAKE_NVML", name, 1);
    }
    ~FakeWorld() {
        ::unlink(path_.c_str());
        ::unlink((path_ + ".limits").c_str());
    }
    FakeWorld(const FakeWorld&) = delete;
    FakeWorld& operator=(const FakeWorld&) = delete;

    void say(const std::string& text) { std::ofstream(path_) << text; }
    std::unique_ptr<Nvml> open() {
        auto nvml = Nvml::open(kFakeNvml);
        return nvml ? *std::move(nvml) : nullptr;
    }

  private:
    std::string path_;
};

}  // namespace switchyard::gpu
