// update_job_keys.cpp: what `scontrol update` can change of a job.
#include <fmt/format.h>

#include "base/limits.hpp"
#include "cli/job_ids.hpp"
#include "cli/scontrol/update_key.hpp"

namespace switchyard::cli {
namespace {

using model::JobUpdate;

template <std::optional<Instant> JobUpdate::* Member>
Status set_moment(JobUpdate& update, const KeyWord& word, Instant now) {
    const auto moment = model::parse_instant(text_of(word), now);
    if (!moment) {
        return fail(Errc::InvalidArgument, fmt::format("Invalid time specification (pos=0): {}\n{}",
                                                       text_of(word), kNoChanges));
    }
    update.*Member = *moment;
    return {};
}

Status set_time_limit(JobUpdate& update, const KeyWord& word, Instant) {
    std::string text = text_of(word);
    char sign = word.sign;
    if (sign == 0 && text.size() > 1 && (text[0] == '+' || (text[0] == '-' && text != "-1"))) {
        sign = text[0];
        text.erase(0, 1);
    }
    const auto limit = model::parse_time_limit(text);
    if (!limit) return bad_duration(word);
    model::TimeLimitChange change;
    change.limit = *limit;
    if (sign == '+') change.mode = model::TimeLimitChange::Mode::Add;
    if (sign == '-') change.mode = model::TimeLimitChange::Mode::Subtract;
    update.time_limit = change;
    return {};
}

Status set_node_count(JobUpdate& update, const KeyWord& word, Instant) {
    const std::string text = text_of(word);
    const std::size_t dash = text.find('-');
    const auto least = parse_uint(text.substr(0, dash));
    const auto most =
        dash == std::string::npos ? least : parse_uint(std::string_view(text).substr(dash + 1));
    if (!least || !most || *most > limits::kNodesMax) {
        return fail(Errc::InvalidArgument,
                    fmt::format("scontrol: error: \"{}\" is not a valid node count", text));
    }
    if (*least > *most) {
        return fail(Errc::InvalidArgument,
                    fmt::format("scontrol: error: Maximum node count {} is less than minimum node "
                                "count {}",
                                *most, *least));
    }
    update.nodes_min = static_cast<std::uint32_t>(*least);
    update.nodes_max = static_cast<std::uint32_t>(*most);
    return {};
}

template <model::MemoryRequest::Per Per>
Status set_memory(JobUpdate& update, const KeyWord& word, Instant) {
    const auto amount = model::parse_memory(text_of(word));
    if (!amount) return bad_value(word);
    update.memory = model::MemoryRequest{Per, *amount};
    return {};
}

Status set_nice(JobUpdate& update, const KeyWord& word, Instant) {
    constexpr std::int32_t kNiceByDefault = 100;
    if (!word.value) {
        update.nice = kNiceByDefault;
        return {};
    }
    const auto nice = parse_int(*word.value);
    if (!nice || *nice < -2147483645 || *nice > 2147483645) return bad_value(word);
    update.nice = static_cast<std::int32_t>(*nice);
    return {};
}

Status set_gres(JobUpdate& update, const KeyWord& word, Instant) {
    const auto gres = model::parse_gres(text_of(word));
    if (!gres) return bad_value(word);
    update.gres_per_node = *gres;
    return {};
}

Status set_dependency(JobUpdate& update, const KeyWord& word, Instant) {
    if (text_of(word).empty()) {
        update.dependency = model::Dependency{};
        return {};
    }
    const auto dependency = model::parse_dependency(text_of(word));
    if (!dependency) return fail(Errc::DependencyProblem);
    update.dependency = *dependency;
    return {};
}

Status set_mail_type(JobUpdate& update, const KeyWord& word, Instant) {
    const auto types = model::parse_mail_types(text_of(word));
    if (!types) return fail(Errc::InvalidArgument, "Invalid MailType: " + text_of(word));
    update.mail_types = *types;
    return {};
}

Status set_partitions(JobUpdate& update, const KeyWord& word, Instant) {
    update.partitions = split_list(text_of(word));
    return {};
}

Status set_time_min(JobUpdate& update, const KeyWord& word, Instant) {
    const auto limit = model::parse_time_limit(text_of(word));
    if (!limit) return bad_duration(word);
    update.time_min = *limit;
    return {};
}

// A moment that means nothing changes nothing; Slurm says so and calls it well done.
Status set_end(JobUpdate& update, const KeyWord& word, Instant now) {
    const auto moment = model::parse_instant(text_of(word), now);
    if (!moment) {
        return fail(Errc::InvalidTime,
                    fmt::format("Invalid time specification (pos=0): {}", text_of(word)));
    }
    update.end = *moment;
    return {};
}

// "2", "2-4"
Status set_cpu_count(JobUpdate& update, const KeyWord& word, Instant) {
    const std::string text = text_of(word);
    const std::size_t dash = text.find('-');
    const auto least = parse_uint(text.substr(0, dash));
    const auto most =
        dash == std::string::npos ? least : parse_uint(std::string_view(text).substr(dash + 1));
    const std::string refusal = bad_value(word).error.message;
    if (!least || !most) {
        return fail(Errc::InvalidArgument,
                    fmt::format("scontrol: error: Invalid numeric value \"{}\" for {}.\n{}", text,
                                word.key, refusal));
    }
    if (*least == 0 || *least > *most || *most > std::numeric_limits<std::uint32_t>::max())
        return fail(Errc::InvalidArgument, refusal);
    update.cpus = static_cast<std::uint32_t>(*least);
    update.cpus_max = static_cast<std::uint32_t>(*most);
    return {};
}

Status set_core_spec(JobUpdate& update, const KeyWord& word, Instant) {
    const auto count = parse_int(text_of(word));
    if (!count || *count < -1 || *count > std::numeric_limits<std::uint16_t>::max())
        return bad_value(word);
    update.core_spec = static_cast<std::int32_t>(*count);
    return {};
}

Status set_tmp_disk(JobUpdate& update, const KeyWord& word, Instant) {
    SY_TRY(const std::uint32_t amount, number_of(word));
    update.tmp_disk = model::MiB{amount};
    return {};
}

Status refuse_buffers(JobUpdate&, const KeyWord&, Instant) { return fail(Errc::Unsupported); }

// How a value of each type is read; null: by a rule of its own.
template <auto Member>
consteval auto setter_of() -> Status (*)(JobUpdate&, const KeyWord&, Instant) {
    using Type = std::remove_cvref_t<decltype(std::declval<JobUpdate&>().*Member)>;
    if constexpr (std::is_same_v<Type, std::optional<std::string>>) {
        return set_text<JobUpdate, Member>;
    } else if constexpr (std::is_same_v<Type, std::optional<std::uint32_t>>) {
        return set_number<JobUpdate, Member>;
    } else if constexpr (std::is_same_v<Type, std::optional<bool>>) {
        return set_flag<JobUpdate, Member>;
    } else if constexpr (std::is_same_v<Type, std::optional<std::vector<std::string>>>) {
        return set_nodes<JobUpdate, Member>;
    } else if constexpr (std::is_same_v<Type, std::optional<Instant>>) {
        return set_moment<Member>;
    } else {
        return nullptr;
    }
}

// A row without a key is found by no name.
#define SY_KEY(type, member, key, ...) {key, setter_of<&JobUpdate::member>()},
#define SY_IS_READ(type, member, key, ...) \
    static_assert(std::string_view(key).empty() || setter_of<&JobUpdate::member>() != nullptr);
SY_JOB_UPDATE_FIELDS(SY_IS_READ)

const Key<JobUpdate> kJobKeys[] = {
    // As the table says (model/job_fields.hpp).
    SY_JOB_UPDATE_FIELDS(SY_KEY)
    // Other names for the same, what has rules of its own, and what cannot be had here.
    {"BurstBuffer", refuse_buffers},
    {"Clusters", refuse_key<JobUpdate>},
    {"ClusterFeatures", refuse_key<JobUpdate>},
    {"CoreSpec", set_core_spec},
    {"DelayBoot", refuse_key<JobUpdate>},
    {"Dependency", set_dependency},
    {"EligibleTime", set_moment<&JobUpdate::begin>},
    {"EndTime", set_end},
    {"Gres", set_gres},
    {"MailType", set_mail_type},
    {"MinMemoryCPU", set_memory<model::MemoryRequest::Per::Cpu>},
    {"MinMemoryNode", set_memory<model::MemoryRequest::Per::Node>},
    {"MinTmpDiskNode", set_tmp_disk},
    {"Nice", set_nice},
    {"NumCPUs", set_cpu_count},
    {"NumNodes", set_node_count},
    {"Partition", set_partitions},
    {"Reboot", refuse_key<JobUpdate>},
    {"ReqNodeList", set_nodes<JobUpdate, &JobUpdate::required_nodes>},
    {"ReqNodes", set_node_count},
    {"ReqProcs", set_number<JobUpdate, &JobUpdate::tasks>},
    {"ResetAccrueTime", refuse_key<JobUpdate>},
    {"Shared", set_flag<JobUpdate, &JobUpdate::oversubscribe>},
    {"SiteFactor", refuse_key<JobUpdate>},
    {"Switches", refuse_key<JobUpdate>},
    {"ThreadSpec", refuse_key<JobUpdate>},
    {"TimeLimit", set_time_limit},
    {"TimeMin", set_time_min},
    {"TresPerNode", set_gres},
    {"wait-for-switch", refuse_key<JobUpdate>},
};

bool is_key(const KeyWord& word, std::string_view name) {
    return equals_ignoring_case(word.key, name);
}

}  // namespace

Result<JobChange> parse_job_change(const std::vector<KeyWord>& words, Instant now) {
    JobChange change;
    for (const KeyWord& word : words) {
        if (is_key(word, "JobId") || is_key(word, "Job") || is_key(word, "Jobs")) {
            for (std::string& id : split_list(text_of(word))) change.ids.push_back(std::move(id));
        } else if (is_key(word, "JobName") || is_key(word, "Name")) {
            change.name = text_of(word);
        } else if (is_key(word, "UserId")) {
            change.user = text_of(word);
        } else {
            SY_CHECK(apply(std::span<const Key<JobUpdate>>(kJobKeys), change.update, word, now));
        }
    }
    const bool renames = !change.ids.empty() && change.name;
    if (change.update == JobUpdate{} && !renames) {
        return fail(Errc::InvalidArgument, std::string(kNoChanges));
    }
    // Beside a JobId the name is a new name.
    if (renames) {
        change.update.name = std::move(change.name);
        change.name.reset();
    }
    return change;
}

}  // namespace switchyard::cli
