// reader_thread.hpp: reads of the store that may take long (history, scripts) on a thread of their
// own, so that they hold up neither the owner nor the commits.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "store/store.hpp"

namespace switchyard::controller {

class ReaderThread {
  public:
    // The work runs on the reader's thread; what it found it posts to the loop itself.
    using Work = std::function<void(store::Reader&)>;

    explicit ReaderThread(std::unique_ptr<store::Reader> reader);
    ~ReaderThread();  // Work that has not begun is dropped.
    ReaderThread(const ReaderThread&) = delete;
    ReaderThread& operator=(const ReaderThread&) = delete;

    void ask(Work work);

  private:
    void run();

    std::unique_ptr<store::Reader> reader_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Work> queue_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace switchyard::controller
