#include "pmi/server.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "pmi/pmix_server.hpp"
#include "pmi/simple_server.hpp"

namespace switchyard::pmi {
namespace {

// Names of PMIx with a version are those of sites that have several; there is one library here.
bool is_pmix(std::string_view kind) { return kind == "pmix" || kind.starts_with("pmix_v"); }

}  // namespace

std::vector<std::string_view> kinds() {
    std::vector<std::string_view> names{"none", "pmi2"};
    if (has_pmix()) names.push_back("pmix");
    return names;
}

bool is_none(std::string_view word) { return word.empty() || equals_ignoring_case(word, "none"); }

bool is_kind(std::string_view word) {
    return is_none(word) || word == "pmi2" || (is_pmix(word) && has_pmix());
}

Result<std::unique_ptr<Server>> make_server(std::string_view kind, io::Loop& loop, Place place,
                                            Send send, Ready ready) {
    if (kind == "pmi2")
        return make_simple_server(loop, std::move(place), std::move(send), std::move(ready));
    if (is_pmix(kind))
        return make_pmix_server(loop, std::move(place), std::move(send), std::move(ready));
    return fail(Errc::Unsupported, fmt::format("there is no MPI plugin \"{}\"", kind));
}

}  // namespace switchyard::pmi
