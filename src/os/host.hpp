// host.hpp: this host as others know it.
#pragma once

#include <string>
#include <vector>

namespace switchyard::os {

std::string full_host_name();
// Addresses under which it may be reached, those of real interfaces first.
std::vector<std::string> own_addresses();
// Whether a configured name or address means this host.
bool is_this_host(const std::string& name_or_address);

}  // namespace switchyard::os
