// man.cpp: the manual pages. The program knows its own options, so the pages are printed
// by it: a paragraph of our own for each command, and its --help as the list of options. They
// cannot go stale.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "cli/switchyard/verbs.hpp"
#include "config/key_names.hpp"
#include "io/fd.hpp"
#include "os/files.hpp"
#include "os/spawn.hpp"

namespace switchyard::cli {
namespace {

struct Page {
    std::string_view name;
    int section;
    std::string_view one_line;
    std::string_view text;  // Paragraphs, separated by empty lines.
    std::string_view see;
};

constexpr Page kPages[] = {
    {"switchyard", 1, "start, stop and look at a cluster on this machine",
     "One program is every command and daemon of the workload manager; its name decides what it "
     "does. Under its own "
     "name it makes clusters: \"switchyard up\" needs no configuration, \"switchyard up --nodes "
     "4\" makes four "
     "pretend nodes on one machine.\n\n"
     "Commands find a cluster by SLURM_CONF; else by /etc/switchyard/slurm.conf, "
     "/etc/slurm/slurm.conf, "
     "~/.switchyard/slurm.conf and /var/lib/switchyard/slurm.conf, in this order.",
     "sbatch(1), squeue(1), slurm.conf(5)"},
    {"sbatch", 1, "submit a batch script",
     "Hands a script to the cluster and returns its job id. The script is kept as it is at this "
     "moment; later edits "
     "change nothing. Options are given on the command line, in lines beginning with #SBATCH "
     "before the first "
     "command of the script, or by variables of the environment (SBATCH_PARTITION and so on), in "
     "this order of "
     "precedence: command line, environment, script.\n\n"
     "When the command has printed the id, the job is on disk. The script runs once, on the first "
     "node of the job; "
     "srun inside it runs on all of them.",
     "srun(1), salloc(1), squeue(1), scancel(1)"},
    {"srun", 1, "run tasks in parallel",
     "Inside a job it starts a step on the job's nodes; elsewhere it first waits for an allocation "
     "of its own. Input "
     "and output of the tasks pass through srun, its exit code is the highest of the tasks'. One "
     "interrupt shows "
     "the state of the tasks, a second within a second ends them.",
     "sbatch(1), salloc(1)"},
    {"salloc", 1, "get an allocation and run a command in it",
     "Waits for an allocation, runs a command (or a shell) on this host with the environment of "
     "the job, and gives "
     "the allocation back when the command ends.",
     "srun(1), sbatch(1)"},
    {"squeue", 1, "show jobs and why they wait",
     "Lists pending and running jobs; filters are applied by the controller.",
     "sinfo(1), scontrol(1)"},
    {"sinfo", 1, "show partitions and nodes",
     "Lists partitions with their nodes, grouped by what is the same.", "squeue(1), scontrol(1)"},
    {"scancel", 1, "end or signal jobs and steps",
     "Ends jobs: SIGCONT and SIGTERM first, SIGKILL after KillWait seconds. With -s another signal "
     "is sent and the "
     "job goes on.",
     "squeue(1)"},
    {"scontrol", 1, "show and change the state of the cluster",
     "Shows jobs, steps, nodes, partitions and the configuration, and changes what may be changed "
     "by whom: users "
     "their own jobs, root and SlurmUser everything.",
     "squeue(1), sinfo(1), slurm.conf(5)"},
    {"sacct", 1, "show what became of jobs and what they used",
     "Lists jobs and their steps, those that are over too, as long as the controller keeps them "
     "(PurgeJobAfter). Without -S, -E, -s or -j: what was on since midnight. Figures of use are "
     "those of steps: they are taken while the tasks run, every JobAcctGatherFrequency seconds "
     "and sooner at first, and when they end.\n\n"
     "With -s the time is now unless -S or -E say otherwise; with -j it is all time.",
     "sstat(1), seff(1), squeue(1)"},
    {"sstat", 1, "show what running steps use",
     "Asks the nodes of the jobs, which look at that moment.", "sacct(1), seff(1)"},
    {"seff", 1, "show how well a job used what it had",
     "The processor time of the job's steps against what it held, and the most memory they had.",
     "sacct(1), sstat(1)"},
    {"sdiag", 1, "show how busy the controller is",
     "Counts since the controller started or since sdiag -r: jobs, scheduling passes, requests.",
     "scontrol(1)"},
    {"sacctmgr", 1, "show accounts, users and associations",
     "There are none on such a cluster: the lists are empty but for the cluster itself and what "
     "can be counted (tres), and what would change them is refused. A job's comments can be set.",
     "sacct(1)"},
    {"sprio", 1, "show the priorities of waiting jobs",
     "They have no factors: partition tier, priority and submission order jobs.", "squeue(1)"},
    {"sshare", 1, "show shares of accounts", "There are none: the list is empty.", "sacctmgr(1)"},
    {"sattach", 1, "attach to a step that runs",
     "Prints what the tasks of a step write from now on, and sends them what is typed. The step "
     "stays its srun's: leaving changes nothing. With --layout it only tells where the tasks are.",
     "srun(1)"},
    {"sbcast", 1, "copy a file to every node of a job",
     "Copies SOURCE to DEST on each node of the job around it (or of --jobid), as the job's user. "
     "A file that exists is replaced only with --force; --send-libs sends the libraries of a "
     "program too, into DEST_libs.",
     "srun(1), sbatch(1)"},
    {"scrontab", 1, "jobs that come again",
     "Shows (-l), edits (-e), replaces (FILE) or removes (-r) a user's crontab. Each line is a "
     "time as in crontab(5) and a command; lines that begin with #SCRON are options of sbatch for "
     "the next one. A line is one job: when its run is over it waits for its next time under the "
     "same number. A cancelled one does not come again.",
     "sbatch(1), squeue(1)"},
    {"strigger", 1, "run a program when something happens",
     "Sets (--set), shows (--get) and removes (--clear) triggers: a program, an event of nodes or "
     "of a job, and how long after it (--offset) the program is run, by the controller's host and "
     "as the user who set it. Its last argument is the list of nodes, or the id of the job. A "
     "trigger goes when it has been run, unless it was set with --flags=perm. Only its owner and "
     "root remove it.",
     "scontrol(1)"},
    {"swait", 1, "wait for the steps of a job",
     "Waits until no step of the job runs or is queued: in a script, for those that were left "
     "there by srun --async. With JOB.STEP it waits for that step and prints how it ended; with "
     "--follow it "
     "prints each end.",
     "srun(1), sacct(1)"},
    {"slurmctld", 8, "the controller",
     "Holds the queue and the state of the nodes, decides what runs where, and keeps every record "
     "in a database in "
     "StateSaveLocation. It may be killed and started again at any moment: nothing that was "
     "acknowledged is lost, "
     "and running jobs go on.",
     "slurmd(8), slurm.conf(5)"},
    {"slurmd", 8, "the agent of a node",
     "Connects to the controller, starts and ends the steps of jobs on its node, and passes on the "
     "commands typed "
     "there. Jobs live through its restart.",
     "slurmctld(8), slurm.conf(5)"},
};

// Text inside a roff line: no line starts with a control character, backslashes and hyphens are
// themselves.
std::string roff(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\') {
            out += "\\e";
        } else if (c == '-') {
            out += "\\-";
        } else {
            out += c;
        }
    }
    if (out.starts_with('.') || out.starts_with('\'')) out.insert(0, "\\&");
    return out;
}

std::string title(std::string_view name, int section) {
    std::string upper(name);
    for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return fmt::format(".TH {} {} \"\" \"Switchyard {}\" \"Switchyard\"\n", upper, section,
                       SY_VERSION);
}

std::string verbatim(std::string_view text) {
    std::string out = ".nf\n";
    for (const std::string_view line : split(text, '\n')) out += roff(line) + "\n";
    return out + ".fi\n";
}

std::string paragraphs(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t end = text.find("\n\n");
        out += ".PP\n" + roff(text.substr(0, end)) + "\n";
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 2);
    }
    return out;
}

// What `name --help` prints; the daemons know only -h, as Slurm's do.
Result<std::string> help_of(std::string_view name, bool is_daemon) {
    if (name == "switchyard") {
        return usage("") + "\n" + usage("up") + "\n" + usage("down") + "\n" + usage("status");
    }
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return os::errno_failure("pipe");
    const io::Fd reading(ends[0]);
    io::Fd writing(ends[1]);
    const io::Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    os::SpawnRequest request;
    request.path = os::own_executable();
    request.argv = {std::string(name), is_daemon ? "-h" : "--help"};
    request.environment = {"PATH=/usr/bin:/bin"};
    request.descriptors = {{nothing.get(), 0}, {writing.get(), 1}, {nothing.get(), 2}};
    request.new_session = false;
    SY_TRY(const pid_t pid, os::spawn(request));
    writing.reset();
    std::string text;
    char buffer[4096];
    for (ssize_t n = 0; (n = ::read(reading.get(), buffer, sizeof buffer)) != 0;) {
        if (n < 0 && errno != EINTR) break;
        if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
    }
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0 || text.empty())
        return fail(Errc::Internal, fmt::format("{} --help failed", name));
    return text;
}

Result<std::string> page_text(const Page& page) {
    SY_TRY(const std::string help, help_of(page.name, page.section == 8));
    return title(page.name, page.section) + ".SH NAME\n" +
           fmt::format("{} \\- {}\n", page.name, roff(page.one_line)) +
           ".SH SYNOPSIS AND OPTIONS\n" + verbatim(help) + ".SH DESCRIPTION\n" +
           paragraphs(page.text) + ".SH SEE ALSO\n" + roff(page.see) + "\n";
}

std::string config_page() {
    std::string used, unused;
    for (const config::KeyName& key : config::known_keys())
        (key.used ? used : unused) += std::string(key.name) + "\n";
    return title("slurm.conf", 5) +
           ".SH NAME\nslurm.conf \\- configuration of a cluster\n"
           ".SH DESCRIPTION\n"
           ".PP\nLines of Key=Value pairs, in the language of Slurm. Comments begin with #, a "
           "backslash at the end "
           "continues a line, Include reads another file. gres.conf and cgroup.conf beside it are "
           "read too.\n"
           ".PP\nA key without effect is named once in the daemons' logs with its file and line.\n"
           ".SH KEYS IN USE\n" +
           verbatim(used) + ".SH KEYS OF SLURM WITHOUT EFFECT\n" + verbatim(unused) +
           ".SH SEE ALSO\nswitchyard(1), slurmctld(8), slurmd(8)\n";
}

Status write_page(const std::string& folder, std::string_view name, int section,
                  const std::string& text) {
    const std::string place = fmt::format("{}/man{}", folder, section);
    SY_CHECK(os::make_folders(place, 0755));
    return os::write_new_file(fmt::format("{}/{}.{}", place, name, section), text, 0644);
}

Status write_all(const std::string& folder) {
    for (const Page& page : kPages) {
        SY_TRY(const std::string text, page_text(page));
        SY_CHECK(write_page(folder, page.name, page.section, text));
    }
    return write_page(folder, "slurm.conf", 5, config_page());
}

Result<std::string> find_page(const std::string& name) {
    if (name == "slurm.conf") return config_page();
    for (const Page& page : kPages) {
        if (page.name == name) return page_text(page);
    }
    return fail(Errc::NotFound, fmt::format("there is no manual page for \"{}\"", name));
}

}  // namespace

int switchyard_man(const Arguments& arguments) {
    if (arguments.size() == 2 && arguments[0] == "--all") {
        const Status status = write_all(arguments[1]);
        return status ? 0 : complain(status.error().message);
    }
    if (arguments.size() != 1 || arguments[0].starts_with("-")) {
        return complain("use: switchyard man COMMAND, or switchyard man --all FOLDER");
    }
    const auto text = find_page(arguments[0]);
    if (!text) return complain(text.error().message);
    std::fputs(text->c_str(), stdout);
    return 0;
}

}  // namespace switchyard::cli
