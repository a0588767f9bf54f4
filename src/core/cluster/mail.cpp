// mail.cpp: when mail is due, its subject line, and the environment of the program that sends it.

#include "core/cluster/mail.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "model/card_energy.hpp"

namespace switchyard::core {
namespace {

using model::MailEvent;

std::string_view word_for(MailEvent event) {
    switch (event) {
        case MailEvent::Begin:
            return "Began";
        case MailEvent::End:
            return "Ended";
        case MailEvent::Fail:
            return "Failed";
        case MailEvent::Requeue:
            return "Requeued";
        case MailEvent::TimeLimit:
            return "Reached time limit";
        case MailEvent::TimeLimit90:
            return "Reached 90% of time limit";
        case MailEvent::TimeLimit80:
            return "Reached 80% of time limit";
        case MailEvent::TimeLimit50:
            return "Reached 50% of time limit";
        case MailEvent::InvalidDepend:
            return "Invalid dependency";
        case MailEvent::StageOut:
            return "StageOut/Teardown";
        case MailEvent::GpuIdle:
            return "GPUs idle";
        case MailEvent::ArrayTasks:
            return "";
    }
    return "";
}

// How it ended: ", COMPLETED, ExitCode 0".
std::string ending(const model::Outcome& outcome) {
    const std::string state(model::long_name(outcome.state));
    if (outcome.exit.signal != 0) return fmt::format(", {}, Signal {}", state, outcome.exit.signal);
    return fmt::format(", {}, ExitCode {}", state, outcome.exit.code);
}

std::string ending(const ArraySide& array, const model::Outcome& outcome) {
    const auto least = model::ExitStatus::from_wait(array.least_wait);
    const auto worst = model::ExitStatus::from_wait(array.worst_wait);
    if (worst.signal != 0) return fmt::format(", Mixed, MaxSignal [{}]", worst.signal);
    const std::string state =
        least.code == 0 && worst.code > 0 ? "Mixed" : std::string(model::long_name(outcome.state));
    return fmt::format(", {}, ExitCode [{}-{}]", state, least.code, worst.code);
}

bool summarized(const Job& job) {
    return job.array && !model::has(job.spec->mail_types, MailEvent::ArrayTasks);
}

std::string who(const Job& job) {
    const std::string& name = job.spec->name;
    if (summarized(job)) {
        const std::uint32_t array = job.array->array_id.value;
        return fmt::format("Slurm Array Summary Job_id={}_* ({}) Name={}", array, array, name);
    }
    if (job.array && job.array->element) {
        return fmt::format("Slurm Array Task Job_id={}_{} ({}) Name={}", job.array->array_id.value,
                           *job.array->element, job.id.value, name);
    }
    return fmt::format("Slurm Job_id={} Name={}", job.id.value, name);
}

Seconds queued_for(const Job& job) {
    const auto start = model::start_of(job);
    return std::chrono::duration_cast<Seconds>(start.value_or(job.submitted) - job.submitted);
}

constexpr std::uint64_t kBytesPerMiB = 1024 * 1024;

std::optional<model::CardEnergy> drawn_by(const Job& job,
                                          const std::map<StepKey, model::Step>& steps) {
    std::optional<model::CardEnergy> drawn;
    for (auto at = steps.lower_bound({job.id, job.attempt, StepId{0}});
         at != steps.end() && at->first.job == job.id && at->first.attempt == job.attempt; ++at)
        model::add_energy(drawn, at->second.usage);
    return drawn;
}

// Over the whole run of a job; one of less than a second counts as a second.
std::uint64_t average_watts(const Job& job, std::uint64_t joules, Instant now) {
    const auto seconds =
        static_cast<std::uint64_t>(std::max<std::int64_t>(model::run_time(job, now).count(), 1));
    return (joules + seconds / 2) / seconds;
}

void tell(const model::CardEnergy& drawn, std::uint64_t watts, effect::Mail& letter) {
    letter.subject += fmt::format(", power {}W, energy {}J", watts, drawn.joules);
    auto& env = letter.environment;
    env.emplace_back("SWITCHYARD_JOB_GPU_ENERGY", std::to_string(drawn.joules));
    env.emplace_back("SWITCHYARD_JOB_GPU_POWER", std::to_string(watts));
    env.emplace_back("SWITCHYARD_JOB_GPU_POWER_MAX", std::to_string(drawn.most_watts.value));
}

}  // namespace

// What its steps did with its cards, as far as nodes have told; none: it had none, or nobody
// looked.
std::optional<Mail::CardEffort> Mail::card_effort(const Job& job) const {
    std::optional<CardEffort> effort;
    const StepKey first{job.id, job.attempt, StepId{0}};
    for (auto at = world_.steps.lower_bound(first);
         at != world_.steps.end() && at->first.job == job.id && at->first.attempt == job.attempt;
         ++at) {
        const auto* use = model::find_measure(at->second.usage, "gres/gpuutil");
        const auto* memory = model::find_measure(at->second.usage, "gres/gpumem");
        if (use == nullptr || memory == nullptr) continue;
        if (!effort) effort.emplace();
        effort->percent = std::max(effort->percent, use->average());
        effort->memory = std::max(effort->memory, model::MiB{memory->max.value / kBytesPerMiB});
    }
    return effort;
}

// When its first element begins, and when all are over.
bool Mail::is_for_all(const Job& job, MailEvent event) const {
    const ArraySide& array = arrays_.of(job);
    if (event == MailEvent::Begin)
        return array.running <= 1 && !array.any_ended && job.restarts == 0;
    const bool end = event == MailEvent::End || event == MailEvent::Fail;
    return !end || (array.running == 0 && array.pending.empty());
}

void Mail::observe(const Transition& transition) {
    const Job& job = transition.job;
    switch (transition.cause) {
        case Cause::Started:
            return send(job, MailEvent::Begin);
        case Cause::Returns:
            return send(job, MailEvent::Requeue);
        case Cause::Recurs:
        case Cause::Ended:
            return send_end(job);
        default:
            return;
    }
}

void Mail::send(const Job& job, MailEvent event) {
    if (event != MailEvent::GpuIdle && !model::has(job.spec->mail_types, event)) return;
    if (summarized(job) && !is_for_all(job, event)) return;
    const model::Outcome* outcome = model::outcome_of(job);
    const bool over = outcome != nullptr && (event == MailEvent::End || event == MailEvent::Fail);
    const std::string run_time = model::format_duration(model::run_time(job, world_.now));
    const std::string queued = model::format_duration(queued_for(job));
    std::string subject = fmt::format("{} {}", who(job), word_for(event));
    if (event == MailEvent::Begin) {
        subject += ", Queued time " + queued;
    } else if (event != MailEvent::InvalidDepend) {
        subject += ", Run time " + run_time;
    }
    if (over) subject += summarized(job) ? ending(arrays_.of(job), *outcome) : ending(*outcome);

    const auto cards = over && !summarized(job) ? card_effort(job) : std::nullopt;
    if (cards)
        subject += fmt::format(", GPU use {}%, memory {}M", cards->percent, cards->memory.value);

    effect::Mail letter;
    letter.job = job.id;
    letter.event = event;
    letter.to = job.spec->mail_user.empty() ? job.spec->user : job.spec->mail_user;
    letter.subject = std::move(subject);
    auto& env = letter.environment;
    env.emplace_back("SLURM_CLUSTER_NAME", world_.settings.cluster_name);
    env.emplace_back("SLURM_JOB_ID", std::to_string(job.id.value));
    env.emplace_back("SLURM_JOB_NAME", job.spec->name);
    env.emplace_back("SLURM_JOB_USER", job.spec->user);
    env.emplace_back("SLURM_JOB_PARTITION", job.partition);
    env.emplace_back("SLURM_JOB_MAIL_TYPE", std::string(word_for(event)));
    env.emplace_back("SLURM_JOB_STATE", std::string(model::long_name(model::base_state_of(job))));
    env.emplace_back("SLURM_JOB_WORK_DIR", job.spec->work_dir);
    if (job.array) {
        env.emplace_back("SLURM_ARRAY_JOB_ID", std::to_string(job.array->array_id.value));
        if (job.array->element)
            env.emplace_back("SLURM_ARRAY_TASK_ID", std::to_string(*job.array->element));
    }
    if (event == MailEvent::Begin) {
        env.emplace_back("SLURM_JOB_QUEUED_TIME", queued);
    } else {
        env.emplace_back("SLURM_JOB_RUN_TIME", run_time);
    }
    if (over) {
        const int code = outcome->exit.signal != 0 ? outcome->exit.signal : outcome->exit.code;
        env.emplace_back("SLURM_JOB_EXIT_CODE", std::to_string(outcome->exit.to_wait()));
        env.emplace_back("SLURM_JOB_EXIT_CODE_MAX", std::to_string(code));
    }
    if (cards) {
        env.emplace_back("SWITCHYARD_JOB_GPU_USE", std::to_string(cards->percent));
        env.emplace_back("SWITCHYARD_JOB_GPU_MEMORY", std::to_string(cards->memory.value));
        if (const auto drawn = drawn_by(job, world_.steps))
            tell(*drawn, average_watts(job, drawn->joules, world_.now), letter);
    }
    world_.emit(std::move(letter));
}

void Mail::send_end(const Job& job) {
    const model::Outcome& outcome = *model::outcome_of(job);
    const bool failed =
        outcome.state != model::JobState::Completed && outcome.state != model::JobState::Cancelled;
    if (failed && model::has(job.spec->mail_types, MailEvent::Fail))
        return send(job, MailEvent::Fail);
    send(job, MailEvent::End);
}

}  // namespace switchyard::core
