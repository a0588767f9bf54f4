// cluster_key.hpp: the file whose holders are members of the cluster, as with munge.key. 32 random
// bytes, written as one line of hexadecimal digits so that it can be copied by hand (32 raw bytes
// are read too), mode 0400; controller and agents prove by it who they are (TLS 1.3 pre-shared
// key).
#pragma once

#include <string>

#include "base/result.hpp"
#include "wire/channel.hpp"

namespace switchyard::wire {

// Reads the key. NotFound if there is no such file; refused if others than its owner may read it.
Result<PresharedKey> load_cluster_key(const std::string& path, const std::string& cluster_name);
// Makes the file if it does not exist, then reads it: what the controller does when it starts.
Result<PresharedKey> load_or_create_cluster_key(const std::string& path,
                                                const std::string& cluster_name);

}  // namespace switchyard::wire
