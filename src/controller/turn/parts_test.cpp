// The small parts of the controller, each alone.
#include <gtest/gtest.h>

#include "controller/queries/filters.hpp"
#include "controller/queries/folded_job.hpp"
#include "controller/start/settings.hpp"
#include "controller/turn/launch.hpp"
#include "controller/turn/payloads.hpp"
#include "wire/codec.hpp"
#include "wire/fields.hpp"
#include "wire/job_folding.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::controller {
namespace {

Bulk bytes(std::size_t size) { return std::make_shared<const std::string>(size, 'x'); }

model::Job job(std::uint32_t id, std::uint32_t uid,
               std::optional<std::uint32_t> array = std::nullopt) {
    auto spec = std::make_shared<model::JobSpec>();
    spec->uid = uid;
    spec->name = "train";
    spec->partitions = {"day", "night"};
    model::Job out;
    out.id = JobId{id};
    out.spec = spec;
    out.partition = "day";
    if (array) {
        out.array.emplace();
        out.array->array_id = JobId{*array};
    }
    return out;
}

// What `append` leaves of a job in a message whose field 7 it is.
std::string cut_by(void (*append)(std::string&, std::uint32_t, std::string_view),
                   std::string_view folded) {
    std::string message = "before";
    append(message, 7, folded);
    wire::Fields fields(std::string_view(message).substr(6));
    wire::Field field;
    EXPECT_TRUE(message.starts_with("before") && fields.next(field) && fields.ok());
    EXPECT_EQ(field.number, 7u);
    return std::string(field.value);
}

TEST(Payloads, TheLeastRecentlyUsedGoesFirst) {
    Payloads payloads(100);
    payloads.put(JobId{1}, bytes(40));
    payloads.put(JobId{2}, bytes(40));
    EXPECT_NE(payloads.find(JobId{1}), nullptr);
    payloads.put(JobId{3}, bytes(40));
    EXPECT_EQ(payloads.find(JobId{2}), nullptr);
    EXPECT_NE(payloads.find(JobId{1}), nullptr);
    EXPECT_EQ(payloads.bytes(), 80u);
    payloads.put(JobId{1}, bytes(10));
    EXPECT_EQ(payloads.bytes(), 50u);
    payloads.forget(JobId{1});
    EXPECT_EQ(payloads.find(JobId{1}), nullptr);
}

TEST(FoldedJob, ItsPhaseAndPartitionAreReadFromItsBytes) {
    const auto folding = wire::make_job_folding();
    std::string folded;
    folding->fold(job(1, 100), folded);
    FoldedJob seen = look_at_folded(folded);
    EXPECT_TRUE(seen.pending && !seen.running && !seen.ended && !seen.in_array);
    EXPECT_EQ(seen.partition, "day");
    model::Job other = job(2, 100, 2);
    other.phase = model::Running{};
    folding->fold(other, folded);
    seen = look_at_folded(folded);
    EXPECT_TRUE(seen.running && seen.in_array && !seen.pending);
    other.phase = model::Ended{};
    folding->fold(other, folded);
    EXPECT_TRUE(look_at_folded(folded).ended);
    EXPECT_EQ(folding->unfold(folded), other);
}

TEST(FoldedJob, CutToItsStateItKeepsWhoItIsAndHowItStands) {
    const auto folding = wire::make_job_folding();
    model::Job whole = job(2, 100, 2);
    auto spec = std::make_shared<model::JobSpec>(*whole.spec);
    spec->user = "alice";
    spec->comment = "long";
    spec->work_dir = "/home/alice";
    whole.spec = spec;
    whole.attempt = Attempt{3};
    whole.priority = 7;
    whole.admin_comment = "noted";
    const auto cut = [&](model::JobPhase phase) {
        whole.phase = std::move(phase);
        std::string folded;
        folding->fold(whole, folded);
        const std::string state = cut_by(append_state, folded);
        EXPECT_LT(state.size(), folded.size());
        return folding->unfold(state);
    };
    model::Running run;
    run.allocation.nodes.emplace_back().node = "n1";
    run.started = Instant{Seconds{5}};
    run.ends_by = Instant{Seconds{9}};
    run.configuring = true;
    run.gpus_idle_since = Instant{Seconds{6}};
    run.licenses = "fluent:2";
    model::Outcome outcome;
    outcome.state = model::JobState::Failed;
    outcome.exit.code = 3;
    model::Pending pending;
    pending.reason = model::Reason::Dependency;
    pending.detail = "of 1";
    for (const model::JobPhase& phase :
         {model::JobPhase(pending), model::JobPhase(run),
          model::JobPhase(model::Suspended{run, Instant{Seconds{7}}}),
          model::JobPhase(model::Completing{run, Instant{Seconds{8}}, outcome, {"n1"}}),
          model::JobPhase(model::Ended{run, Instant{Seconds{8}}, outcome})}) {
        const model::Job seen = cut(phase);
        EXPECT_EQ(model::state_of(seen), model::state_of(whole));
        EXPECT_EQ(model::base_state_of(seen), model::base_state_of(whole));
        EXPECT_EQ(model::reason_of(seen), model::reason_of(whole));
        EXPECT_EQ(model::start_of(seen), model::start_of(whole));
        EXPECT_EQ(model::end_of(seen), model::end_of(whole));
        EXPECT_EQ(model::display_id(seen), model::display_id(whole));
        EXPECT_EQ(std::tuple(seen.spec->name, seen.spec->user, seen.spec->uid, seen.partition,
                             seen.priority, seen.attempt),
                  std::tuple(spec->name, spec->user, spec->uid, whole.partition, whole.priority,
                             whole.attempt));
        EXPECT_EQ(seen.spec->partitions, spec->partitions);
        EXPECT_TRUE(seen.spec->comment.empty() && seen.spec->work_dir.empty());
        EXPECT_TRUE(model::run_of(seen) == nullptr || model::run_of(seen)->licenses.empty());
    }
}

TEST(FoldedJob, CutToALineItKeepsWhatIsListedOfItAndNoMore) {
    const auto folding = wire::make_job_folding();
    model::Job whole = job(2, 100, 2);
    auto spec = std::make_shared<model::JobSpec>(*whole.spec);
    spec->nodes_min = 3;
    spec->tasks = 12;
    spec->tasks_per_node = 4;
    spec->required_nodes = {"n1", "n2"};
    spec->time_limit = model::TimeLimit{Seconds{60}, false};
    spec->begin = Instant{Seconds{3}};
    spec->gres_per_node = {{.name = "gpu", .type = "", .count = 2}};
    spec->gpus_per_job = {{.name = "gpu", .type = "", .count = 8}};
    spec->comment = "long";
    whole.spec = spec;
    const auto cut = [&](model::JobPhase phase) {
        whole.phase = std::move(phase);
        std::string folded;
        folding->fold(whole, folded);
        return folding->unfold(cut_by(append_line, folded));
    };
    model::Pending pending;
    pending.detail = "of 1";
    pending.planned_start = Instant{Seconds{4}};
    model::Job seen = cut(pending);
    EXPECT_EQ(std::get<model::Pending>(seen.phase), pending);
    EXPECT_EQ(std::tuple(seen.spec->nodes_min, seen.spec->tasks, seen.spec->tasks_per_node,
                         seen.spec->required_nodes, seen.spec->time_limit, seen.spec->begin,
                         seen.spec->gres_per_node, seen.spec->gpus_per_job),
              std::tuple(spec->nodes_min, spec->tasks, spec->tasks_per_node, spec->required_nodes,
                         spec->time_limit, spec->begin, spec->gres_per_node, spec->gpus_per_job));
    EXPECT_TRUE(seen.spec->comment.empty());

    model::Running run;
    for (const char* node : {"n1", "n2"}) {
        run.allocation.nodes.emplace_back().node = node;
        run.allocation.nodes.back().cpus = 8;
    }
    seen = cut(model::Completing{run, Instant{Seconds{8}}, {}, {"n2"}});
    const auto& completing = std::get<model::Completing>(seen.phase);
    EXPECT_EQ(completing.dirty_nodes, std::vector<std::string>{"n2"});
    EXPECT_EQ(completing.run.allocation.node_names(), run.allocation.node_names());
    EXPECT_EQ(completing.run.allocation.cpus(), 0u);
}

TEST(FoldedJob, HoweverLongItIsItsPartsHaveTheirSizes) {
    const auto folding = wire::make_job_folding();
    for (const std::size_t nodes : {1u, 8u, 10u, 40u, 1'000u, 5'000u}) {
        model::Job whole = job(2, 100);
        model::Running run;
        for (std::size_t i = 0; i < nodes; ++i) {
            run.allocation.nodes.emplace_back().node = "node" + std::to_string(i);
            run.allocation.nodes.back().cpus = 8;
        }
        whole.phase = run;
        std::string folded;
        folding->fold(whole, folded);
        const model::Job seen = folding->unfold(cut_by(append_line, folded));
        EXPECT_EQ(model::allocation_of(seen)->node_names(), run.allocation.node_names());
        EXPECT_EQ(model::allocation_of(seen)->cpus(), 0u);
    }
}

TEST(Filter, FinishedJobsAreShownOnlyWhenAskedFor) {
    model::Job done = job(1, 100);
    done.phase = model::Ended{};
    JobMatcher match;
    EXPECT_FALSE(match(done));
    match.all_states = true;
    EXPECT_TRUE(match(done));
    match.all_states = false;
    match.filter.states = {model::JobState::Completed};
    EXPECT_TRUE(match(done));
}

config::Config site() {
    config::Config config;
    config.slurm_user = "root";
    return config;
}

TEST(Settings, SelectTypeParametersChooseTheUnitAndFlagsDoNot) {
    using Unit = core::Settings::Unit;
    config::Config config = site();
    EXPECT_EQ(to_settings(config, 0)->unit, Unit::Core);
    EXPECT_TRUE(to_settings(config, 0)->memory_is_consumable);
    config.select_type_parameters = "CR_CPU,CR_LLN";
    EXPECT_EQ(to_settings(config, 0)->unit, Unit::Cpu);
    EXPECT_FALSE(to_settings(config, 0)->memory_is_consumable);
    config.select_type_parameters = "CR_Socket_Memory,CR_ONE_TASK_PER_CORE";
    EXPECT_EQ(to_settings(config, 0)->unit, Unit::Socket);
    EXPECT_TRUE(to_settings(config, 0)->memory_is_consumable);
    config.select_type = "select/linear";
    config.select_type_parameters = "CR_Memory";
    EXPECT_EQ(to_settings(config, 0)->unit, Unit::WholeNode);
    EXPECT_TRUE(to_settings(config, 0)->memory_is_consumable);
    config.select_type_parameters = "";
    EXPECT_FALSE(to_settings(config, 0)->memory_is_consumable);
}

TEST(Settings, SchedulerParametersAreReadOnceAndBadOnesNamed) {
    config::Config config = site();
    config.scheduler_parameters =
        "bf_interval=60, bf_window=2880,bf_max_job_test=1000,defer,other=x";
    const auto settings = to_settings(config, 0);
    ASSERT_TRUE(settings);
    EXPECT_EQ(settings->backfill_interval, Seconds{60});
    EXPECT_EQ(settings->backfill_window, Minutes{2880});
    EXPECT_EQ(settings->backfill_jobs_max, 1000u);
    config.scheduler_parameters = "bf_window=long";
    ASSERT_FALSE(to_settings(config, 0));
    EXPECT_NE(to_settings(config, 0).error().message.find("bf_window=long"), std::string::npos);
    config.scheduler_parameters = "";
    config.scheduler_type = "sched/builtin";
    EXPECT_FALSE(to_settings(config, 0)->backfill);
}

TEST(Settings, AnUnknownSlurmUserIsAnError) {
    config::Config config = site();
    config.slurm_user = "no-such-user";
    ASSERT_FALSE(find_slurm_user(config));
    EXPECT_NE(find_slurm_user(config).error().message.find("no-such-user"), std::string::npos);
}

TEST(LaunchFrame, IsTheMessageThatItsPartsMakeUp) {
    wire::LaunchStep launch;
    launch.set_node("n1");
    wire::JobPayload payload;
    payload.set_script(std::string(100'000, 's'));
    payload.add_environment("A=B");
    const std::string frame =
        launch_frame(launch.SerializeAsString(), BulkKind::Job, payload.SerializeAsString());
    wire::ControllerToAgent message;
    ASSERT_TRUE(message.ParseFromString(frame));
    EXPECT_EQ(message.launch().node(), "n1");
    EXPECT_EQ(message.launch().batch().script(), payload.script());
    EXPECT_EQ(message.launch().batch().environment(0), "A=B");
    wire::StepLaunch step;
    step.add_argv("hostname");
    ASSERT_TRUE(
        message.ParseFromString(launch_frame("", BulkKind::Step, step.SerializeAsString())));
    EXPECT_EQ(message.launch().step().argv(0), "hostname");
}

}  // namespace
}  // namespace switchyard::controller
