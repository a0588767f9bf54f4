#include "controller/names/look_ups.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>

#include "controller/quiet_thread.hpp"

namespace switchyard::controller {
namespace {

// So many may hang before look-ups that would be answered have to wait for them.
constexpr std::size_t kThreadsMax = 8;
constexpr std::size_t kWaitingMax = 10'000;

}  // namespace

struct LookUps::Shared {
    std::mutex mutex;
    std::condition_variable wake;
    io::Loop* loop = nullptr;  // None once nobody waits for results.
    std::deque<Work> queue;
    std::size_t threads = 0, idle = 0;
};

LookUps::LookUps(io::Loop& loop) : shared_(std::make_shared<Shared>()) { shared_->loop = &loop; }

LookUps::~LookUps() {
    const std::lock_guard lock(shared_->mutex);
    shared_->loop = nullptr;
    shared_->queue.clear();
    shared_->wake.notify_all();
}

bool LookUps::ask(Work work) {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->queue.size() >= kWaitingMax) return false;
    shared_->queue.push_back(std::move(work));
    if (shared_->idle < shared_->queue.size() && shared_->threads < kThreadsMax) {
        ++shared_->threads;
        start_quiet_thread([shared = shared_] { run(shared); }).detach();
    }
    shared_->wake.notify_one();
    return true;
}

void LookUps::run(const std::shared_ptr<Shared>& shared) {
    std::unique_lock lock(shared->mutex);
    for (;;) {
        ++shared->idle;
        shared->wake.wait(lock, [&] { return !shared->queue.empty() || shared->loop == nullptr; });
        --shared->idle;
        if (shared->loop == nullptr) return;
        const Work work = std::move(shared->queue.front());
        shared->queue.pop_front();
        lock.unlock();
        auto result = work();
        lock.lock();
        if (shared->loop == nullptr) return;
        shared->loop->post([shared, result = std::move(result)] {
            if (shared->loop != nullptr) result();
        });
    }
}

}  // namespace switchyard::controller
