#include "cli/srun/step.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/random.h>
#include <unistd.h>

#include <climits>
#include <optional>

#include "cli/message.hpp"
#include "cli/submission/allocation.hpp"
#include "cli/submission/messages.hpp"
#include "options/parse.hpp"
#include "wire/codec.hpp"

namespace switchyard::cli {
namespace {

// The step before this one may be known to be over only in a moment: that is no waiting.
constexpr Millis kSilence{250};

std::uint64_t random_number() {
    std::uint64_t number = 0;
    while (number == 0) {
        if (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number))
            number = 0;
    }
    return number;
}

// For people who look for the srun of a step.
void name_origin(model::StepSpec& spec) {
    char host[HOST_NAME_MAX + 1] = {};
    if (::gethostname(host, HOST_NAME_MAX) == 0)
        spec.srun_host = std::string_view(host).substr(0, std::string_view(host).find('.'));
    spec.srun_pid = static_cast<std::uint32_t>(::getpid());
}

class StepMaker {
  public:
    StepMaker(io::Loop& loop, ControllerLink& link, const StepRequest& ask)
        : loop_(loop), link_(link), ask_(ask) {
        wire::CreateStepRequest* create = message_->mutable_create_step();
        create->set_job(ask.job.value);
        model::StepSpec spec = options::step_spec(ask.request, ask.alone);
        spec.submit_line = ask.request.job.submit_line;
        name_origin(spec);
        wire::encode(spec, create->mutable_spec());
        *create->mutable_launch() = ask.launch;
        create->set_nonce(random_number());
        for (const StepRequest::Part& part : ask.more) {
            wire::CreateStepRequest* more = create->add_more();
            more->set_job(part.job.value);
            model::StepSpec other = options::step_spec(part.request, ask.alone);
            name_origin(other);
            wire::encode(other, more->mutable_spec());
            *more->mutable_launch() = *part.launch;
        }
    }

    std::variant<MadeStep, NoStep> run() {
        const auto first = link_.call(*message_);
        if (!first) refused(first.error());
        if (first) take(*first);
        if (!result_) wait();
        return std::move(*result_);
    }

  private:
    void end(std::variant<MadeStep, NoStep> result) {
        if (!result_) result_ = std::move(result);
        if (waiting_) loop_.stop();
    }

    void wait() {
        waiting_ = true;
        for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
            signals_.push_back(loop_.on_signal(number, [this, number] { cancelled(number); }));
        }
        silence_ = loop_.after(kSilence, [this] {
            told_ = true;
            inform(ask_.request,
                   fmt::format("Job {} step creation temporarily disabled, retrying ({})",
                               ask_.job.value, errc_text(why_)));
        });
        if (const auto patience = ask_.request.ask.immediate_seconds) {
            immediate_ = loop_.after(Seconds{*patience},
                                     [this] { refused({why_, std::string(errc_text(why_))}); });
        }
        link_.listen(
            [this](const wire::Reply& reply) { take(reply); },
            [this] {
                if (ask_.alone) attach(link_, ask_.job);
                link_.send(*message_);  // The same nonce: it finds the step if there is one.
            });
        loop_.run();
        link_.stop_listening();
    }

    void take(const wire::Reply& reply) {
        if (reply.has_step_waits()) {
            why_ = static_cast<Errc>(reply.step_waits().code());
        } else if (reply.has_step_made()) {
            made(reply.step_made());
        } else if (reply.has_failure()) {
            refused(client::error_of(reply));
        } else if (reply.has_job_ended()) {
            refused({Errc::AllocationRevoked, std::string(errc_text(Errc::AllocationRevoked))});
        }
    }

    void made(const wire::StepMadeReply& reply) {
        auto step = wire::decode(reply.step());
        auto job = wire::decode(reply.job());
        if (!step || !job) return refused(step ? job.error() : step.error());
        if (told_)
            inform(ask_.request,
                   fmt::format("Step created for StepId={}", model::to_string(step->key)));
        MadeStep all{*std::move(step), *std::move(job), message_};
        for (const wire::StepMadeReply& part : reply.more()) {
            auto more_step = wire::decode(part.step());
            auto more_job = wire::decode(part.job());
            if (!more_step || !more_job)
                return refused(more_step ? more_job.error() : more_step.error());
            all.more.push_back({*std::move(more_step), *std::move(more_job)});
        }
        end(std::move(all));
    }

    void refused(const Error& error) {
        if (result_) return;
        if (!said_otherwise(error)) {
            say_error("srun", fmt::format("Unable to create step for job {}: {}", ask_.job.value,
                                          error.message));
        }
        const bool immediate = ask_.request.ask.immediate_seconds && error.code == Errc::NodesBusy;
        end(NoStep{immediate ? immediate_exit_code() : error_exit_code()});
    }

    // Some refusals have words of their own.
    bool said_otherwise(const Error& error) {
        if (error.code == Errc::InvalidJobId || error.code == Errc::JobFinished) {
            say_error("srun", fmt::format("Unable to confirm allocation for job {}: {}",
                                          ask_.job.value, error.message));
            say("srun",
                fmt::format("Check SLURM_JOB_ID environment variable. Expired or invalid job {}",
                            ask_.job.value));
            return true;
        }
        const auto wanted = message_->create_step().spec().has_nodes_min()
                                ? message_->create_step().spec().nodes_min()
                                : 0;
        const auto granted = wanted > 1 ? granted_nodes() : std::nullopt;
        if (!granted || *granted == 0 || wanted <= *granted) return false;
        say_error("srun", fmt::format("Only allocated {} nodes asked for {}", *granted, wanted));
        return true;
    }

    std::optional<std::size_t> granted_nodes() {
        wire::Request request;
        request.mutable_jobs()->mutable_filter()->add_jobs()->set_job(ask_.job.value);
        const auto reply = link_.call(request);
        if (!reply || reply->jobs().jobs().empty()) return std::nullopt;
        const auto job = wire::decode(reply->jobs().jobs(0));
        const model::Allocation* allocation = job ? allocation_of(*job) : nullptr;
        return allocation == nullptr ? std::nullopt : std::optional(allocation->nodes.size());
    }

    void cancelled(int number) {
        inform(ask_.request, fmt::format("Cancelled pending job step with signal {}", number));
        say_error("srun", fmt::format("Unable to create step for job {}: {}", ask_.job.value,
                                      errc_text(Errc::JobFinished)));
        end(NoStep{error_exit_code()});
    }

    io::Loop& loop_;
    ControllerLink& link_;
    const StepRequest& ask_;
    std::shared_ptr<wire::Request> message_ = std::make_shared<wire::Request>();
    Errc why_ = Errc::NodesBusy;
    bool told_ = false, waiting_ = false;
    std::optional<std::variant<MadeStep, NoStep>> result_;
    std::vector<io::Loop::Watch> signals_;
    io::Loop::Timer silence_, immediate_;
};

}  // namespace

std::variant<MadeStep, NoStep> make_step(io::Loop& loop, ControllerLink& link,
                                         const StepRequest& request) {
    return StepMaker(loop, link, request).run();
}

}  // namespace switchyard::cli
