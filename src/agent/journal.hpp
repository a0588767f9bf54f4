// journal.hpp: which batch scripts began on this node, and how they ended.
//
// A script that has begun is not begun again, whatever the controller's records say: they may be a
// restored backup. So each is written down in the spool before its stepd starts, one line with one
// write(2): what is written survives the death of every process. That it is not on the disk yet
// does not matter, because a machine that loses power is seen to have booted.
//
// A job is known by id, attempt and the time of its submission: a cluster that begins anew gives
// the same ids again. The journal of another cluster is not taken over.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "agent/job_key.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "io/fd.hpp"
#include "model/job.hpp"
#include "os/log.hpp"

namespace switchyard::agent {

class Journal {
  public:
    struct End {
        Instant at{};
        model::ExitStatus exit;
        bool timed_out = false, out_of_memory = false;
        bool lost = false;  // Nobody knows how it ended.
        bool operator==(const End&) const = default;
    };
    struct Script {
        Instant submitted{}, began{};
        // Of an element of an array; the number of an element may be newer than a backup.
        JobId array{0};
        std::uint32_t element = 0;
        std::optional<End> end = std::nullopt;
        bool operator==(const Script&) const = default;
    };

    explicit Journal(const os::Log& log) : log_(log) {}

    // Reads what earlier agents wrote there. A journal that cannot be kept is an error in the log,
    // not the end of the node: the controller's records say what began, too.
    void open(std::string path, std::string cluster, Instant now);

    void begin(const JobKey& job, const Script& script);
    void end(const JobKey& job, const End& end);
    // Nobody knows how the others ended.
    void end_all_but(const std::set<JobKey>& living, Instant now);
    // That job, and not another one of the same id; nullptr: it did not begin here.
    const Script* find(const JobKey& job, Instant submitted) const;
    const std::map<JobKey, Script>& scripts() const { return scripts_; }

  private:
    void read(std::string_view text);
    bool read_line(std::string_view line);
    void append(const JobKey& job, const Script& script);
    // Forgets what is too old or too much, and writes the rest anew.
    void compact(Instant now);
    Status rewrite();
    void complain(const Error& why);

    const os::Log& log_;
    std::string path_, cluster_;
    io::Fd file_;
    std::map<JobKey, Script> scripts_;
    std::size_t lines_ = 0;  // In the file.
    std::string last_error_;
};

}  // namespace switchyard::agent
