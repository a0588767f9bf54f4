// effects.cpp: what the core asks for, as messages. They are encoded when the batch is sealed and
// sent when it is on disk (carry_out). Orders to a node whose agent is away are dropped: the core
// gives them again when it is back.
#include <fmt/format.h>

#include "base/limits.hpp"
#include "controller/links/replies.hpp"
#include "controller/turn/controller.hpp"
#include "controller/turn/launch.hpp"
#include "wire/codec.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::controller {
namespace {

std::uint32_t number(core::EndCause cause) { return static_cast<std::uint32_t>(cause); }

std::string too_large_to_launch(std::size_t bytes) {
    return fmt::format("what its node would be told is too large: {} bytes, at most {} are allowed",
                       bytes, limits::kLaunchBytesMax);
}

}  // namespace

class Controller::EffectWriter {
  public:
    EffectWriter(Controller& controller, Sealed& sealed) : c_(controller), sealed_(sealed) {}

    void operator()(const core::effect::Reply& reply) {
        Calls::Waiting* waiting = c_.calls_.find(reply.token);
        if (waiting == nullptr) return;  // Its connection has closed.
        keep_held(reply.body, waiting->held);
        ToCaller out{.session = waiting->session,
                     .frame = reply_frame(waiting->request, reply, *c_.cluster_),
                     .last = reply.last,
                     .request = waiting->request};
        if (const auto* made = std::get_if<core::reply::Submitted>(&reply.body))
            out.submitted = made->job;
        sealed_.outbox.push_back(std::move(out));
        if (reply.last) c_.calls_.withdraw(reply.token);
    }

    void operator()(const core::effect::LaunchBatch& order) {
        const auto it = c_.cluster_->jobs().find(order.job);
        if (it == c_.cluster_->jobs().end() || model::run_of(it->second) == nullptr ||
            it->second.attempt != order.attempt) {
            return;
        }
        const StepKey key{.job = order.job, .attempt = order.attempt, .step = kBatchStep};
        if (waits_for_names(it->second, order.node, key, order)) return;
        const auto step = c_.cluster_->steps().find(key);
        const model::Step* record = step != c_.cluster_->steps().end() ? &step->second : nullptr;
        const JobId payload = payload_of(it->second);
        if (c_.payloads_.find(payload) == nullptr) sealed_.wanted.push_back(payload);
        sealed_.outbox.push_back(ToLaunch{.node = order.node,
                                          .key = key,
                                          .launch = encode(it->second, key, record, order.node),
                                          .payload = payload});
    }

    void operator()(const core::effect::LaunchStep& order) {
        const auto job = c_.cluster_->jobs().find(order.key.job);
        const auto step = c_.cluster_->steps().find(order.key);
        if (job == c_.cluster_->jobs().end() || step == c_.cluster_->steps().end() ||
            model::run_of(job->second) == nullptr) {
            return;
        }
        if (waits_for_names(job->second, order.node, order.key, order)) return;
        std::string launch = encode(job->second, order.key, &step->second, order.node);
        const auto known = c_.step_launches_.find(order.key);
        if (known == c_.step_launches_.end()) {
            return c_.expect_step_launch(order.node, order.key, std::move(launch));
        }
        to_launch(order.node, order.key, launch_frame(launch, BulkKind::Step, *known->second));
    }

    void operator()(const core::effect::SignalSteps& order) {
        wire::ControllerToAgent out;
        wire::SignalSteps* signal = out.mutable_signal();
        signal->set_job(order.job.value);
        signal->set_attempt(order.attempt.value);
        if (order.step) signal->set_step(order.step->value);
        signal->set_signal(order.signal);
        signal->set_batch_shell(order.batch_shell);
        signal->set_steps(order.steps);
        signal->set_all_processes(order.all_processes);
        to_node(order.node, out.SerializeAsString());
    }
    void operator()(const core::effect::EndStep& order) {
        c_.deferred_launches_.erase({order.node, order.key});
        wire::ControllerToAgent out;
        wire::encode_key(order.key, out.mutable_end_step()->mutable_key());
        out.mutable_end_step()->set_cause(number(order.cause));
        out.mutable_end_step()->set_grace(c_.config_.kill_wait.count());
        to_node(order.node, out.SerializeAsString());
    }
    void operator()(const core::effect::EndJob& order) {
        std::erase_if(c_.deferred_launches_, [&](const auto& entry) {
            const auto& [node, key] = entry.first;
            return node == order.node && key.job == order.job && key.attempt == order.attempt;
        });
        wire::ControllerToAgent out;
        wire::EndJob* end = out.mutable_end_job();
        end->set_job(order.job.value);
        end->set_attempt(order.attempt.value);
        end->set_cause(number(order.cause));
        end->set_grace(order.grace.count());
        if (const model::Job* job = of_run(order.job, order.attempt);
            job != nullptr && !c_.config_.epilog.empty())
            describe(*job, *end);
        to_node(order.node, out.SerializeAsString());
    }
    void operator()(const core::effect::PrepareJob& order) {
        const model::Job* job = of_run(order.job, order.attempt);
        if (job == nullptr) return;
        wire::ControllerToAgent out;
        wire::PrepareJob* prepare = out.mutable_prepare_job();
        prepare->set_job(order.job.value);
        prepare->set_attempt(order.attempt.value);
        describe(*job, *prepare);
        to_node(order.node, out.SerializeAsString(), order.job);
    }
    void operator()(const core::effect::SetDeadline& order) {
        wire::ControllerToAgent out;
        wire::SetDeadline* set = out.mutable_deadline();
        set->set_job(order.job.value);
        set->set_attempt(order.attempt.value);
        if (order.deadline) set->set_deadline(order.deadline->time_since_epoch().count());
        to_node(order.node, out.SerializeAsString());
    }
    void operator()(const core::effect::Freeze& order) {
        wire::ControllerToAgent out;
        wire::Freeze* freeze = out.mutable_freeze();
        freeze->set_job(order.job.value);
        freeze->set_attempt(order.attempt.value);
        freeze->set_thaw(order.thaw);
        freeze->set_grace(static_cast<std::uint32_t>(order.grace.count()));
        to_node(order.node, out.SerializeAsString());
    }
    void operator()(const core::effect::StepEndKnown& order) {
        wire::ControllerToAgent out;
        wire::encode_key(order.key, out.mutable_end_known()->mutable_key());
        to_node(order.node, out.SerializeAsString());
    }
    void operator()(const core::effect::Mail& mail) {
        const auto job = c_.cluster_->jobs().glance(mail.job);
        if (job == c_.cluster_->jobs().end()) return;
        const model::JobSpec& spec = *job->second.spec;
        sealed_.outbox.push_back(ToMail{mail, spec.uid, spec.gid});
    }
    void operator()(const core::effect::Stalled& stalled) {
        c_.log_.error("{} is due again and again and changes nothing: left alone for {} s{}",
                      stalled.what, stalled.rest.count(),
                      stalled.job ? fmt::format(" (slurmctld --quarantine {} sets the job aside)",
                                                stalled.job->value)
                                  : std::string());
    }
    void operator()(const core::effect::RunTrigger& run) { sealed_.outbox.push_back(run); }
    void operator()(const core::effect::RunProgram& order) {
        const model::Job* job = of_run(order.job, order.attempt);
        if (job == nullptr) return;
        sealed_.outbox.push_back(
            ToProgram{order, program_environment(c_.config_, *job, order.epilog)});
    }
    void operator()(const core::effect::StopProgram& stop) { sealed_.outbox.push_back(stop); }
    void operator()(const core::effect::RebootNode& order) {
        wire::ControllerToAgent out;
        out.mutable_reboot()->set_program(c_.config_.reboot_program);
        to_node(order.node, out.SerializeAsString());
    }
    void operator()(const core::effect::NotifyBatch& order) {
        wire::ControllerToAgent out;
        wire::NotifyJob* notify = out.mutable_notify();
        notify->set_job(order.job.value);
        notify->set_attempt(order.attempt.value);
        notify->set_text(order.text);
        to_node(order.node, out.SerializeAsString());
    }

    // Which bulky part belongs to which job or step is told by the answers.
    void keep_held(const core::ReplyBody& body, HeldBulk& held) {
        if (const auto* submitted = std::get_if<core::reply::Submitted>(&body);
            submitted && held.job) {
            // The first that came for a job stays, here as in the store.
            if (c_.payloads_.find(submitted->job) == nullptr)
                c_.payloads_.put(submitted->job, held.job);
            sealed_.batch.put_payload(submitted->job, std::exchange(held.job, nullptr));
        }
        if (std::holds_alternative<core::reply::Failed>(body) && held.on_failure) held.on_failure();
        if (const auto* set = std::get_if<core::reply::CrontabSet>(&body)) {
            for (std::size_t i = 0; i < set->jobs.size() && i < held.crontab.size(); ++i) {
                c_.payloads_.put(set->jobs[i], held.crontab[i]);
                sealed_.batch.put_payload(set->jobs[i], held.crontab[i]);
            }
            held.crontab.clear();
        }
        if (const auto* made = std::get_if<core::reply::StepMade>(&body); made && held.step) {
            keep_launch(made->key, std::exchange(held.step, nullptr));
            for (std::size_t i = 0; i < made->more.size() && i < held.more_steps.size(); ++i)
                keep_launch(made->more[i], held.more_steps[i]);
        }
    }

  private:
    // A launch names groups of the user and addresses of nodes. Where they have to be looked up
    // first, the order is given again when they are known.
    bool waits_for_names(const model::Job& job, const std::string& node, const StepKey& key,
                         const core::Effect& order) {
        const auto [known, fresh] = has_names_.try_emplace(job.id, false);
        if (fresh) known->second = c_.names_.has(names_for_launch(c_.launch_context(), job));
        if (!known->second) c_.defer_launch(job, node, key, order);
        return !known->second;
    }
    std::string encode(const model::Job& job, const StepKey& key, const model::Step* step,
                       const std::string& node) {
        return encode_launch(c_.launch_context(), job, key, step, node);
    }
    const model::Job* of_run(JobId id, Attempt attempt) const {
        const auto job = c_.cluster_->jobs().find(id);
        const bool known = job != c_.cluster_->jobs().end() && job->second.attempt == attempt;
        return known ? &job->second : nullptr;
    }
    // What a Prolog or Epilog is told of the job.
    template <class Message>
    static void describe(const model::Job& job, Message& out) {
        wire::encode(job, out.mutable_record());
        out.set_uid(job.spec->uid);
        out.set_gid(job.spec->gid);
        out.set_user(job.spec->user);
    }
    void to_node(const std::string& node, std::string frame, std::optional<JobId> job = {}) {
        sealed_.outbox.push_back(ToNode{.node = node, .frame = std::move(frame), .job = job});
    }
    void to_launch(const std::string& node, const StepKey& key, std::string frame) {
        if (frame.size() <= limits::kLaunchBytesMax) return to_node(node, std::move(frame));
        // The core has its say when this batch is sealed.
        c_.loop_.post([&c = c_, node, key, size = frame.size()] {
            c.give_up_launch(node, key, too_large_to_launch(size));
        });
    }
    // One whose srun has left is kept in the store too, until the step has ended.
    void keep_launch(const StepKey& key, const Bulk& launch) {
        const auto step = c_.cluster_->steps().find(key);
        if (step == c_.cluster_->steps().end() || step->second.end) return;
        c_.step_launches_[key] = launch;
        if (step->second.spec.detached) sealed_.batch.put_step_launch(key, launch);
        release_orphan(key);
    }
    void release_orphan(const StepKey& key) {
        const auto orphan = c_.orphans_.find(key);
        if (orphan == c_.orphans_.end()) return;
        for (const auto& [node, launch] : orphan->second.launches) {
            to_launch(node, key, launch_frame(launch, BulkKind::Step, *c_.step_launches_[key]));
        }
        c_.orphans_.erase(orphan);
    }

    Controller& c_;
    Sealed& sealed_;
    std::map<JobId, bool> has_names_;
};

void Controller::translate(const std::vector<core::Effect>& effects, Sealed& sealed) {
    EffectWriter writer(*this, sealed);
    // A step's command line must be in its place before the step is launched, whichever comes
    // first.
    for (const core::Effect& effect : effects) {
        const auto* reply = std::get_if<core::effect::Reply>(&effect);
        if (reply == nullptr || !std::holds_alternative<core::reply::StepMade>(reply->body))
            continue;
        if (Calls::Waiting* waiting = calls_.find(reply->token))
            writer.keep_held(reply->body, waiting->held);
    }
    for (const core::Effect& effect : effects) std::visit(writer, effect);
}

void Controller::carry_out(Outbox& outbox, const std::map<JobId, Bulk>& payloads) {
    for (Outgoing& outgoing : outbox) {
        if (auto* reply = std::get_if<ToCaller>(&outgoing)) {
            Session* session = sessions_.find(reply->session);
            if (session == nullptr) continue;
            if (reply->last) {
                calls_.finish(*session, reply->frame);
            } else {
                session->send(reply->frame);
            }
        } else if (auto* order = std::get_if<ToNode>(&outgoing)) {
            const bool sent = agents_.send(order->node, order->frame);
            log_.about(os::Log::Topic::Agent, "order of {} bytes to {}{}", order->frame.size(),
                       order->node, sent ? "" : ": its agent is away");
        } else if (auto* start = std::get_if<ToLaunch>(&outgoing)) {
            launch(*start, payloads);
        } else if (auto* mail = std::get_if<ToMail>(&outgoing)) {
            mailer_.send(config_.mail_prog, config_.mail_domain, *mail);
        } else if (auto* run = std::get_if<core::effect::RunTrigger>(&outgoing)) {
            trigger_programs_.run(*run, config_.path);
        } else if (auto* program = std::get_if<ToProgram>(&outgoing)) {
            job_programs_.run(config_, *program);
        } else if (auto* stop = std::get_if<core::effect::StopProgram>(&outgoing)) {
            job_programs_.stop(*stop);
        }
    }
}

LaunchContext Controller::launch_context() const {
    return {.config = config_, .names = names_, .addresses = addresses_, .cluster = *cluster_};
}

// Given again when the names are known, unless what it would start was ended by then.
void Controller::defer_launch(const model::Job& job, const std::string& node, const StepKey& key,
                              const core::Effect& order) {
    const std::pair place(node, key);
    if (!deferred_launches_.emplace(place, order).second) return;
    names_.when_known(names_for_launch(launch_context(), job), [this, place] {
        auto deferred = deferred_launches_.extract(place);
        if (deferred.empty()) return;
        held_effects_.push_back(std::move(deferred.mapped()));
        dirty_ = true;
        request_seal();
    });
}

void Controller::launch(const ToLaunch& order, const std::map<JobId, Bulk>& payloads) {
    Bulk bytes = payloads_.find(order.payload);
    if (bytes == nullptr) {
        const auto read = payloads.find(order.payload);
        if (read != payloads.end()) bytes = read->second;
        if (bytes != nullptr) payloads_.put(order.payload, bytes);
    }
    if (bytes == nullptr)
        return give_up_launch(order.node, order.key, "the batch script is not in the store");
    const std::string frame = launch_frame(order.launch, BulkKind::Job, *bytes);
    if (frame.size() > limits::kLaunchBytesMax)
        return give_up_launch(order.node, order.key, too_large_to_launch(frame.size()));
    agents_.send(order.node, frame);
}

void Controller::give_up_launch(const std::string& node, const StepKey& key,
                                const std::string& why) {
    log_.error("cannot launch {} on {}: {}", model::to_string(key), node, why);
    core::StepReport report;
    report.key = key;
    report.launch_error = why;
    step(core::event::StepEnded{.node = node, .report = std::move(report)});
}

void Controller::expect_step_launch(const std::string& node, const StepKey& key,
                                    std::string launch) {
    const auto [it, fresh] = orphans_.try_emplace(key);
    it->second.launches[node] = std::move(launch);
    if (!fresh) return;
    const Millis grace = cluster_->settings().owner_grace;
    it->second.timer = loop_.after(grace, [this, key] {
        const auto orphan = orphans_.find(key);
        if (orphan == orphans_.end()) return;
        const auto launches = std::move(orphan->second.launches);
        orphans_.erase(orphan);
        for (const auto& [where, unused] : launches) {
            give_up_launch(where, key, "its srun did not come back after the controller's restart");
        }
    });
}

}  // namespace switchyard::controller
