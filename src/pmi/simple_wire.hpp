// simple_wire.hpp: the two text protocols of the "simple" PMI, as words.
//
// PMI-1 is lines of "name=value" separated by blanks, "cmd=put kvsname=12.0 key=k value=v w"; the
// last value of a put may have blanks in it. PMI-2 begins with one such line and goes on with six
// digits of length and "cmd=kvs-put;key=k;value=v;", where a ';' inside a value is doubled.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace switchyard::pmi {

struct Words {
    std::vector<std::pair<std::string, std::string>> pairs;

    std::string_view get(std::string_view name) const;  // Empty if it is not there.
    std::string_view command() const { return get("cmd"); }
};

enum class Dialect { Pmi1, Pmi2 };

// Cuts the next message from the front of `bytes`; none: more bytes are needed. InvalidArgument:
// the task does not speak PMI.
Result<std::optional<Words>> take_words(std::string& bytes, Dialect dialect);

// Both ends of a message are part of it: "cmd=barrier_out\n"; "    22cmd=kvs-put-response;rc=0;".
std::string format_words(const Words& words, Dialect dialect);

}  // namespace switchyard::pmi
