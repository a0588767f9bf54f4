// beneath.hpp: what is done below a folder that somebody else can write.
//
// There a path means something else from one moment to the next: whoever owns the folder can put a
// link to /etc in the place of a folder of theirs, and whoever walks the path as root works in
// /etc. So nothing here walks a path. A folder is opened once and is known by its descriptor; each
// name is one name in it, links are never followed, other file systems are never entered.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "io/fd.hpp"
#include "os/users.hpp"

namespace switchyard::os {

// By a path that only we and root can change.
Result<io::Fd> open_folder(const std::string& path);
// The folder of this name in another. Not a link to one, and not what somebody has mounted there.
Result<io::Fd> open_folder_in(int folder, const std::string& name);

// A new file that belongs to somebody. Whatever has the name already is an error.
Status write_file_in(int folder, const std::string& name, std::string_view text, mode_t mode,
                     const Identity& owner);

// What has this name in a folder: a file, a link (not what it leads to), a folder with all that is
// below it, however deep: it takes no more descriptors or memory for that. A name that is not there
// is no error. Busy: more than limits::kRemovedEntriesMax entries; what is left stays.
Status remove_in(int folder, const std::string& name);

// A folder of somebody's own in a folder of ours, when they are done with it: what is in it goes
// with their rights, by a process that has `patience` for it; then the folder with ours.
Status remove_folder_of(const Identity& owner, const std::string& path, unsigned patience_seconds);

// Makes a folder ours, and the place of other people's files: they reach what they know the name of
// and can neither list nor change what is there. A folder like /tmp stays as it is.
Status close_to_others(const std::string& path);

}  // namespace switchyard::os
