#include "cli/submission/origin.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/text.hpp"
#include "cli/submission/surroundings.hpp"
#include "os/users.hpp"

namespace switchyard::cli {
namespace {

struct LimitName {
    int resource;
    std::string_view name;
};
constexpr LimitName kLimits[] = {
    {RLIMIT_AS, "AS"},         {RLIMIT_CORE, "CORE"},   {RLIMIT_CPU, "CPU"},
    {RLIMIT_DATA, "DATA"},     {RLIMIT_FSIZE, "FSIZE"}, {RLIMIT_MEMLOCK, "MEMLOCK"},
    {RLIMIT_NOFILE, "NOFILE"}, {RLIMIT_NPROC, "NPROC"}, {RLIMIT_RSS, "RSS"},
    {RLIMIT_STACK, "STACK"},
};

bool lists(std::string_view names, std::string_view limit) {
    for (std::string_view name : split(names, ',')) {
        name = trim(name);
        if (starts_with_ignoring_case(name, "RLIMIT_")) name.remove_prefix(7);
        if (equals_ignoring_case(name, "ALL") || equals_ignoring_case(name, limit)) return true;
    }
    return false;
}

Result<gid_t> find_group(const std::string& text) {
    if (const auto number = parse_uint(text); number && *number < 0xffffffffu)
        return static_cast<gid_t>(*number);
    const auto found = os::find_group(text);
    if (!found) return fail(Errc::InvalidArgument, "Invalid --gid specification");
    return *found;
}

}  // namespace

void fill_origin(model::JobSpec& job, const std::vector<std::string>& words, bool names) {
    job.uid = ::getuid();
    job.gid = ::getgid();
    if (names) {
        job.user = os::user_name(job.uid);
        job.group = os::group_name(job.gid);
    }
    job.submit_host = short_host_name();
    job.submit_line = join(words, " ");
    job.alloc_sid = static_cast<std::uint32_t>(::getsid(0));
}

Status take_identity(const options::JobRequest& request) {
    const options::CommandSettings& ask = request.ask;
    if (ask.uid_name.empty() && ask.gid_name.empty()) return {};
    os::Identity who;
    who.gid = ::getgid();
    std::string name = os::user_name(0);
    if (!ask.uid_name.empty()) {
        const auto number = parse_uint(ask.uid_name);
        const auto user = number && *number < 0xffffffffu
                              ? os::find_user(static_cast<uid_t>(*number))
                              : os::find_user(ask.uid_name);
        if (!user) return fail(Errc::InvalidArgument, "Invalid --uid specification");
        who.uid = user->uid;
        who.gid = user->gid;
        name = user->name;
    }
    if (!ask.gid_name.empty()) {
        SY_TRY(who.gid, find_group(ask.gid_name));
    }
    who.groups = os::groups_of(name, who.gid);
    if (!os::become(who))
        return fail(Errc::AccessDenied, fmt::format("cannot become uid {} gid {}: {}", who.uid,
                                                    who.gid, std::strerror(errno)));
    return {};
}

std::uint32_t umask_to_hand_on() {
    if (const char* text = std::getenv("SLURM_UMASK")) {
        char* end = nullptr;
        const unsigned long mask = std::strtoul(text, &end, 8);
        if (end != text && *end == '\0' && mask <= 0777) return static_cast<std::uint32_t>(mask);
    }
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return mask;
}

std::vector<model::ResourceLimit> limits_to_hand_on(const options::JobRequest& request,
                                                    const config::Config& config) {
    const std::string names = request.ask.propagate.value_or(config.propagate_limits);
    const bool by_site = !request.ask.propagate;
    std::vector<model::ResourceLimit> limits;
    for (const LimitName& each : kLimits) {
        if (!lists(names, each.name)) continue;
        if (by_site && lists(config.propagate_limits_except, each.name)) continue;
        rlimit limit{};
        if (::getrlimit(static_cast<__rlimit_resource_t>(each.resource), &limit) != 0) continue;
        limits.push_back({each.resource, limit.rlim_cur, limit.rlim_max});
    }
    return limits;
}

}  // namespace switchyard::cli
