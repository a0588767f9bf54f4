#include "agent/user_names.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "os/users.hpp"

namespace switchyard::agent {
namespace {

constexpr Seconds kKnownFor{600};
constexpr Seconds kPatience{5};
constexpr std::size_t kKnownMax = 4096;

}  // namespace

struct UserNames::Desk {
    std::mutex lock;
    std::condition_variable wake;
    std::deque<uid_t> asked;
    UserNames* owner = nullptr;  // None: nobody wants to know any more.

    static void serve(const std::shared_ptr<Desk>& desk) {
        std::unique_lock<std::mutex> locked(desk->lock);
        for (;;) {
            desk->wake.wait(locked, [&] { return !desk->asked.empty() || !desk->owner; });
            if (!desk->owner) return;
            const uid_t uid = desk->asked.front();
            desk->asked.pop_front();
            locked.unlock();
            std::string name = os::user_name(uid);
            locked.lock();
            if (!desk->owner) return;
            desk->owner->loop_.post([desk, uid, name = std::move(name)] {
                // On the thread of the owner, who alone takes itself away.
                if (desk->owner) desk->owner->answer(uid, name);
            });
        }
    }
};

UserNames::~UserNames() {
    if (!desk_) return;
    const std::lock_guard<std::mutex> locked(desk_->lock);
    desk_->owner = nullptr;
    desk_->wake.notify_all();
}

void UserNames::find(uid_t uid, Then then) {
    const auto known = known_.find(uid);
    if (known != known_.end() && loop_.now() - known->second.at < kKnownFor)
        return then(known->second.name);
    Waiting& waiting = waiting_[uid];
    waiting.then.push_back(std::move(then));
    if (waiting.then.size() > 1) return;
    // Not kept: the service may answer later.
    waiting.patience = loop_.after(kPatience, [this, uid] {
        auto late = waiting_.extract(uid);
        for (const Then& each : late.mapped().then) each(fmt::to_string(uid));
    });
    ask(uid);
}

void UserNames::ask(uid_t uid) {
    const bool is_first = !desk_;
    if (is_first) {
        desk_ = std::make_shared<Desk>();
        desk_->owner = this;
    }
    {
        const std::lock_guard<std::mutex> locked(desk_->lock);
        desk_->asked.push_back(uid);
    }
    desk_->wake.notify_all();
    if (!is_first) return;
    // Signals are the loop's.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([desk = desk_] { Desk::serve(desk); }).detach();
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void UserNames::answer(uid_t uid, const std::string& name) {
    if (known_.size() >= kKnownMax) known_.clear();
    known_[uid] = {name, loop_.now()};
    const auto waiting = waiting_.extract(uid);
    if (waiting.empty()) return;
    for (const Then& each : waiting.mapped().then) each(name);
}

}  // namespace switchyard::agent
