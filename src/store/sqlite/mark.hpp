// mark.hpp: a few numbers beside the database, by which one that was lost, emptied or replaced by
// an older copy is recognised, and job ids go on where they were.
//
// What must never be too low is on disk before it counts: ids are given out of blocks that were
// marked first (jobs_below). How far the database is (commits) is noted after each commit without
// waiting for the disk: after a power failure the mark may be behind the database, never ahead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "io/fd.hpp"

namespace switchyard::store {

struct Mark {
    std::uint64_t identity = 0;    // Of the database, made by chance.
    std::uint64_t epoch = 0;       // How often the state was opened.
    std::uint64_t commits = 0;     // Since the state was made.
    std::uint64_t next_job = 0;    // As the last commit left it.
    std::uint64_t jobs_below = 0;  // No id that was ever given is this or higher.
    bool closed = false;           // By a controller that came to its end.
    bool operator==(const Mark&) const = default;
};

std::string to_text(const Mark& mark);  // One line, always of the same length.
std::optional<Mark> parse_mark(std::string_view text);

class MarkFile {
  public:
    static Result<MarkFile> open(const std::string& path);

    // None: there was no file, or nothing readable in it.
    const std::optional<Mark>& found() const { return found_; }
    Status write(const Mark& mark);     // On disk when it returns.
    void note(const Mark& mark) const;  // Soon; if it cannot be written, not at all.

  private:
    MarkFile(std::string path, io::Fd file, std::optional<Mark> found)
        : path_(std::move(path)), file_(std::move(file)), found_(found) {}
    std::string path_;
    io::Fd file_;
    std::optional<Mark> found_;
};

}  // namespace switchyard::store
