// scrontab.cpp: a user's recurring jobs: shows, replaces, edits or removes their crontab.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/message.hpp"
#include "cli/option_table.hpp"
#include "cli/output.hpp"
#include "cli/scrontab/crontab.hpp"
#include "cli/session.hpp"
#include "cli/submission/batch_environment.hpp"
#include "cli/submission/origin.hpp"
#include "cli/submission/surroundings.hpp"
#include "io/fd.hpp"
#include "options/parse.hpp"
#include "os/files.hpp"
#include "os/spawn.hpp"
#include "os/users.hpp"
#include "wire/codec.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kProgram = "scrontab";
enum class Verb { List, Install, Remove, Edit };

constexpr std::string_view kEmptyCrontab =
    "# min hour day-of-month month day-of-week command\n"
    "# Options of sbatch for the next line begin with #SCRON.\n";

struct Wish {
    std::optional<Verb> verb;
    std::uint32_t uid = 0;
    std::string user, file;
    int verbose = 0;
};

template <Verb Chosen>
Taken choose(Wish& wish, const OptionUse&) {
    wish.verb = Chosen;
    return std::nullopt;
}

Taken take_user(Wish& wish, const OptionUse& use) {
    const auto user = os::find_user(std::string(use.value));
    if (!user) return refuse(kProgram, fmt::format("user {} is unknown", use.value));
    wish.uid = user->uid;
    wish.user = user->name;
    return std::nullopt;
}

const Option<Wish> kOptions[] = {
    {{.letter = 'e', .help = "edit the crontab"}, choose<Verb::Edit>},
    {{.letter = 'l', .help = "print the crontab"}, choose<Verb::List>},
    {{.letter = 'r', .help = "remove the crontab: its jobs run no more"}, choose<Verb::Remove>},
    {{.letter = 'u',
      .argument = Argument::Required,
      .value_name = "USER",
      .help = "the crontab of this user (operators)"},
     take_user},
    {{.letter = 'v', .help = "say what was installed"}, count<&Wish::verbose>},
};
constexpr CommandText kText{
    .program = kProgram,
    .operands = "[FILE|-]",
    .purpose =
        "A user's recurring jobs. A file is installed as the crontab; \"-\" is standard input.",
    .footer =
        "Lines are comments, options of sbatch for the next entry (#SCRON -t 5), or entries:\n"
        "minute hour day-of-month month day-of-week command\n",
    .help_letter = 0,
    .takes_words = true};

// The exit code where there is nothing to do.
std::optional<int> parse(int argc, char** argv, Wish& wish) {
    wish.uid = ::getuid();
    wish.user = os::user_name(wish.uid);
    ParsedLine line = parse_options(kText, kOptions, wish, argc, argv);
    if (line.exit_code) return line.exit_code;
    const bool has_file = !wish.verb && !line.words.empty();
    if (line.words.size() > (has_file ? 1u : 0u)) {
        say_try_help(kProgram);
        return 1;
    }
    if (has_file) wish.file = std::move(line.words[0]);
    if (!wish.verb) wish.verb = has_file ? Verb::Install : Verb::Edit;
    return std::nullopt;
}

Result<wire::Reply> ask(Session& session, wire::Request& request) {
    auto reply = session.connection.call(request);
    if (reply && !reply->has_crontab()) return fail(Errc::Internal, "unexpected answer");
    return reply;
}

Result<std::string> present_text(Session& session, const Wish& wish) {
    wire::Request request;
    request.mutable_crontab()->set_uid(wish.uid);
    SY_TRY(const wire::Reply reply, ask(session, request));
    return reply.crontab().text();
}

// One entry as a submission.
Status add_entry(const CronEntry& entry, const options::Surroundings& surroundings,
                 const config::Config& config, wire::SubmitRequest& submit) {
    options::JobRequest request;
    auto fault = apply_script(request, entry.options, surroundings);
    if (!fault) fault = finish(request, surroundings);
    if (fault) {
        return fail(Errc::InvalidArgument,
                    fault->text.empty() ? "an option that is not known" : fault->text);
    }
    model::JobSpec& job = request.job;
    fill_origin(job, {std::string(kProgram)});
    if (job.name.empty())
        job.name = base_name(entry.command.substr(0, entry.command.find_first_of(" \t")));
    job.cron = entry.time;
    model::JobPayload payload;
    payload.script = cron_script(entry);
    SY_TRY(payload.environment, batch_environment(request, surroundings));
    payload.limits = limits_to_hand_on(request, config);
    payload.umask = umask_to_hand_on();
    wire::encode(job, submit.mutable_spec());
    wire::encode(std::move(payload), submit.mutable_payload());
    for (const std::string& warning : request.warnings)
        say(kProgram, fmt::format("warning: line {}: {}", entry.line, warning));
    return {};
}

Status install(Session& session, const Wish& wish, const std::string& text) {
    SY_TRY(const std::vector<CronEntry> entries, parse_crontab(text));
    const options::Surroundings surroundings = look_around();
    wire::Request request;
    wire::CrontabRequest* crontab = request.mutable_crontab();
    crontab->set_uid(wish.uid);
    crontab->set_action(wire::CRONTAB_SET);
    crontab->set_text(text);
    for (const CronEntry& entry : entries) {
        const Status added = add_entry(entry, surroundings, session.config, *crontab->add_jobs());
        if (!added)
            return fail(Errc::InvalidArgument,
                        fmt::format("line {}: {}", entry.line, added.error().message));
    }
    const auto reply = ask(session, request);
    if (reply) {
        if (wish.verbose > 0) say(kProgram, fmt::format("{} entries installed", entries.size()));
        return {};
    }
    // The last note is the place of the entry that was refused.
    const std::vector<std::string>& notes = session.connection.last_notes();
    const auto place = notes.empty() ? std::nullopt : parse_uint(notes.back());
    if (!place || *place >= entries.size()) return Failure{reply.error()};
    for (std::size_t i = 0; i + 1 < notes.size(); ++i) say_error(kProgram, notes[i]);
    return fail(reply.error().code,
                fmt::format("line {}: {}", entries[*place].line, reply.error().message));
}

Result<std::string> read_input(const std::string& file) {
    if (file != "-") return os::read_file(file);
    std::string text;
    char chunk[4096];
    for (ssize_t got = 0; (got = ::read(STDIN_FILENO, chunk, sizeof chunk)) > 0;)
        text.append(chunk, static_cast<std::size_t>(got));
    return text;
}

// Until it is accepted, or left as it was.
Status edit(Session& session, const Wish& wish) {
    SY_TRY(const std::string before, present_text(session, wish));
    char path[] = "/tmp/scrontab-XXXXXX";
    const io::Fd file(::mkstemp(path));
    if (!file) return os::errno_failure(path);
    SY_CHECK(os::write_file(path, before.empty() ? kEmptyCrontab : before));
    const char* visual = std::getenv("VISUAL");
    const char* editor = visual != nullptr ? visual : std::getenv("EDITOR");
    os::SpawnRequest spawn;
    spawn.path = "/bin/sh";
    spawn.argv = {"sh", "-c", fmt::format("{} {}", editor == nullptr ? "vi" : editor, path)};
    spawn.environment = look_around().environment;
    spawn.new_session = false;
    const auto child = os::spawn(spawn);
    int status = 1;
    while (child && ::waitpid(*child, &status, 0) < 0 && errno == EINTR) {
    }
    const auto after = os::read_file(path);
    ::unlink(path);
    if (!child || status != 0) return fail(Errc::Io, "the editor failed; nothing is changed");
    SY_TRY(const std::string text, after);
    if (text == before || (before.empty() && text == kEmptyCrontab)) {
        say(kProgram, "no changes made to the crontab");
        return {};
    }
    return install(session, wish, text);
}

Status act(Session& session, const Wish& wish) {
    switch (*wish.verb) {
        case Verb::List: {
            SY_TRY(const std::string text, present_text(session, wish));
            if (text.empty())
                return fail(Errc::NotFound, fmt::format("no crontab for {}", wish.user));
            print(text);
            return {};
        }
        case Verb::Remove: {
            wire::Request request;
            request.mutable_crontab()->set_uid(wish.uid);
            request.mutable_crontab()->set_action(wire::CRONTAB_REMOVE);
            const auto reply = ask(session, request);
            return reply ? Status() : Status(Failure{reply.error()});
        }
        case Verb::Install: {
            SY_TRY(const std::string text, read_input(wish.file));
            return install(session, wish, text);
        }
        case Verb::Edit:
            return edit(session, wish);
    }
    return {};
}

}  // namespace

int scrontab_main(int argc, char** argv) {
    Wish wish;
    if (const auto code = parse(argc, argv, wish)) return *code;
    auto session = open_session(std::string(kProgram));
    if (!session) return refuse(kProgram, session.error().message);
    const Status done = act(*session, wish);
    return done ? 0 : refuse(kProgram, done.error().message);
}

}  // namespace switchyard::cli
