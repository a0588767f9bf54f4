// update_key.hpp: one key of a change, and what most of them have in common: how a value is read,
// what is said of a bad one, how a key is found in its table. The tables are in
// update_job_keys.cpp, update_node_keys.cpp and update_partition_keys.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "cli/scontrol/update_keys.hpp"

namespace switchyard::cli {

// One key of an update: its name and what a value does.
template <class Update>
struct Key {
    std::string_view name;
    Status (*apply)(Update& update, const KeyWord& word, Instant now);
};

// Sentences. The key of `word` is the one of the table by now, however it was typed.
Failure bad_value(const KeyWord& word);
Failure bad_duration(const KeyWord& word);
Failure unknown_key(const KeyWord& word);
Failure refused_key(const KeyWord& word);  // What cannot be had here, and why.

inline constexpr std::string_view kNoChanges = "No changes specified";

std::string text_of(const KeyWord& word);
Result<std::uint32_t> number_of(const KeyWord& word);
Result<bool> flag_of(const KeyWord& word);
Result<std::vector<std::string>> nodes_of(const KeyWord& word);

// The shapes most keys have.
template <class Update, std::optional<std::string> Update::* Member>
Status set_text(Update& update, const KeyWord& word, Instant) {
    update.*Member = text_of(word);
    return {};
}
template <class Update, std::optional<std::uint32_t> Update::* Member>
Status set_number(Update& update, const KeyWord& word, Instant) {
    SY_TRY(update.*Member, number_of(word));
    return {};
}
template <class Update, std::optional<bool> Update::* Member>
Status set_flag(Update& update, const KeyWord& word, Instant) {
    SY_TRY(update.*Member, flag_of(word));
    return {};
}
template <class Update, std::optional<std::vector<std::string>> Update::* Member>
Status set_nodes(Update& update, const KeyWord& word, Instant) {
    SY_TRY(update.*Member, nodes_of(word));
    return {};
}
template <class Update>
Status refuse_key(Update&, const KeyWord& word, Instant) {
    return refused_key(word);
}

// The key of that name, or the only one that begins so.
template <class Update>
const Key<Update>* find_key(std::span<const Key<Update>> keys, std::string_view name) {
    constexpr std::size_t kShortest = 3;
    const Key<Update>* found = nullptr;
    for (const Key<Update>& key : keys) {
        if (equals_ignoring_case(key.name, name)) return &key;
        if (name.size() < kShortest || !starts_with_ignoring_case(key.name, name)) continue;
        if (found != nullptr) return nullptr;
        found = &key;
    }
    return found;
}

template <class Update>
Status apply(std::span<const Key<Update>> keys, Update& update, const KeyWord& word, Instant now) {
    const Key<Update>* key = find_key(keys, word.key);
    if (key == nullptr) return unknown_key(word);
    if (word.sign != 0 && key->name != "TimeLimit") return unknown_key(word);
    KeyWord named = word;
    named.key = key->name;
    return key->apply(update, named, now);
}

}  // namespace switchyard::cli
