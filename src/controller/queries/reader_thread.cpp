#include "controller/queries/reader_thread.hpp"

#include "controller/quiet_thread.hpp"

namespace switchyard::controller {

ReaderThread::ReaderThread(std::unique_ptr<store::Reader> reader)
    : reader_(std::move(reader)), thread_(start_quiet_thread([this] { run(); })) {}

ReaderThread::~ReaderThread() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
}

void ReaderThread::ask(Work work) {
    {
        const std::lock_guard lock(mutex_);
        queue_.push_back(std::move(work));
    }
    wake_.notify_one();
}

void ReaderThread::run() {
    for (;;) {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return !queue_.empty() || stopping_; });
        if (stopping_) return;
        const Work work = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        work(*reader_);
    }
}

}  // namespace switchyard::controller
