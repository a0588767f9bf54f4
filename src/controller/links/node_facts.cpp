#include "controller/links/node_facts.hpp"

#include <fmt/format.h>

#include "base/limits.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::controller {
namespace {

constexpr std::uint32_t kThreadsPerCoreMax = 256;

Status within(std::string_view what, std::uint64_t value, std::uint64_t most) {
    if (value <= most) return {};
    return fail(Errc::InvalidArgument,
                fmt::format("an agent tells of {} {}, at most {} are possible", value, what, most));
}

Status members_within(std::string_view what, const model::IndexSet& set, std::uint32_t most) {
    return set.empty() ? Status{} : within(what, std::uint64_t{set.back()} + 1, most);
}

Status check_gres(const model::GresInventory& gres) {
    SY_CHECK(members_within("devices", gres.devices, limits::kDevicesPerNodeMax));
    SY_CHECK(members_within("cores", gres.cores, limits::kCoresPerNodeMax));
    SY_CHECK(within("cores of devices", gres.device_cores.size(), limits::kDevicesPerNodeMax));
    for (const model::IndexSet& cores : gres.device_cores)
        SY_CHECK(members_within("cores", cores, limits::kCoresPerNodeMax));
    SY_CHECK(within("links of devices", gres.device_links.size(), limits::kDevicesPerNodeMax));
    for (const model::IndexSet& links : gres.device_links)
        SY_CHECK(members_within("devices", links, limits::kDevicesPerNodeMax));
    SY_CHECK(within("files of devices", gres.files.size(), limits::kDevicesPerNodeMax));
    SY_CHECK(within("names of devices", gres.device_names.size(), limits::kDevicesPerNodeMax));
    return within("sizes of devices", gres.device_memory.size(), limits::kDevicesPerNodeMax);
}

}  // namespace

Status check_registration(const wire::Register& message) {
    const auto size = [](const auto& list) { return static_cast<std::size_t>(list.size()); };
    SY_CHECK(within("bytes of facts", message.facts().ByteSizeLong(), limits::kRequestBytesMax));
    SY_CHECK(within("kinds of gres", size(message.facts().gres()), limits::kGresPerNodeMax));
    SY_CHECK(within("cards", size(message.facts().card_use()), limits::kDevicesPerNodeMax));
    SY_CHECK(within("bytes of its name", message.node().size(), limits::kWordBytesMax));
    return within("steps", size(message.steps()), limits::kStepsPerNodeMax);
}

Status check_facts(const model::NodeFacts& facts) {
    SY_CHECK(within("sockets", facts.sockets, limits::kCoresPerNodeMax));
    SY_CHECK(within("cores", std::uint64_t{facts.sockets} * facts.cores_per_socket,
                    limits::kCoresPerNodeMax));
    SY_CHECK(within("threads per core", facts.threads_per_core, kThreadsPerCoreMax));
    SY_CHECK(within("CPUs", facts.cpus, limits::kCoresPerNodeMax * kThreadsPerCoreMax));
    for (const model::GresInventory& gres : facts.gres) SY_CHECK(check_gres(gres));
    return {};
}

Status check_load(const wire::Load& message) {
    SY_CHECK(within("cards", static_cast<std::size_t>(message.card_use().size()),
                    limits::kDevicesPerNodeMax));
    return within("bytes of its problem", message.problem().size(), limits::kCommentBytesMax);
}

}  // namespace switchyard::controller
