#include "cli/submission/allocation.hpp"

#include <fmt/format.h>
#include <signal.h>

#include "cli/message.hpp"
#include "cli/submission/messages.hpp"
#include "model/hostlist.hpp"
#include "wire/codec.hpp"

namespace switchyard::cli {
namespace {

// A job that starts within this time was not "queued and waiting".
constexpr Millis kSilence{150};

Result<Allocated> read_granted(const wire::GrantedReply& reply) {
    SY_TRY(model::Job job, wire::decode(reply.job()));
    Allocated allocated{std::move(job)};
    for (const wire::Job& each : reply.more()) {
        SY_TRY(model::Job component, wire::decode(each));
        allocated.more.push_back(std::move(component));
    }
    return allocated;
}

class Wait {
  public:
    Wait(io::Loop& loop, ControllerLink& link, const options::JobRequest& request, JobId job,
         std::vector<std::string> notes)
        : loop_(loop), link_(link), request_(request), job_(job), notes_(std::move(notes)) {}

    std::variant<Allocated, NoAllocation> run() {
        for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
            signals_.push_back(loop_.on_signal(signal, [this] { give_up(error_exit_code()); }));
        }
        silence_ = loop_.after(kSilence, [this] { say_that_it_waits(); });
        const std::uint32_t patience = request_.ask.immediate_seconds.value_or(0);
        if (patience > 1)
            immediate_ = loop_.after(Seconds{patience}, [this] { run_out_of_patience(); });
        link_.listen([this](const wire::Reply& reply) { take(reply); },
                     [this] { attach(link_, job_); });
        loop_.run();
        link_.stop_listening();
        return std::move(*result_);
    }

  private:
    void end(std::variant<Allocated, NoAllocation> result) {
        if (!result_) result_ = std::move(result);
        loop_.stop();
    }

    void say_that_it_waits() {
        waited_ = true;
        for (const std::string& note : notes_) inform(request_, note);
        if (request_.command == options::Command::Salloc) {
            inform(request_, fmt::format("Pending job allocation {}", job_.value));
        }
        inform(request_, fmt::format("job {} queued and waiting for resources", job_.value));
    }

    void take(const wire::Reply& reply) {
        if (reply.has_granted()) {
            auto granted = read_granted(reply.granted());
            if (!granted) {
                say_error(to_string(request_.command), granted.error().message);
                return end(NoAllocation{error_exit_code()});
            }
            if (waited_ && !configuring_)
                inform(request_, fmt::format("job {} has been allocated resources", job_.value));
            if (model::state_of(granted->job) == model::JobState::Configuring)
                return say_that_it_is_configured();
            granted->announced = configuring_;
            return end(*std::move(granted));
        }
        if (reply.has_failure()) {
            const Error error = client::error_of(reply);
            const auto& notes = reply.failure().notes();
            return end(NoAllocation{submission_failed(
                request_.command, error, std::vector<std::string>(notes.begin(), notes.end()))});
        }
        if (reply.has_owner_notice() && !reply.owner_notice().text().empty())
            return say(to_string(request_.command), reply.owner_notice().text());
        if (reply.has_job_ended()) {
            inform(request_, fmt::format("Job allocation {} has been revoked", job_.value));
            end(NoAllocation{error_exit_code()});
        }
    }

    // It has its nodes, and the site prepares them.
    void say_that_it_is_configured() {
        if (std::exchange(configuring_, true)) return;
        silence_ = {};
        immediate_ = {};
        if (request_.command != options::Command::Salloc)
            return explain(request_, "Waiting for resource configuration");
        inform(request_, fmt::format("Granted job allocation {}", job_.value));
        inform(request_, "Waiting for resource configuration");
    }

    // The request is taken back before we leave, so that nothing is granted to nobody.
    void give_up(int exit_code) {
        if (!waited_ && !configuring_) say_that_it_waits();
        wire::Request request;
        wire::JobSelector* selector = request.mutable_signal()->mutable_filter()->add_jobs();
        selector->set_job(job_.value);
        if (!link_.call(request)) {
            // Nobody to tell: the controller takes it back when its owner does not return.
        }
        inform(request_, fmt::format("Job allocation {} has been revoked", job_.value));
        end(NoAllocation{exit_code});
    }

    void run_out_of_patience() {
        submission_failed(request_.command, {Errc::ImmediateFailed, "Connection timed out"}, {});
        give_up(immediate_exit_code());
    }

    io::Loop& loop_;
    ControllerLink& link_;
    const options::JobRequest& request_;
    JobId job_;
    std::vector<std::string> notes_;
    bool waited_ = false, configuring_ = false;
    std::optional<std::variant<Allocated, NoAllocation>> result_;
    std::vector<io::Loop::Watch> signals_;
    io::Loop::Timer silence_, immediate_;
};

}  // namespace

void attach(ControllerLink& link, JobId job) {
    wire::Request request;
    request.mutable_attach()->set_job(job.value);
    link.send(request);
}

std::string node_list(const model::Job& job) {
    const model::Allocation* allocation = allocation_of(job);
    return allocation == nullptr ? "" : model::compress_hostlist(allocation->node_names());
}

std::variant<Allocated, NoAllocation> obtain_allocation(
    io::Loop& loop, ControllerLink& link, const options::JobRequest& request,
    const std::vector<const options::JobRequest*>& components) {
    wire::Request message;
    wire::encode(request.job, message.mutable_submit()->mutable_spec());
    for (const options::JobRequest* component : components)
        wire::encode(component->job, message.mutable_submit()->add_components());
    const auto reply = link.call(message);
    if (!reply)
        return NoAllocation{submission_failed(request.command, reply.error(), link.last_notes())};
    if (reply->has_granted()) {
        if (auto granted = read_granted(reply->granted())) return *std::move(granted);
    }
    if (!reply->has_submitted()) {
        return NoAllocation{
            submission_failed(request.command, {Errc::Internal, "unexpected answer"}, {})};
    }
    return Wait(loop, link, request, JobId{reply->submitted().job()}, link.last_notes()).run();
}

}  // namespace switchyard::cli
