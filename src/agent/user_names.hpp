// user_names.hpp: the names of users by this node's own name service, asked on a thread of its own.
//
// A directory service may take long to answer or never do; the agent does not wait for it. What a
// message says of a user's name is not believed: it is in a user's words.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "io/loop.hpp"

namespace switchyard::agent {

class UserNames {
  public:
    using Then = std::function<void(const std::string& name)>;

    explicit UserNames(io::Loop& loop) : loop_(loop) {}
    ~UserNames();
    UserNames(const UserNames&) = delete;
    UserNames& operator=(const UserNames&) = delete;

    // `then` is called at once if the name is known, else when the service has answered or has
    // taken too long: then the name is the number.
    void find(uid_t uid, Then then);

  private:
    struct Known {
        std::string name;
        Instant at{};
    };
    struct Waiting {
        std::vector<Then> then;
        io::Loop::Timer patience;
    };
    struct Desk;  // Shared with the thread, which may outlive this.

    void ask(uid_t uid);
    void answer(uid_t uid, const std::string& name);

    io::Loop& loop_;
    std::map<uid_t, Known> known_;
    std::map<uid_t, Waiting> waiting_;
    std::shared_ptr<Desk> desk_;
};

}  // namespace switchyard::agent
