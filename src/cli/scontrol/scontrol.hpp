// scontrol.hpp: what the subcommands of scontrol share: the options before them, the session, the
// exit code.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/document_option.hpp"
#include "cli/session.hpp"
#include "model/reservation.hpp"
#include "view/record.hpp"

namespace switchyard::wire {
class Reply;
class Request;
}  // namespace switchyard::wire

namespace switchyard::cli {

using Words = std::vector<std::string>;

class Scontrol {
  public:
    bool all = false, details = false, one_line = false, future = false, quiet = false;
    int verbose = 0;
    std::string clusters;
    std::string time_format;   // SLURM_TIME_FORMAT
    std::string elements_max;  // SLURM_BITSTR_LEN
    DocumentWish document;
    int exit_code = 0;
    bool leave = false;  // exit, quit.

    // Null after a failure, which is then told: the caller just returns.
    Session* session(std::string_view call);
    // "slurm_update error: Invalid user id"; sets the exit code.
    void say_failed(std::string_view call, const Error& error);
    // A line on standard error; sets the exit code.
    void complain(std::string_view text);
    view::RecordStyle style(Instant now) const;

  private:
    std::optional<Session> session_;
};

// Subcommands: words after the command's own name.
void show(Scontrol& control, const Words& words);    // show.cpp
void update(Scontrol& control, const Words& words);  // update.cpp
void create(Scontrol& control, const Words& words);
void remove(Scontrol& control, const Words& words);
void hold(Scontrol& control, const Words& words);  // jobs.cpp
void user_hold(Scontrol& control, const Words& words);
void release(Scontrol& control, const Words& words);
void requeue(Scontrol& control, const Words& words);
void requeue_hold(Scontrol& control, const Words& words);
void suspend(Scontrol& control, const Words& words);
void resume(Scontrol& control, const Words& words);
void top(Scontrol& control, const Words& words);
void cancel(Scontrol& control, const Words& words);
void wait_job(Scontrol& control, const Words& words);
void completing(Scontrol& control, const Words& words);
void ping(Scontrol& control, const Words& words);  // admin.cpp
void reconfigure(Scontrol& control, const Words& words);
void shut_down(Scontrol& control, const Words& words);
void list_pids(Scontrol& control, const Words& words);
void list_jobs(Scontrol& control, const Words& words);
void list_steps(Scontrol& control, const Words& words);
void get_addresses(Scontrol& control, const Words& words);
void pid_info(Scontrol& control, const Words& words);
void show_config(Scontrol& control);
void write(Scontrol& control, const Words& words);   // write.cpp
void reboot(Scontrol& control, const Words& words);  // nodes.cpp
void cancel_reboot(Scontrol& control, const Words& words);
void set_debug(Scontrol& control, const Words& words);  // log.cpp
void set_debug_flags(Scontrol& control, const Words& words);
void sched_log_level(Scontrol& control, const Words& words);
void token(Scontrol& control, const Words& words);  // admin.cpp
void notify(Scontrol& control, const Words& words);
void abort(Scontrol& control, const Words& words);
void take_over(Scontrol& control, const Words& words);
// One request; a failure is told, under the name of the call, and kept in the exit code.
Result<wire::Reply> call_controller(Scontrol& control, std::string_view name,
                                    wire::Request& request);
// "Slurmctld(primary) at vm is UP"; false when it is not.
bool print_ping(Scontrol& control);

// reservation.cpp
bool speaks_of_reservation(const Words& words);
void change_reservation(Scontrol& control, const Words& words,
                        model::ReservationUpdate::Action action);
void show_reservations(Scontrol& control, const std::string& name);
void show_licenses(Scontrol& control, const std::string& name);

std::string_view scontrol_commands();  // For --help; help.cpp

}  // namespace switchyard::cli
