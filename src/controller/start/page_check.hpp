// page_check.hpp: looks at every page of the database while the controller serves, after one before
// it was killed. What it finds is told in the log: by then the records are in memory, and a commit
// that meets a damaged page ends the controller anyway.
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "io/loop.hpp"
#include "os/log.hpp"

namespace switchyard::controller {

class PageCheck {
  public:
    PageCheck(io::Loop& loop, os::Log& log, std::string database);
    ~PageCheck();
    PageCheck(const PageCheck&) = delete;
    PageCheck& operator=(const PageCheck&) = delete;

  private:
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

}  // namespace switchyard::controller
