// names.hpp: names and groups of users, and addresses of hosts, as this host's name service (files,
// LDAP, SSSD, DNS) knows them. It is asked by threads of their own (look_ups.hpp): whoever needs an
// answer says so first, and is called back when it is there or was waited for long enough. After
// that the owner's thread reads what is known.
//
// Answers are remembered for a while. An old one is asked for again; if that is not answered in
// time, it counts on.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "controller/names/look_ups.hpp"
#include "io/loop.hpp"

namespace switchyard::controller {

// A question to the name service.
struct NameKey {
    enum class Kind : std::uint8_t {
        User,          // Of this uid.
        Group,         // Of this gid.
        GroupsOf,      // All groups of this user, with this gid among them.
        GroupNamesOf,  // Their names.
        UserNamed,
        MembersOf,  // Of the group of this name.
        Host,       // Its first address that other hosts could use.
    };
    Kind kind;
    std::uint32_t id = 0, gid = 0;
    std::string name = {};
    auto operator<=>(const NameKey&) const = default;

    static NameKey user(std::uint32_t uid) { return {Kind::User, uid}; }
    static NameKey group(std::uint32_t gid) { return {Kind::Group, gid}; }
    static NameKey groups_of(std::uint32_t uid, std::uint32_t gid) {
        return {Kind::GroupsOf, uid, gid};
    }
    static NameKey group_names_of(std::uint32_t uid, std::uint32_t gid) {
        return {Kind::GroupNamesOf, uid, gid};
    }
    static NameKey user_named(std::string name) { return {Kind::UserNamed, 0, 0, std::move(name)}; }
    static NameKey members_of(std::string name) { return {Kind::MembersOf, 0, 0, std::move(name)}; }
    static NameKey host(std::string name) { return {Kind::Host, 0, 0, std::move(name)}; }
};

struct NameAnswer {
    bool found = false;
    std::string text;                // A name or an address.
    std::uint32_t uid = 0, gid = 0;  // Of a user.
    std::vector<std::uint32_t> ids;  // Groups of a user, or members of a group.
    std::vector<std::string> names;  // Of groups.
};
// Asks the name service, however long that takes.
NameAnswer ask_name_service(const NameKey& key);

struct User {
    std::string name;
    std::uint32_t gid = 0;  // Of the password entry.
};

class Names {
  public:
    using Ask = std::function<NameAnswer(const NameKey& key)>;
    // `patience`: how long somebody waits for an answer.
    explicit Names(io::Loop& loop, Ask ask = ask_name_service, Millis patience = Millis{5000});
    Names(const Names&) = delete;
    Names& operator=(const Names&) = delete;

    // None of these has to be waited for.
    bool has(const std::vector<NameKey>& keys) const;
    // Calls back, not at once, when has() holds.
    void when_known(const std::vector<NameKey>& keys, std::function<void()> then);
    // Nobody waits for these yet.
    void look_up_soon(const std::vector<NameKey>& keys);
    // False: the name service has not answered, now or earlier.
    bool is_answered(const NameKey& key) const;
    void forget();  // After a reconfigure: everything is asked again.

    // --- what is known ---
    // None: this host does not know the user.
    std::optional<User> find(std::uint32_t uid) const;
    // "alice", or "1000" where there is no name.
    std::string name_of(std::uint32_t uid) const;
    std::string group_name(std::uint32_t gid) const;
    // Empty if this host does not know the user.
    std::vector<std::uint32_t> groups_of(std::uint32_t uid, std::uint32_t gid) const;
    std::vector<std::string> group_names_of(std::uint32_t uid, std::uint32_t gid) const;
    // The uid of a user name, or of a number; none if there is no such user.
    std::optional<std::uint32_t> uid_of(const std::string& name) const;
    // The uids of all members of a group; none if there is no such group.
    std::optional<std::vector<std::uint32_t>> members_of(const std::string& group) const;
    std::string address_of(const std::string& host) const;  // Empty: none.

  private:
    using Clock = std::chrono::steady_clock;
    struct Entry {
        std::optional<NameAnswer> answer;
        Clock::time_point until;  // Not asked again before.
        bool asked = false;       // A look-up is under way.
    };
    struct Waiting {
        std::set<NameKey> keys;  // Without an answer.
        std::function<void()> then;
        io::Loop::Timer patience;
    };

    bool is_fresh(const NameKey& key) const;
    // Null: there is none, or it says that there is no such thing.
    const NameAnswer* answer_to(const NameKey& key) const;
    void look_up(const NameKey& key);
    void on_answer(const NameKey& key, NameAnswer answer);
    void give_up(std::list<Waiting>::iterator waiting);

    io::Loop& loop_;
    Ask ask_;
    Millis patience_;
    std::map<NameKey, Entry> entries_;
    std::list<Waiting> waiting_;
    LookUps look_ups_;
};

}  // namespace switchyard::controller
