#include "controller/names/names.hpp"

#include <algorithm>
#include <utility>

namespace switchyard::controller {
namespace {

constexpr auto kRemembered = std::chrono::minutes(10);
constexpr auto kUnknownRemembered = std::chrono::seconds(10);  // They may be added any moment.
// After nobody answered: longer than a few questions of one request take, one after the other.
constexpr auto kSilenceRemembered = std::chrono::seconds(30);

}  // namespace

Names::Names(io::Loop& loop, Ask ask, Millis patience)
    : loop_(loop), ask_(std::move(ask)), patience_(patience), look_ups_(loop) {}

bool Names::is_fresh(const NameKey& key) const {
    const auto entry = entries_.find(key);
    return entry != entries_.end() && Clock::now() < entry->second.until;
}

bool Names::has(const std::vector<NameKey>& keys) const {
    return std::ranges::all_of(keys, [&](const NameKey& key) { return is_fresh(key); });
}

bool Names::is_answered(const NameKey& key) const {
    const auto entry = entries_.find(key);
    return entry != entries_.end() && entry->second.answer.has_value();
}

void Names::when_known(const std::vector<NameKey>& keys, std::function<void()> then) {
    const auto waiting = waiting_.insert(waiting_.end(), Waiting{{}, std::move(then), {}});
    for (const NameKey& key : keys) {
        if (is_fresh(key)) continue;
        waiting->keys.insert(key);
        look_up(key);
    }
    const Millis patience = waiting->keys.empty() ? Millis{0} : patience_;
    waiting->patience = loop_.after(patience, [this, waiting] { give_up(waiting); });
}

void Names::look_up_soon(const std::vector<NameKey>& keys) {
    for (const NameKey& key : keys) {
        if (!is_fresh(key)) look_up(key);
    }
}

void Names::look_up(const NameKey& key) {
    Entry& entry = entries_[key];
    if (entry.asked) return;
    entry.asked = look_ups_.ask([this, ask = ask_, key]() -> std::function<void()> {
        return [this, key, answer = ask(key)] { on_answer(key, answer); };
    });
}

void Names::on_answer(const NameKey& key, NameAnswer answer) {
    Entry& entry = entries_[key];
    entry.asked = false;
    entry.until = Clock::now() + (answer.found ? Clock::duration(kRemembered)
                                               : Clock::duration(kUnknownRemembered));
    entry.answer = std::move(answer);
    std::list<Waiting> done;
    for (auto each = waiting_.begin(); each != waiting_.end();) {
        const auto next = std::next(each);
        if (each->keys.erase(key) > 0 && each->keys.empty())
            done.splice(done.end(), waiting_, each);
        each = next;
    }
    for (const Waiting& each : done) each.then();
}

// What was known before counts on.
void Names::give_up(std::list<Waiting>::iterator waiting) {
    for (const NameKey& key : waiting->keys)
        entries_[key].until = Clock::now() + kSilenceRemembered;
    const auto then = std::move(waiting->then);
    waiting_.erase(waiting);
    then();
}

void Names::forget() {
    for (auto& [key, entry] : entries_) entry.until = {};
}

const NameAnswer* Names::answer_to(const NameKey& key) const {
    const auto entry = entries_.find(key);
    if (entry == entries_.end() || !entry->second.answer) return nullptr;
    return entry->second.answer->found ? &*entry->second.answer : nullptr;
}

std::optional<User> Names::find(std::uint32_t uid) const {
    const NameAnswer* user = answer_to(NameKey::user(uid));
    if (user == nullptr) return std::nullopt;
    return User{.name = user->text, .gid = user->gid};
}

std::string Names::name_of(std::uint32_t uid) const {
    const NameAnswer* user = answer_to(NameKey::user(uid));
    return user != nullptr ? user->text : std::to_string(uid);
}

std::string Names::group_name(std::uint32_t gid) const {
    const NameAnswer* group = answer_to(NameKey::group(gid));
    return group != nullptr ? group->text : std::to_string(gid);
}

std::vector<std::uint32_t> Names::groups_of(std::uint32_t uid, std::uint32_t gid) const {
    const NameAnswer* groups = answer_to(NameKey::groups_of(uid, gid));
    return groups != nullptr ? groups->ids : std::vector<std::uint32_t>();
}

std::vector<std::string> Names::group_names_of(std::uint32_t uid, std::uint32_t gid) const {
    const NameAnswer* groups = answer_to(NameKey::group_names_of(uid, gid));
    return groups != nullptr ? groups->names : std::vector<std::string>();
}

std::optional<std::uint32_t> Names::uid_of(const std::string& name) const {
    const NameAnswer* user = answer_to(NameKey::user_named(name));
    return user != nullptr ? std::optional(user->uid) : std::nullopt;
}

std::optional<std::vector<std::uint32_t>> Names::members_of(const std::string& group) const {
    const NameAnswer* members = answer_to(NameKey::members_of(group));
    return members != nullptr ? std::optional(members->ids) : std::nullopt;
}

std::string Names::address_of(const std::string& host) const {
    const NameAnswer* address = answer_to(NameKey::host(host));
    return address != nullptr ? address->text : std::string();
}

}  // namespace switchyard::controller
