#include "controller/start/page_check.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include "controller/quiet_thread.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace switchyard::controller {
namespace {

constexpr int kLeastUrgent = 19;

}  // namespace

PageCheck::PageCheck(io::Loop& loop, os::Log& log, std::string database)
    : thread_(start_quiet_thread([this, &loop, &log, database = std::move(database)] {
          ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kLeastUrgent);
          const Status whole = store::check_whole(database, stop_);
          if (whole) return;
          loop.post([&log, why = whole.error().message] { log.error("{}", why); });
      })) {}

PageCheck::~PageCheck() {
    stop_ = true;
    thread_.join();
}

}  // namespace switchyard::controller
