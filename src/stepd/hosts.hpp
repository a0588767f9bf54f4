// hosts.hpp: node names that resolve inside a job.
//
// Pretend nodes are known to no name service. A private copy of /etc/hosts with their names is
// mounted over it, in a mount namespace that only this process and its children see.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "stepd/launch.hpp"

namespace switchyard::stepd {

// An address rather than a name.
bool is_numeric(const std::string& address);

// The text of /etc/hosts with what is missing; none if nothing is. A name without a numeric address
// is left to the site's name service, unless `pretend` says that it means this host.
std::optional<std::string> extended_hosts(std::string_view present,
                                          const std::vector<HostName>& hosts, bool pretend);

// Moves this process into a mount namespace of its own, where /etc/hosts has this text. As root by
// right; otherwise in a user namespace with the same user in it, where the kernel allows that.
Status mount_hosts(const std::string& text, const std::string& scratch_folder);

}  // namespace switchyard::stepd
