// job_fields.hpp: every field of a job, described once. Encoding and decoding, the short forms of
// long lists, the limits of texts and `scontrol update` walk these tables (X-macros: each user
// defines what a row becomes). What is missing here does not compile: the codec names all members
// of each struct by its table.
//
// A row of a struct is F(member, Wire, cut, text):
//   member  of the struct, and of the message of the same name in wire/proto/model.proto
//   Wire    the member's name in the constants that protobuf makes: k<Wire>FieldNumber
//   cut     the shortest form that still has it: State (who the job is and how it stands), Line
//           (what squeue shows unless told otherwise), Whole (the record itself)
//   text    how long a text or a name in a list may be and what it is called in an error;
//           `no_text` for everything else
// H(member) is one that each walker does by hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/limits.hpp"

namespace switchyard::model {

struct TextRule {
    enum class Kind : std::uint8_t { None, Text, Line, ByHand };
    Kind kind = Kind::None;
    std::string_view what;
    std::size_t bytes_max = 0;
};

namespace rules {
inline constexpr TextRule no_text{};
// Checked by a function of its own.
inline constexpr TextRule by_hand{TextRule::Kind::ByHand, {}, 0};
// Anything but NUL, which would end it early wherever it becomes a C string.
constexpr TextRule text(std::string_view what, std::size_t bytes_max) {
    return {TextRule::Kind::Text, what, bytes_max};
}
constexpr TextRule path(std::string_view what) { return text(what, limits::kPathBytesMax); }
constexpr TextRule comment(std::string_view what) { return text(what, limits::kCommentBytesMax); }
// One line without control characters.
constexpr TextRule line(std::string_view what, std::size_t bytes_max) {
    return {TextRule::Kind::Line, what, bytes_max};
}
constexpr TextRule word(std::string_view what) { return line(what, limits::kWordBytesMax); }
constexpr TextRule expression(std::string_view what) {
    return line(what, limits::kConstraintBytesMax);
}
}  // namespace rules

// clang-format off

#define SY_JOB_SPEC_FIELDS(F)                                                                      \
    F(kind,                Kind,              Whole, no_text)                                      \
    F(name,                Name,              State, text("job name", limits::kJobNameBytesMax))   \
    F(uid,                 Uid,               State, no_text)                                      \
    F(gid,                 Gid,               Whole, no_text)                                      \
    F(user,                User,              State, word("user name"))                            \
    F(group,               Group,             Whole, word("group name"))                           \
    F(partitions,          Partitions,        State, word("partition name"))                       \
    F(account,             Account,           Whole, word("account"))                              \
    F(qos,                 Qos,               Whole, word("QOS"))                                  \
    F(wckey,               Wckey,             Whole, word("wckey"))                                \
    F(reservation,         Reservation,       Whole, word("reservation"))                          \
    F(comment,             Comment,           Whole, comment("comment"))                           \
    F(licenses,            Licenses,          Whole, expression("licenses"))                       \
    F(network,             Network,           Whole, word("network"))                              \
    F(mcs_label,           McsLabel,          Whole, word("MCS label"))                            \
    F(extra,               Extra,             Whole, comment("extra"))                             \
    F(nodes_min,           NodesMin,          Line,  no_text)                                      \
    F(nodes_max,           NodesMax,          Whole, no_text)                                      \
    F(tasks,               Tasks,             Line,  no_text)                                      \
    F(cpus_per_task,       CpusPerTask,       Whole, no_text)                                      \
    F(tasks_per_node,      TasksPerNode,      Line,  no_text)                                      \
    F(tasks_per_socket,    TasksPerSocket,    Whole, no_text)                                      \
    F(tasks_per_core,      TasksPerCore,      Whole, no_text)                                      \
    F(tasks_per_gpu,       TasksPerGpu,       Whole, no_text)                                      \
    F(sockets_per_node,    SocketsPerNode,    Whole, no_text)                                      \
    F(cores_per_socket,    CoresPerSocket,    Whole, no_text)                                      \
    F(threads_per_core,    ThreadsPerCore,    Whole, no_text)                                      \
    F(cpus_per_node_min,   CpusPerNodeMin,    Whole, no_text)                                      \
    F(core_spec,           CoreSpec,          Whole, no_text)                                      \
    F(memory,              Memory,            Whole, no_text)                                      \
    F(tmp_disk,            TmpDisk,           Whole, no_text)                                      \
    F(overcommit,          Overcommit,        Whole, no_text)                                      \
    F(contiguous,          Contiguous,        Whole, no_text)                                      \
    F(spread,              Spread,            Whole, no_text)                                      \
    F(use_min_nodes,       UseMinNodes,       Whole, no_text)                                      \
    F(exclusive,           Exclusive,         Whole, no_text)                                      \
    F(oversubscribe,       Oversubscribe,     Whole, no_text)                                      \
    F(distribution,        Distribution,      Whole, by_hand)                                      \
    F(gres_per_node,       GresPerNode,       Line,  word("gres"))                                 \
    F(gpus_per_job,        GpusPerJob,        Line,  word("gpus"))                                 \
    F(gpus_per_socket,     GpusPerSocket,     Whole, word("gpus per socket"))                      \
    F(gpus_per_task,       GpusPerTask,       Whole, word("gpus per task"))                        \
    F(cpus_per_gpu,        CpusPerGpu,        Whole, no_text)                                      \
    F(gpu_bind,            GpuBind,           Whole, word("gpu bind"))                             \
    F(gpu_freq,            GpuFreq,           Whole, word("gpu freq"))                             \
    F(constraint,          Constraint,        Whole, expression("constraint"))                     \
    F(prefer,              Prefer,            Whole, expression("prefer"))                         \
    F(required_nodes,      RequiredNodes,     Line,  word("node name"))                            \
    F(excluded_nodes,      ExcludedNodes,     Whole, word("excluded node name"))                   \
    F(time_limit,          TimeLimit,         Line,  no_text)                                      \
    F(time_min,            TimeMin,           Whole, no_text)                                      \
    F(begin,               Begin,             Line,  no_text)                                      \
    F(deadline,            Deadline,          Whole, no_text)                                      \
    F(hold,                Hold,              Whole, no_text)                                      \
    F(nice,                Nice,              Whole, no_text)                                      \
    F(priority,            Priority,          Whole, no_text)                                      \
    F(dependency,          Dependency,        Whole, no_text)                                      \
    F(kill_on_invalid_dependency, KillOnInvalidDependency, Whole, no_text)                         \
    F(array,               Array,             Whole, no_text)                                      \
    F(immediate,           Immediate,         Whole, no_text)                                      \
    F(detached,            Detached,          Whole, no_text)                                      \
    F(requeue,             Requeue,           Whole, no_text)                                      \
    F(no_kill,             NoKill,            Whole, no_text)                                      \
    F(warn_signal,         WarnSignal,        Whole, no_text)                                      \
    F(mail_types,          MailTypes,         Whole, no_text)                                      \
    F(mail_user,           MailUser,          Whole, by_hand)                                      \
    F(open_mode,           OpenMode,          Whole, no_text)                                      \
    F(std_in,              StdIn,             Whole, path("input file"))                           \
    F(std_out,             StdOut,            Whole, path("output file"))                          \
    F(std_err,             StdErr,            Whole, path("error file"))                           \
    F(work_dir,            WorkDir,           Whole, path("working directory"))                    \
    F(command,             Command,           Whole, path("command"))                              \
    F(submit_line,         SubmitLine,        Whole, text("submit line", limits::kSubmitLineBytesMax)) \
    F(submit_host,         SubmitHost,        Whole, word("submit host"))                          \
    F(alloc_sid,           AllocSid,          Whole, no_text)                                      \
    F(cron,                Cron,              Whole, word("crontab time"))

// The fields of a job's own are never given by a user, so their texts have no rule.

#define SY_JOB_FIELDS(F, H)                                                                        \
    F(id,                  Id,                State, no_text)                                      \
    F(het,                 Het,               State, no_text)                                      \
    F(array,               Array,             State, no_text)                                      \
    H(spec)                                                                                        \
    F(attempt,             Attempt,           State, no_text)                                      \
    F(restarts,            Restarts,          State, no_text)                                      \
    F(priority,            Priority,          State, no_text)                                      \
    F(partition,           Partition,         State, no_text)                                      \
    F(submitted,           Submitted,         State, no_text)                                      \
    F(eligible,            Eligible,          Whole, no_text)                                      \
    F(last_evaluated,      LastEvaluated,     Whole, no_text)                                      \
    F(scheduler,           Scheduler,         Whole, no_text)                                      \
    F(next_step,           NextStep,          Whole, no_text)                                      \
    F(nonce,               Nonce,             Whole, no_text)                                      \
    F(admin_comment,       AdminComment,      Whole, no_text)                                      \
    F(system_comment,      SystemComment,     Whole, no_text)                                      \
    H(phase)

// The phases of a job, each a message of the same name: P(Type, Wire).
#define SY_JOB_PHASES(P)                                                                           \
    P(Pending,    pending)                                                                         \
    P(Running,    running)                                                                         \
    P(Suspended,  suspended)                                                                       \
    P(Completing, completing)                                                                      \
    P(Ended,      ended)

#define SY_PENDING_FIELDS(F)                                                                       \
    F(reason,              Reason,            State, no_text)                                      \
    F(detail,              Detail,            Line,  no_text)                                      \
    F(hold,                Hold,              State, no_text)                                      \
    F(eligible_at,         EligibleAt,        State, no_text)                                      \
    F(planned_start,       PlannedStart,      Line,  no_text)                                      \
    F(planned_nodes,       PlannedNodes,      Whole, no_text)                                      \
    F(special_exit,        SpecialExit,       State, no_text)

#define SY_RUNNING_FIELDS(F)                                                                       \
    F(allocation,          Allocation,        Line,  no_text)                                      \
    F(started,             Started,           State, no_text)                                      \
    F(ends_by,             EndsBy,            State, no_text)                                      \
    F(suspended_for,       SuspendedFor,      State, no_text)                                      \
    F(gpus_idle_since,     GpusIdleSince,     State, no_text)                                      \
    F(reservation,         Reservation,       Whole, no_text)                                      \
    F(licenses,            Licenses,          Whole, no_text)                                      \
    F(preemptable_at,      PreemptableAt,     State, no_text)                                      \
    F(preempted,           Preempted,         State, no_text)                                      \
    F(configuring,         Configuring,       State, no_text)                                      \
    F(begun,               Begun,             Whole, no_text)

#define SY_PREEMPTION_FIELDS(F)                                                                    \
    F(at,                  At,                State, no_text)                                      \
    F(by,                  By,                State, no_text)                                      \
    F(grace_ends,          GraceEnds,         State, no_text)                                      \
    F(lends_cores,         LendsCores,        State, no_text)

#define SY_SUSPENDED_FIELDS(F)                                                                     \
    F(run,                 Run,               State, no_text)                                      \
    F(since,               Since,             State, no_text)

#define SY_COMPLETING_FIELDS(F)                                                                    \
    F(run,                 Run,               State, no_text)                                      \
    F(ended,               Ended,             State, no_text)                                      \
    F(outcome,             Outcome,           State, no_text)                                      \
    F(dirty_nodes,         DirtyNodes,        Line,  no_text)                                      \
    F(next,                Next,              State, no_text)                                      \
    F(epilog,              Epilog,            Whole, no_text)

#define SY_ENDED_FIELDS(F)                                                                         \
    F(run,                 Run,               State, no_text)                                      \
    F(ended,               Ended,             State, no_text)                                      \
    F(outcome,             Outcome,           State, no_text)

#define SY_OUTCOME_FIELDS(F)                                                                       \
    F(state,               State,             State, no_text)                                      \
    F(reason,              Reason,            State, no_text)                                      \
    F(exit,                Exit,              State, no_text)                                      \
    F(derived_exit,        DerivedExit,       State, no_text)                                      \
    F(cancelled_by,        CancelledBy,       State, no_text)

// What a list shows of the nodes of a job is their names.
#define SY_ALLOCATION_FIELDS(F)                                                                    \
    F(nodes,               Nodes,             Line,  no_text)
#define SY_NODE_GRANT_FIELDS(F)                                                                    \
    F(node,                Node,              Line,  no_text)                                      \
    F(cores,               Cores,             Whole, no_text)                                      \
    F(cpus,                Cpus,              Whole, no_text)                                      \
    F(tasks,               Tasks,             Whole, no_text)                                      \
    F(memory,              Memory,            Whole, no_text)                                      \
    F(gres,                Gres,              Whole, no_text)

// What `scontrol update` changes of a job: U(type, member, key, when, text).
//   type, member  of model::JobUpdate, optional there, and of the message of the same name
//   key           the word that scontrol reads it by, as any value of its type; empty if there is
//                 none, or if that needs a rule of its own (cli/update_job_keys.cpp)
//   when          Always: it takes the place of the spec's member of that name. Shape: the same,
//                 but only while the job waits. ByHand, ShapeByHand: the core has its own way.
//   text          as above
#define SY_JOB_UPDATE_FIELDS(U) \
    U(std::string,              name,             "",                 Always,      text("job name", limits::kJobNameBytesMax)) \
    U(std::string,              account,          "Account",          Shape,       word("account")) \
    U(std::string,              qos,              "QOS",              Always,      word("QOS"))    \
    U(std::string,              wckey,            "WCKey",            Always,      word("wckey"))  \
    U(std::string,              comment,          "Comment",          Always,      comment("comment")) \
    U(std::string,              admin_comment,    "AdminComment",     ByHand,      comment("admin comment")) \
    U(std::string,              constraint,       "Features",         Shape,       expression("constraint")) \
    U(std::string,              reservation,      "ReservationName",  Shape,       word("reservation")) \
    U(std::string,              licenses,         "Licenses",         Shape,       expression("licenses")) \
    U(std::string,              std_in,           "StdIn",            Shape,       path("input file")) \
    U(std::string,              std_out,          "StdOut",           Shape,       path("output file")) \
    U(std::string,              std_err,          "StdErr",           Shape,       path("error file")) \
    U(std::string,              work_dir,         "WorkDir",          Shape,       path("working directory")) \
    U(std::string,              mail_user,        "MailUser",         Always,      by_hand)        \
    U(std::string,              extra,            "Extra",            Always,      comment("extra")) \
    U(std::string,              prefer,           "Prefer",           ShapeByHand, expression("prefer")) \
    U(std::string,              mcs_label,        "MCSLabel",         Always,      word("MCS label")) \
    U(std::vector<std::string>, partitions,       "",                 Shape,       word("partition name")) \
    U(std::vector<std::string>, required_nodes,   "NodeList",         Shape,       word("node name")) \
    U(std::vector<std::string>, excluded_nodes,   "ExcNodeList",      Shape,       word("excluded node name")) \
    U(TimeLimitChange,          time_limit,       "",                 ByHand,      no_text)        \
    U(TimeLimit,                time_min,         "",                 ByHand,      no_text)        \
    U(Instant,                  begin,            "StartTime",        ShapeByHand, no_text)        \
    U(Instant,                  deadline,         "Deadline",         Always,      no_text)        \
    U(Instant,                  end,              "",                 ByHand,      no_text)        \
    U(std::uint32_t,            priority,         "Priority",         ByHand,      no_text)        \
    U(std::int32_t,             nice,             "",                 ByHand,      no_text)        \
    U(std::uint32_t,            nodes_min,        "",                 Shape,       no_text)        \
    U(std::uint32_t,            nodes_max,        "",                 Shape,       no_text)        \
    U(std::uint32_t,            tasks,            "NumTasks",         Shape,       no_text)        \
    U(std::uint32_t,            cpus_per_task,    "CPUsPerTask",      Shape,       no_text)        \
    U(std::uint32_t,            cpus_min,         "MinCPUsNode",      ShapeByHand, no_text)        \
    U(std::uint32_t,            tasks_per_node,   "TasksPerNode",     Shape,       no_text)        \
    U(std::uint32_t,            sockets_per_node, "ReqSockets",       Shape,       no_text)        \
    U(std::uint32_t,            cores_per_socket, "ReqCores",         Shape,       no_text)        \
    U(std::uint32_t,            threads_per_core, "ReqThreads",       Shape,       no_text)        \
    U(std::uint32_t,            cpus,             "",                 ShapeByHand, no_text)        \
    U(std::uint32_t,            cpus_max,         "",                 ByHand,      no_text)        \
    U(std::int32_t,             core_spec,        "",                 ShapeByHand, no_text)        \
    U(MiB,                      tmp_disk,         "",                 Shape,       no_text)        \
    U(MemoryRequest,            memory,           "",                 Shape,       no_text)        \
    U(std::vector<GresRequest>, gres_per_node,    "",                 Shape,       no_text)        \
    U(Dependency,               dependency,       "",                 ShapeByHand, no_text)        \
    U(bool,                     requeue,          "Requeue",          Always,      no_text)        \
    U(bool,                     oversubscribe,    "OverSubscribe",    Shape,       no_text)        \
    U(bool,                     contiguous,       "Contiguous",       Shape,       no_text)        \
    U(std::uint32_t,            array_throttle,   "ArrayTaskThrottle",ByHand,      no_text)        \
    U(MailTypes,                mail_types,       "",                 Always,      no_text)

// The names of a struct's members, for a structured binding: it must name all of them, no more.
#define SY_FIELD_NAME(member, ...) , member
#define SY_WITHOUT_FIRST_(first, ...) __VA_ARGS__
#define SY_WITHOUT_FIRST(...) SY_WITHOUT_FIRST_(__VA_ARGS__)
#define SY_FIELD_NAMES(FIELDS) SY_WITHOUT_FIRST(FIELDS(SY_FIELD_NAME))
#define SY_UPDATE_NAME(type, member, ...) , member
#define SY_UPDATE_NAMES(FIELDS) SY_WITHOUT_FIRST(FIELDS(SY_UPDATE_NAME))

// A table with members by hand, as one of its kind only.
#define SY_JOB_MEMBERS(F) SY_JOB_FIELDS(F, F)

// clang-format on

}  // namespace switchyard::model
