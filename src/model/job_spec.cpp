#include "model/job_spec.hpp"

#include <fmt/format.h>

#include "base/limits.hpp"
#include "base/text.hpp"

namespace switchyard::model {
namespace {

using Nodes = Distribution::Nodes;

bool parse_nodes_part(std::string_view text, Distribution& out) {
    constexpr std::string_view kPlane = "plane";
    if (text == "*") {
        out.nodes = Nodes::Unset;
    } else if (equals_ignoring_case(text, "block")) {
        out.nodes = Nodes::Block;
    } else if (equals_ignoring_case(text, "cyclic")) {
        out.nodes = Nodes::Cyclic;
    } else if (equals_ignoring_case(text, "arbitrary")) {
        out.nodes = Nodes::Arbitrary;
    } else if (starts_with_ignoring_case(text, kPlane)) {
        out.nodes = Nodes::Plane;
        text.remove_prefix(kPlane.size());
        if (text.empty())
            return true;  // The size comes from SLURM_DIST_PLANESIZE, or is missed later.
        if (text[0] != '=') return false;
        const auto size = parse_uint(text.substr(1));
        if (!size || *size == 0 || *size > limits::kTasksMax) return false;
        out.plane_size = static_cast<std::uint32_t>(*size);
    } else {
        return false;
    }
    return true;
}

bool is_socket_part(std::string_view text) {
    return text == "*" || equals_ignoring_case(text, "block") ||
           equals_ignoring_case(text, "cyclic") || equals_ignoring_case(text, "fcyclic");
}

}  // namespace

Result<Distribution> parse_distribution(std::string_view text) {
    Distribution out;
    std::string_view rest = text;
    if (const std::size_t comma = rest.find(','); comma != std::string_view::npos) {
        const std::string_view packing = rest.substr(comma + 1);
        out.pack = equals_ignoring_case(packing, "pack");
        out.no_pack = equals_ignoring_case(packing, "nopack");
        if (!out.pack && !out.no_pack) return fail(Errc::TaskDistribution);
        rest = rest.substr(0, comma);
    } else if (equals_ignoring_case(rest, "pack") || equals_ignoring_case(rest, "nopack")) {
        out.pack = equals_ignoring_case(rest, "pack");
        out.no_pack = !out.pack;
        return out;
    }
    const auto parts = split(rest, ':');
    if (parts.empty() || parts.size() > 3 || !parse_nodes_part(parts[0], out)) {
        return fail(Errc::TaskDistribution);
    }
    if (parts.size() > 1 && out.nodes == Nodes::Plane) return fail(Errc::TaskDistribution);
    for (std::size_t i = 1; i < parts.size(); ++i) {
        if (!is_socket_part(parts[i])) return fail(Errc::TaskDistribution);
    }
    if (parts.size() > 1) out.sockets = rest.substr(rest.find(':') + 1);
    return out;
}

std::string to_string(const Distribution& distribution) {
    std::string out;
    switch (distribution.nodes) {
        case Nodes::Unset:
            break;
        case Nodes::Block:
            out = "block";
            break;
        case Nodes::Cyclic:
            out = "cyclic";
            break;
        case Nodes::Arbitrary:
            out = "arbitrary";
            break;
        case Nodes::Plane:
            out = distribution.plane_size == 0 ? "plane"
                                               : fmt::format("plane={}", distribution.plane_size);
            break;
    }
    if (!distribution.sockets.empty()) {
        if (out.empty()) out = "*";
        out += ":" + distribution.sockets;
    }
    if (distribution.pack || distribution.no_pack) {
        if (!out.empty()) out += ',';
        out += distribution.pack ? "Pack" : "NoPack";
    }
    return out;
}

}  // namespace switchyard::model
