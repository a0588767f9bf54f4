// file_lock.hpp: being the only process that holds a file.
#pragma once

namespace switchyard::io {

// Takes the lock of an open file whose text is the process id of its holder (or nothing). False:
// a living process holds it. A daemon that was killed while it started a child leaves its lock to
// that child until the child has become its program; so the lock of a dead holder is waited for.
bool lock_alone(int fd);

}  // namespace switchyard::io
