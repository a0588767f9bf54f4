// files.hpp: small files and folders of the system: read whole, written whole, errors with their
// path.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace switchyard::os {

// errno as a failure: "<what>: No such file or directory". NotFound for ENOENT, AccessDenied for
// EACCES and EPERM, Busy for EBUSY, ENOTEMPTY and EAGAIN, else Io.
Failure errno_failure(std::string_view what);

bool write_all(int fd, std::string_view text);  // False: errno says why.
Result<std::string> read_file(const std::string& path);
// One write(2) to a file that exists: what kernel interfaces (/proc, cgroups) want.
Status write_file(const std::string& path, std::string_view text);
// A new file, complete or not there: written beside its place, then renamed into it.
Status write_new_file(const std::string& path, std::string_view text, mode_t mode);

// mkdir -p; folders that exist are left as they are.
Status make_folders(const std::string& path, mode_t mode);
// Names in a folder, sorted, without "." and "..".
Result<std::vector<std::string>> list_folder(const std::string& path);
// Removes a folder with all below it, or a file. Of the path only the last folder may be somebody
// else's (see beneath.hpp). What is not there is no error.
Status remove_tree(const std::string& path);
bool exists(const std::string& path);

}  // namespace switchyard::os
