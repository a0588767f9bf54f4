// look_ups.hpp: threads for questions to the name service, which may ask a server (LDAP, SSSD, DNS)
// that takes long or does not answer. A thread that hangs in there cannot be ended: it is left to
// itself, and the process does not wait for it at its end.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "io/loop.hpp"

namespace switchyard::controller {

class LookUps {
  public:
    // Runs on one of the threads; what it returns runs on the loop.
    using Work = std::function<std::function<void()>()>;

    explicit LookUps(io::Loop& loop);
    ~LookUps();  // What has not begun is dropped, and so is every result.
    LookUps(const LookUps&) = delete;
    LookUps& operator=(const LookUps&) = delete;

    // False: too many wait already.
    bool ask(Work work);

  private:
    struct Shared;
    static void run(const std::shared_ptr<Shared>& shared);

    std::shared_ptr<Shared> shared_;  // With threads that may outlive us.
};

}  // namespace switchyard::controller
