// check_texts.cpp: see check_texts.hpp.

#include "core/cluster/check_texts.hpp"

#include <algorithm>
#include <type_traits>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/visible.hpp"
#include "model/job_fields.hpp"
#include "model/mail.hpp"

namespace switchyard::core {
namespace {

using Texts = std::vector<std::string>;

// Adds up what was looked at, and remembers the first thing that is wrong.
class Reader {
  public:
    // Anything but NUL, which would end it early wherever it becomes a C string.
    Reader& text(std::string_view text, std::string_view what, std::size_t max) {
        bytes_ += text.size();
        if (problem_) return *this;
        if (text.size() > max) {
            problem_ = fmt::format("{} has {} bytes, the limit is {}", what, text.size(), max);
        } else if (text.contains('\0')) {
            problem_ = fmt::format("{} has a zero byte in it", what);
        }
        return *this;
    }
    // One line without control characters.
    Reader& line(std::string_view words, std::string_view what, std::size_t max) {
        text(words, what, max);
        if (!problem_ && has_control_characters(words))
            problem_ = fmt::format("{} has a control character in it", what);
        return *this;
    }
    Reader& word(std::string_view words, std::string_view what) {
        return line(words, what, limits::kWordBytesMax);
    }
    Reader& path(std::string_view words, std::string_view what) {
        return text(words, what, limits::kPathBytesMax);
    }
    Reader& names(const Texts& list, std::string_view what) {
        for (const std::string& name : list) word(name, what);
        if (!problem_ && list.size() > kNamesPerListMax)
            problem_ =
                fmt::format("{}: {} names, the limit is {}", what, list.size(), kNamesPerListMax);
        return *this;
    }
    Reader& gres(const std::vector<model::GresRequest>& list, std::string_view what) {
        for (const model::GresRequest& one : list) word(one.name, what).word(one.type, what);
        return *this;
    }
    // By the rule of a field (model/job_fields.hpp); what is no text has none.
    template <class Value>
    Reader& by(const model::TextRule& rule, const Value& value) {
        using Kind = model::TextRule::Kind;
        if constexpr (std::is_same_v<Value, std::string>) {
            if (rule.kind == Kind::Text) text(value, rule.what, rule.bytes_max);
            if (rule.kind == Kind::Line) line(value, rule.what, rule.bytes_max);
        } else if constexpr (std::is_same_v<Value, Texts>) {
            if (rule.kind != Kind::None) names(value, rule.what);
        } else if constexpr (std::is_same_v<Value, std::vector<model::GresRequest>>) {
            gres(value, rule.what);
        }
        return *this;
    }
    template <class Value>
    Reader& by(const model::TextRule& rule, const std::optional<Value>& value) {
        return value ? by(rule, *value) : *this;
    }
    Reader& also(const Status& other) {
        if (!problem_ && !other) problem_ = other.error().message;
        return *this;
    }
    // All together.
    Reader& whole(std::string_view what, std::size_t max) {
        if (!problem_ && bytes_ > max)
            problem_ = fmt::format("{} has {} bytes in all, the limit is {}", what, bytes_, max);
        return *this;
    }
    Status status() const {
        if (!problem_) return {};
        return fail(Errc::InvalidArgument, *problem_);
    }

  private:
    std::size_t bytes_ = 0;
    std::optional<std::string> problem_;
};

std::string_view shown(const std::optional<std::string>& text) {
    return text ? std::string_view(*text) : std::string_view();
}
const Texts& shown(const std::optional<Texts>& list) {
    static const Texts kNone;
    return list ? *list : kNone;
}

template <class T>
constexpr bool kIsText = false;
template <>
constexpr bool kIsText<std::string> = true;
template <>
constexpr bool kIsText<Texts> = true;
template <class T>
constexpr bool kIsText<std::optional<T>> = kIsText<T>;

Status check_absolute(std::string_view path) {
    if (path.empty() || path.starts_with('/')) return {};
    return fail(Errc::InvalidArgument, "the working directory is not an absolute path");
}

}  // namespace

Status check_mail_user(std::string_view text) {
    if (text.size() > limits::kWordBytesMax)
        return fail(Errc::InvalidArgument, fmt::format("mail user has {} bytes, the limit is {}",
                                                       text.size(), limits::kWordBytesMax));
    for (const std::string_view address : split(text, ',')) {
        if (!address.empty() && !model::is_mail_address(address))
            return fail(Errc::InvalidArgument,
                        "Invalid mail user: an address has no blanks or "
                        "control characters, and does not begin with '-'");
    }
    return {};
}

Status check_comment(std::string_view text, std::string_view what) {
    return Reader().text(text, what, limits::kCommentBytesMax).status();
}

void cut_submit_line(std::string& line) {
    if (line.size() > limits::kSubmitLineBytesMax) line.resize(limits::kSubmitLineBytesMax);
}

// A text without a rule does not compile.
#define SY_CHECK_RULE(Struct, member, ...)                       \
    {                                                            \
        constexpr model::TextRule rule = __VA_ARGS__;            \
        static_assert(!kIsText<decltype(Struct.member)> ||       \
                      rule.kind != model::TextRule::Kind::None); \
        reader.by(rule, Struct.member);                          \
    }
#define SY_CHECK_SPEC(member, Wire, cut, ...) SY_CHECK_RULE(spec, member, __VA_ARGS__)
#define SY_CHECK_UPDATE(type, member, key, when, ...) SY_CHECK_RULE(update, member, __VA_ARGS__)

Status check_texts(const model::JobSpec& spec) {
    using namespace model::rules;
    Reader reader;
    SY_JOB_SPEC_FIELDS(SY_CHECK_SPEC)
    reader.word(spec.distribution.sockets, "distribution")
        .also(check_mail_user(spec.mail_user))
        .also(check_absolute(spec.work_dir))
        .whole("job", limits::kSpecBytesMax);
    return reader.status();
}

Status check_texts(const model::StepSpec& spec) {
    return Reader()
        .text(spec.name, "step name", limits::kJobNameBytesMax)
        .gres(spec.gres_per_node, "gres")
        .gres(spec.gpus_per_step, "gpus")
        .gres(spec.gpus_per_task, "gpus per task")
        .word(spec.gpu_bind, "gpu bind")
        .names(spec.required_nodes, "node name")
        .names(spec.excluded_nodes, "excluded node name")
        .word(spec.distribution.sockets, "distribution")
        .text(spec.submit_line, "submit line", limits::kSubmitLineBytesMax)
        .word(spec.srun_host, "srun host")
        .whole("step", limits::kSpecBytesMax)
        .status();
}

Status check_texts(const model::JobUpdate& update) {
    using namespace model::rules;
    Reader reader;
    SY_JOB_UPDATE_FIELDS(SY_CHECK_UPDATE)
    reader.also(check_mail_user(shown(update.mail_user)))
        .also(check_absolute(shown(update.work_dir)))
        .whole("update", limits::kSpecBytesMax);
    return reader.status();
}

Status check_texts(const model::NodeUpdate& update) {
    return Reader()
        .names(update.nodes, "node name")
        .text(shown(update.reason), "reason", limits::kCommentBytesMax)
        .text(shown(update.comment), "comment", limits::kCommentBytesMax)
        .text(shown(update.extra), "extra", limits::kCommentBytesMax)
        .names(shown(update.features), "feature")
        .names(shown(update.active_features), "active feature")
        .names(shown(update.instance_ids), "instance id")
        .names(shown(update.instance_types), "instance type")
        .names(shown(update.addresses), "address")
        .names(shown(update.host_names), "host name")
        .status();
}

Status check_texts(const model::PartitionUpdate& update) {
    return Reader()
        .word(update.name, "partition name")
        .names(shown(update.nodes), "node name")
        .names(shown(update.allow_groups), "group")
        .names(shown(update.allow_accounts), "account")
        .names(shown(update.deny_accounts), "denied account")
        .names(shown(update.allow_qos), "QOS")
        .names(shown(update.deny_qos), "denied QOS")
        .names(shown(update.alloc_nodes), "allocating node")
        .word(shown(update.qos), "QOS")
        .word(shown(update.alternate), "alternate partition")
        .status();
}

Status check_texts(const model::ReservationUpdate& update) {
    Reader reader;
    reader.word(update.name, "reservation name")
        .names(shown(update.nodes), "node name")
        .names(update.nodes_added, "node name")
        .names(update.nodes_removed, "node name")
        .line(shown(update.features), "features", limits::kConstraintBytesMax)
        .word(shown(update.partition), "partition name")
        .line(shown(update.licenses), "licenses", limits::kConstraintBytesMax)
        .text(shown(update.comment), "comment", limits::kCommentBytesMax);
    for (const auto* list : {&update.users, &update.groups, &update.accounts, &update.qos,
                             &update.allowed_partitions}) {
        for (const model::NamedUsers& each : list->names) reader.word(each.name, "name");
    }
    return reader.status();
}

Status check_texts(const model::Trigger& trigger) {
    return Reader()
        .line(trigger.program, "program", limits::kPathBytesMax)
        .names(trigger.nodes, "node name")
        .status();
}

}  // namespace switchyard::core
