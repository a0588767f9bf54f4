// names.cpp: the names of the job's nodes resolve inside it.
#include <fmt/format.h>

#include "os/files.hpp"
#include "stepd/hosts.hpp"
#include "stepd/setup/parts.hpp"

namespace switchyard::stepd::setup {

Status resolve_names(Step& step) {
    const Launch& launch = step.launch;
    if (launch.hosts.empty()) return {};
    const auto present = os::read_file("/etc/hosts");
    const auto text = extended_hosts(present ? *present : "", launch.hosts, launch.setup.pretend);
    if (!text) return {};
    // A mount namespace of its own, or part of the way to one.
    step.changes_process = true;
    const Status mounted = mount_hosts(*text, launch.setup.spool);
    if (!mounted) {
        step.log.info(fmt::format("{}: node names may not resolve inside the job: {}",
                                  model::to_string(launch.key), mounted.error().message));
    }
    return {};
}

}  // namespace switchyard::stepd::setup
