// Goal: every field of every value survives the wire, and what a peer may send wrong is refused.
// Method: values are filled through structured bindings that must name every field (a field added
// to the model does not compile here until it is listed; those of a job are listed by its tables),
// once with everything set to something
// else than its default and then at random; each goes through bytes and back and must be equal. The
// wire types stand beside the list, so a field the codec forgets makes the values differ.
#include "wire/codec.hpp"

#include <gtest/gtest.h>

#include <random>

#include "model/job_fields.hpp"
#include "wire/codec_parts.hpp"
#include "wire/fields.hpp"
#include "wire/job_line.hpp"

namespace switchyard::wire {
namespace {

class Filler {
  public:
    Filler(std::uint64_t seed, bool everything) : random_(seed), everything_(everything) {}

    void fill(bool& to) { to = everything_ || coin(); }
    void fill(std::uint16_t& to) { to = static_cast<std::uint16_t>(1 + random_() % 2047); }
    void fill(std::uint32_t& to) {
        to = everything_ || coin() ? static_cast<std::uint32_t>(random_() | 1) : 0;
    }
    void fill(std::uint64_t& to) { to = everything_ || coin() ? random_() | 1 : 0; }
    void fill(std::int32_t& to) { to = static_cast<std::int32_t>(random_() | 1); }
    void fill(double& to) { to = 0.25 + static_cast<double>(random_() % 1000); }
    void fill(std::string& to) {
        to.clear();
        if (!everything_ && coin()) return;
        for (std::uint64_t i = 0; i < 1 + random_() % 12; ++i) to += static_cast<char>(random_());
        to += 'x';
    }
    void fill(Instant& to) {
        to = Instant{Millis{1 + static_cast<std::int64_t>(random_() % 4'000'000'000'000)}};
    }
    void fill(Seconds& to) { to = Seconds{1 + static_cast<std::int64_t>(random_() % 100'000)}; }
    void fill(Minutes& to) { to = Minutes{1 + static_cast<std::int64_t>(random_() % 100'000)}; }
    void fill(model::IndexSet& to) {
        to = {};
        const std::uint64_t members = everything_ ? 5 : random_() % 6;
        for (std::uint64_t i = 0; i < members; ++i)
            to.insert(static_cast<std::uint32_t>(random_() % 50));
    }
    template <class T>
    void fill(std::vector<T>& to) {
        to.resize(everything_ ? 2 : random_() % 3);
        for (T& each : to) fill(each);
    }
    template <class T>
    void fill(std::map<std::string, T>& to) {
        to.clear();
        for (const char* key : {"n1", "n2"}) {
            if (everything_ || coin()) fill(to[key]);
        }
    }
    template <class T>
    void fill(std::optional<T>& to) {
        to.reset();
        if (everything_ || coin()) fill(to.emplace());
    }
    template <class Enum>
    void fill_enum(Enum& to, Enum last) {
        const auto count = static_cast<std::uint64_t>(last) + 1;
        to = static_cast<Enum>(everything_ ? count - 1 : random_() % count);
    }
    template <class... T>
    void fill_all(T&... fields) {
        (fill(fields), ...);
    }
    bool coin() { return random_() % 2 == 0; }
    std::uint64_t number(std::uint64_t below) { return random_() % below; }

    void fill(model::JobState& to) { fill_enum(to, model::kJobStateLast); }
    void fill(model::Reason& to) { fill_enum(to, model::kReasonLast); }
    void fill(model::JobKind& to) { fill_enum(to, model::JobKind::Allocation); }
    void fill(model::Exclusive& to) { fill_enum(to, model::Exclusive::Topo); }
    void fill(model::OpenMode& to) { fill_enum(to, model::OpenMode::Append); }
    void fill(model::MemoryRequest::Per& to) { fill_enum(to, model::MemoryRequest::Per::Gpu); }
    void fill(model::Distribution::Nodes& to) {
        fill_enum(to, model::Distribution::Nodes::Arbitrary);
    }
    void fill(model::DependencyKind& to) { fill_enum(to, model::DependencyKind::Singleton); }
    void fill(model::DependencyStatus& to) { fill_enum(to, model::DependencyStatus::Failed); }
    void fill(model::Hold& to) { fill_enum(to, model::Hold::Admin); }
    void fill(model::Completing::Next& to) { fill_enum(to, model::Completing::Next::SpecialExit); }
    void fill(model::NodeConfig::Start& to) { fill_enum(to, model::NodeConfig::Start::Future); }
    void fill(model::PreemptMode& to) { fill_enum(to, model::PreemptMode::Suspend); }
    void fill(model::PartitionState& to) { fill_enum(to, model::PartitionState::Inactive); }
    void fill(model::Partition::OverSubscribe& to) {
        fill_enum(to, model::Partition::OverSubscribe::Exclusive);
    }
    void fill(model::TimeLimitChange::Mode& to) {
        fill_enum(to, model::TimeLimitChange::Mode::Subtract);
    }
    void fill(model::NodeReboot::After& to) { fill_enum(to, model::NodeReboot::After::Down); }
    void fill(model::TriggerResource& to) { fill_enum(to, model::TriggerResource::Controller); }
    void fill(model::TriggerType& to) { fill_enum(to, model::kTriggerTypeLast); }
    void fill(model::NodeVerb& to) { fill_enum(to, model::NodeVerb::CancelReboot); }
    void fill(model::ReservationUpdate::Action& to) {
        fill_enum(to, model::ReservationUpdate::Action::Delete);
    }
    void fill(model::NameListChange::Mode& to) { fill_enum(to, model::NameListChange::Mode::Deny); }
    void fill(model::PartitionUpdate::Action& to) {
        fill_enum(to, model::PartitionUpdate::Action::Delete);
    }

// A structured binding must name all fields of the type, no more and no fewer.
#define SY_FILL(Type, ...)           \
    void fill(Type& value) {         \
        auto& [__VA_ARGS__] = value; \
        fill_all(__VA_ARGS__);       \
    }
    SY_FILL(JobId, number_);
    SY_FILL(Attempt, number_);
    SY_FILL(StepId, number_);
    SY_FILL(switchyard::StepKey, job, attempt, step);
    SY_FILL(model::MiB, amount);
    SY_FILL(model::TimeLimit, seconds, unlimited);
    SY_FILL(model::GresRequest, name, type, count);
    SY_FILL(model::GresInventory, name, type, count, devices, files, cores, device_cores,
            device_links, device_names, device_memory, protection);
    SY_FILL(model::GresGrant::Share, device, amount);
    SY_FILL(model::GresGrant, name, type, count, devices, shares);
    SY_FILL(model::NodeGrant, SY_FIELD_NAMES(SY_NODE_GRANT_FIELDS));
    SY_FILL(model::Allocation, SY_FIELD_NAMES(SY_ALLOCATION_FIELDS));
    SY_FILL(model::ArraySpec, elements, throttle, step);
    SY_FILL(model::ArrayPlace, array_id, element, pending, throttle, count, min, max, step);
    SY_FILL(model::JobSelector, job, elements, all_elements, step, component);
    SY_FILL(model::HetPlace, leader, offset, size);
    SY_FILL(model::DependencyTerm, kind, job, element, whole_array, delay, status);
    SY_FILL(model::Dependency, terms, any);
    SY_FILL(model::WarnSignal, signal, before, batch_only, for_reservation);
    SY_FILL(model::MemoryRequest, per, amount);
    SY_FILL(model::Distribution, nodes, plane_size, pack, no_pack, sockets);
    SY_FILL(model::JobSpec, SY_FIELD_NAMES(SY_JOB_SPEC_FIELDS));
    SY_FILL(model::ResourceLimit, resource, soft, hard);
    SY_FILL(model::JobPayload, script, arguments, environment, limits, umask);
    SY_FILL(model::ExitStatus, code, signal);
    SY_FILL(model::Outcome, SY_FIELD_NAMES(SY_OUTCOME_FIELDS));
    SY_FILL(model::Pending, SY_FIELD_NAMES(SY_PENDING_FIELDS));
    SY_FILL(model::Running, SY_FIELD_NAMES(SY_RUNNING_FIELDS));
    SY_FILL(model::Preemption, SY_FIELD_NAMES(SY_PREEMPTION_FIELDS));
    SY_FILL(model::Suspended, SY_FIELD_NAMES(SY_SUSPENDED_FIELDS));
    SY_FILL(model::Completing, SY_FIELD_NAMES(SY_COMPLETING_FIELDS));
    SY_FILL(model::Ended, SY_FIELD_NAMES(SY_ENDED_FIELDS));
    SY_FILL(model::Job, SY_FIELD_NAMES(SY_JOB_MEMBERS));
    SY_FILL(model::StepSpec, name, nodes_min, nodes_max, tasks, cpus_per_task, tasks_per_node,
            memory, gres_per_node, gres_none, gpus_per_step, gpus_per_task, tasks_per_gpu, gpu_bind,
            required_nodes, excluded_nodes, relative, distribution, overlap, exact, whole,
            overcommit, immediate, time_limit, interactive, submit_line, resv_ports, detached,
            srun_host, srun_pid);
    SY_FILL(model::StepNode, grant, tasks);
    SY_FILL(model::StepLayout, nodes);
    SY_FILL(model::StepEnd, ended, state, exit);
    SY_FILL(model::UsageMark, amount, node, task);
    SY_FILL(model::UsageMeasure, name, out, total, tasks, max, min);
    SY_FILL(model::StepUsage, user_us, system_us, measures);
    SY_FILL(model::HetStep, task_offset, tasks, node_offset, nodes);
    SY_FILL(model::Step, key, nonce, spec, layout, submitted, started, running_nodes, worst_exit,
            usage, end, resv_ports, het);
    SY_FILL(model::NodeConfig, name, host_name, address, cpus, boards, sockets, cores_per_socket,
            threads_per_core, memory, tmp_disk, weight, features, active_features, gres,
            core_spec_count, mem_spec_limit, port, start, reason);
    SY_FILL(model::CardUse, device, percent, memory, watts);
    SY_FILL(model::NodeFacts, host_name, address, arch, os, version, cpus, sockets,
            cores_per_socket, threads_per_core, memory, free_memory, tmp_disk, cpu_load, booted,
            agent_started, containment, gres, problem, card_use);
    SY_FILL(model::NodeMark, reason, by, at);
    SY_FILL(model::NodeReboot, asap, after, issued, drained);
    SY_FILL(model::Node, config, facts, responding, down, drain, mark, reboot, last_busy, comment,
            extra, instance_id, instance_type, resume_at, used_cores, used_cpus, used_memory,
            used_gres, running_jobs, completing_jobs, partitions, exclusive, reservation, maint);
    SY_FILL(model::Partition, name, nodes, is_default, hidden, root_only, disable_root_jobs, lln,
            require_reservation, exclusive_user, state, max_time, default_time, min_nodes,
            max_nodes, max_cpus_per_node, def_mem_per_cpu, def_mem_per_node, max_mem_per_cpu,
            max_mem_per_node, priority_tier, priority_job_factor, over_subscribe,
            over_subscribe_count, allow_groups, allow_accounts, deny_accounts, allow_qos, deny_qos,
            alloc_nodes, qos, alternate, grace_time, over_time_limit, preempt_mode, concealed);
    SY_FILL(model::TriggerFired, due, argument);
    SY_FILL(model::Trigger, id, resource, type, job, nodes, offset, uid, gid, user, program,
            permanent, fired);
    SY_FILL(model::TimeLimitChange, mode, limit);
    SY_FILL(model::JobUpdate, SY_UPDATE_NAMES(SY_JOB_UPDATE_FIELDS));
    SY_FILL(model::NodeUpdate, nodes, verb, reason, comment, extra, weight, features,
            active_features, instance_ids, instance_types, addresses, host_names, resume_after);
    SY_FILL(model::PartitionUpdate, action, name, nodes, allow_groups, allow_accounts,
            deny_accounts, allow_qos, deny_qos, alloc_nodes, qos, alternate, state, is_default,
            hidden, root_only, disable_root_jobs, lln, require_reservation, exclusive_user,
            max_cpus_per_node, over_time_limit, def_mem_per_cpu, def_mem_per_node, max_mem_per_cpu,
            max_mem_per_node, max_time, default_time, min_nodes, priority_tier, priority_job_factor,
            max_nodes, over_subscribe, grace_time, preempt_mode);
    SY_FILL(model::NamedUsers, name, uids);
    SY_FILL(model::Reservation, id, name, start, end, nodes, node_count, cores, features, partition,
            licenses, comment, flags, users, groups, accounts, qos, allowed_partitions,
            users_denied, accounts_denied, qos_denied, partitions_denied, max_start_delay,
            purge_after, idle_since, floats);
    SY_FILL(model::FlagChange, set, cleared, purge_after);
    SY_FILL(model::NameListChange, mode, names);
    SY_FILL(model::ReservationUpdate, action, name, start, end, duration, nodes, nodes_added,
            nodes_removed, node_count, core_count, cores_per_node, features, partition, licenses,
            comment, users, groups, accounts, qos, allowed_partitions, flags, max_start_delay,
            skip);
#undef SY_FILL

    void fill(std::shared_ptr<const model::JobSpec>& to) {
        auto spec = std::make_shared<model::JobSpec>();
        fill(*spec);
        to = std::move(spec);
    }
    void fill(model::JobPhase& to) {
        switch (number(5)) {
            case 0:
                return fill(to.emplace<model::Pending>());
            case 1:
                return fill(to.emplace<model::Running>());
            case 2:
                return fill(to.emplace<model::Suspended>());
            case 3:
                return fill(to.emplace<model::Completing>());
            default:
                return fill(to.emplace<model::Ended>());
        }
    }

  private:
    std::mt19937_64 random_;
    bool everything_;
};

template <class Value>
struct Wire;
#define SY_WIRE(Name)               \
    template <>                     \
    struct Wire<model::Name> {      \
        using Message = wire::Name; \
    };
SY_WIRE(JobSpec)
SY_WIRE(JobPayload)
SY_WIRE(Allocation)
SY_WIRE(NodeGrant)
SY_WIRE(Outcome)
SY_WIRE(Job)
SY_WIRE(StepSpec)
SY_WIRE(StepLayout)
SY_WIRE(Step)
SY_WIRE(NodeFacts)
SY_WIRE(Node)
SY_WIRE(Partition)
SY_WIRE(Trigger)
SY_WIRE(JobSelector)
SY_WIRE(JobUpdate)
SY_WIRE(NodeUpdate)
SY_WIRE(PartitionUpdate)
SY_WIRE(Reservation)
SY_WIRE(ReservationUpdate)
#undef SY_WIRE

template <class Value>
class CodecTest : public testing::Test {};
using Values =
    testing::Types<model::JobSpec, model::JobPayload, model::Allocation, model::NodeGrant,
                   model::Outcome, model::Job, model::StepSpec, model::StepLayout, model::Step,
                   model::NodeFacts, model::Node, model::Partition, model::JobSelector,
                   model::JobUpdate, model::NodeUpdate, model::PartitionUpdate, model::Trigger,
                   model::Reservation, model::ReservationUpdate>;
TYPED_TEST_SUITE(CodecTest, Values);

template <class Value>
void expect_survives(const Value& value) {
    typename Wire<Value>::Message message;
    encode(value, &message);
    const std::string bytes = message.SerializeAsString();
    typename Wire<Value>::Message received;
    ASSERT_TRUE(received.ParseFromString(bytes));
    const Result<Value> back = decode(received);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_TRUE(*back == value);
}

TYPED_TEST(CodecTest, CarriesEveryFieldWhenAllAreSet) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {  // The phases of a job take turns.
        SCOPED_TRACE(seed);
        Filler filler(seed, true);
        TypeParam value{};
        filler.fill(value);
        expect_survives(value);
    }
}

TYPED_TEST(CodecTest, CarriesRandomValues) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        SCOPED_TRACE(seed);
        Filler filler(seed, false);
        TypeParam value{};
        filler.fill(value);
        expect_survives(value);
        if (this->HasFailure()) return;
    }
}

TYPED_TEST(CodecTest, CarriesTheDefaultValue) {
    TypeParam value{};
    if constexpr (std::is_same_v<TypeParam, model::Job>)
        value.spec = std::make_shared<const model::JobSpec>();
    expect_survives(value);
}

// Whatever bytes arrive, decoding ends with a value or an error.
TYPED_TEST(CodecTest, SurvivesBytesThatWereTamperedWith) {
    using Message = typename Wire<TypeParam>::Message;
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        SCOPED_TRACE(seed);
        Filler filler(seed, true);
        TypeParam value{};
        filler.fill(value);
        Message message;
        encode(value, &message);
        std::string bytes = message.SerializeAsString();
        for (int i = 0; i < 3 && !bytes.empty(); ++i) {
            bytes[filler.number(bytes.size())] = static_cast<char>(filler.number(256));
        }
        Message received;
        if (received.ParseFromString(bytes)) (void)Result<TypeParam>(decode(received));
    }
}

// A row that names another field of the message, or a codec that leaves the field out, is found.
TEST(JobFields, EachOfASpecAloneIsTheFieldOfItsRowAndComesBack) {
    const auto expect_alone = [](std::string_view name, int number, const model::JobSpec& spec) {
        SCOPED_TRACE(name);
        JobSpec message;
        encode(spec, &message);
        const std::string bytes = message.SerializeAsString();
        Fields fields(bytes);
        std::size_t seen = 0;
        for (Field field; fields.next(field); ++seen)
            EXPECT_EQ(static_cast<int>(field.number), number);
        EXPECT_GT(seen, 0u);
        JobSpec received;
        ASSERT_TRUE(received.ParseFromString(bytes));
        const auto back = decode(received);
        ASSERT_TRUE(back) << back.error().message;
        EXPECT_TRUE(*back == spec);

        model::Job job;
        job.spec = std::make_shared<const model::JobSpec>(spec);
        Job whole;
        encode(job, &whole);
        JobLine line;
        const auto listed = line.read(whole.SerializeAsString());
        ASSERT_TRUE(listed) << listed.error().message;
        EXPECT_TRUE(**listed == job);
    };
    Filler filler(7, true);
#define SY_EXPECT_ALONE(member, Wire, ...)                          \
    {                                                               \
        model::JobSpec spec;                                        \
        filler.fill(spec.member);                                   \
        expect_alone(#member, JobSpec::k##Wire##FieldNumber, spec); \
    }
    SY_JOB_SPEC_FIELDS(SY_EXPECT_ALONE)
#undef SY_EXPECT_ALONE
}

TEST(Codec, CarriesStepKeys) {
    const switchyard::StepKey key{JobId{7}, Attempt{2}, kBatchStep};
    StepKey message;
    encode_key(key, &message);
    EXPECT_EQ(decode(message), key);
}

TEST(Codec, RefusesUnknownEnumerators) {
    JobSpec spec;
    spec.set_kind(2);
    const auto decoded = decode(spec);
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().code, Errc::InvalidArgument);
    EXPECT_EQ(decoded.error().message, "message holds an unknown kind: 2");

    Outcome outcome;
    outcome.set_state(24);
    EXPECT_FALSE(decode(outcome));
    PartitionUpdate update;
    update.set_state(4);
    EXPECT_FALSE(decode(update));
}

TEST(Codec, RefusesMalformedIndexSetsAndNumbersThatDoNotFit) {
    NodeGrant grant;
    grant.set_cores("3-1");
    EXPECT_FALSE(decode(grant));
    JobSelector selector;
    selector.set_elements("one");
    EXPECT_FALSE(decode(selector));
    JobSpec spec;
    spec.set_mail_types(0x10000);
    EXPECT_FALSE(decode(spec));
    Node node;
    node.mutable_config()->set_port(70000);
    EXPECT_FALSE(decode(node));
}

TEST(Codec, RefusesAJobWithoutAPhase) { EXPECT_FALSE(decode(Job{})); }

TEST(Codec, AMessageThatLacksWhatWeKnowHasItsDefault) {
    const auto partition = decode(Partition{});
    ASSERT_TRUE(partition);
    EXPECT_EQ(partition->max_time, model::TimeLimit::infinite());
    const auto spec = decode(JobSpec{});
    ASSERT_TRUE(spec);
    EXPECT_EQ(spec->warn_signal, model::WarnSignal{});
}

}  // namespace
}  // namespace switchyard::wire
