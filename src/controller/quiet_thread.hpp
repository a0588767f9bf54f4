// quiet_thread.hpp: a thread that takes no signals: they are the loop's, whichever started first.
#pragma once

#include <signal.h>

#include <thread>
#include <utility>

namespace switchyard::controller {

template <class Work>
std::thread start_quiet_thread(Work work) {
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);  // A new thread inherits the mask.
    std::thread thread(std::move(work));
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
}

}  // namespace switchyard::controller
