// Goal: commands reach a controller wherever it is, get its answers as values and its failures as
// errors, and survive its restart where that is safe. Method: a small server on a thread of its
// own, on a real unix socket in a temporary folder; a script of what it answers.
#include "client/client.hpp"

#include <gmock/gmock.h>
#include <poll.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "wire/channel.hpp"
#include "wire/codec.hpp"

namespace switchyard::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// What to answer: replies without id (it is filled in); none: hang up.
using Answer = std::function<std::vector<wire::Reply>(const wire::Request&)>;

class FakeController {
  public:
    FakeController(std::string path, Answer answer) : answer_(std::move(answer)) {
        auto made = wire::Listener::on_unix(loop_, path, 0600,
                                            [this](io::Fd socket) { accept(std::move(socket)); });
        EXPECT_TRUE(made) << made.error().message;
        listener_ = *std::move(made);
        thread_ = std::thread([this] { loop_.run(); });
    }
    ~FakeController() {
        loop_.stop();
        thread_.join();
    }
    std::vector<wire::Request> requests() {
        const std::lock_guard lock(mutex_);
        return requests_;
    }

  private:
    void accept(io::Fd socket) {
        const std::size_t index = channels_.size();
        channels_.push_back(wire::Channel::adopt(
            loop_, std::move(socket), wire::kControllerToClient,
            {.on_frame = [this, index](std::string_view frame) { serve(index, frame); },
             .on_close = {},
             .on_ready = {}}));
    }
    void serve(std::size_t index, std::string_view frame) {
        wire::Request request;
        EXPECT_TRUE(request.ParseFromArray(frame.data(), static_cast<int>(frame.size())));
        {
            const std::lock_guard lock(mutex_);
            requests_.push_back(request);
        }
        std::vector<wire::Reply> replies = answer_(request);
        for (wire::Reply& reply : replies) {
            if (reply.id() == 0) reply.set_id(request.id());
            channels_[index]->send(reply.SerializeAsString());
        }
        if (replies.empty()) channels_[index]->close();
    }

    Answer answer_;
    io::Loop loop_;
    std::unique_ptr<wire::Listener> listener_;
    std::vector<std::unique_ptr<wire::Channel>> channels_;
    std::mutex mutex_;
    std::vector<wire::Request> requests_;
    std::thread thread_;
};

class ClientTest : public testing::Test {
  protected:
    ClientTest() {
        char name[] = "/tmp/sy-client-XXXXXX";
        config_.run_dir = ::mkdtemp(name);
        config_.controller_pid_file = config_.run_dir + "/slurmctld.pid";
    }
    ~ClientTest() override { std::filesystem::remove_all(config_.run_dir); }

    void serve(Answer answer) {
        controller_ =
            std::make_unique<FakeController>(config_.controller_socket(), std::move(answer));
    }
    Connection connect() {
        auto made = Connection::open(config_, "sbatch");
        EXPECT_TRUE(made) << made.error().message;
        return *std::move(made);
    }
    // As after kill -9: the file is there, nobody listens.
    void leave_stale_socket() const {
        io::Loop loop;
        const std::string kept = config_.run_dir + "/kept";
        {
            auto listener =
                wire::Listener::on_unix(loop, config_.controller_socket(), 0600, [](io::Fd) {});
            ASSERT_TRUE(listener);
            std::filesystem::create_hard_link(config_.controller_socket(), kept);
        }
        std::filesystem::rename(kept, config_.controller_socket());
    }

    config::Config config_;
    std::unique_ptr<FakeController> controller_;
};

wire::Reply submitted(std::uint32_t job) {
    wire::Reply reply;
    reply.mutable_submitted()->set_job(job);
    reply.set_last(true);
    return reply;
}
wire::Reply failure(Errc code, const std::string& message, const std::string& note = "") {
    wire::Reply reply;
    reply.mutable_failure()->set_code(static_cast<std::uint32_t>(code));
    reply.mutable_failure()->set_message(message);
    if (!note.empty()) reply.mutable_failure()->add_notes(note);
    reply.set_last(true);
    return reply;
}
model::Job job_with_id(std::uint32_t id) {
    model::Job job;
    job.id = JobId{id};
    job.spec = std::make_shared<const model::JobSpec>();
    return job;
}
model::JobSelector selector(std::uint32_t id) {
    model::JobSelector made;
    made.job = JobId{id};
    return made;
}
wire::Reply jobs_chunk(std::uint32_t first, std::uint32_t count, bool last) {
    wire::Reply reply;
    for (std::uint32_t i = 0; i < count; ++i)
        wire::encode(job_with_id(first + i), reply.mutable_jobs()->add_jobs());
    reply.mutable_jobs()->set_now(1000 + first);
    reply.set_last(last);
    return reply;
}

TEST_F(ClientTest, SaysAtOnceThatThereIsNoCluster) {
    const auto start = std::chrono::steady_clock::now();
    const auto connection = Connection::open(config_, "sbatch");
    ASSERT_FALSE(connection);
    EXPECT_EQ(connection.error().code, Errc::Unreachable);
    EXPECT_EQ(connection.error().message, "Unable to contact slurm controller (connect failure)");
    // The pid file of a controller that is gone is no reason to wait.
    std::ofstream(config_.controller_pid_file) << "999999999\n";
    EXPECT_FALSE(Connection::open(config_, "sbatch"));
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds{1});
}

TEST_F(ClientTest, IntroducesItselfOnceAndNumbersItsRequests) {
    serve([](const wire::Request&) { return std::vector{submitted(7)}; });
    Connection connection = connect();
    wire::Request first, second;
    first.mutable_submit();
    second.mutable_ping();
    const auto reply = connection.call(first);
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->submitted().job(), 7u);
    ASSERT_TRUE(connection.call(second));
    const auto requests = controller_->requests();
    ASSERT_EQ(requests.size(), 2u);
    EXPECT_EQ(requests[0].protocol(), wire::kProtocol);
    EXPECT_EQ(requests[0].command(), "sbatch");
    EXPECT_NE(requests[0].submit().nonce(), 0u);
    EXPECT_EQ(requests[1].protocol(), 0u);
    EXPECT_NE(requests[0].id(), requests[1].id());
}

TEST_F(ClientTest, TurnsAFailureIntoAnErrorAndKeepsItsNotes) {
    serve([](const wire::Request&) {
        return std::vector{
            failure(Errc::InvalidPartition, "invalid partition specified: gpu", "try: debug")};
    });
    Connection connection = connect();
    wire::Request request;
    request.mutable_submit();
    const auto reply = connection.call(request);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error(), (Error{Errc::InvalidPartition, "invalid partition specified: gpu"}));
    EXPECT_THAT(connection.last_notes(), ElementsAre("try: debug"));
}

TEST_F(ClientTest, GivesAFailureWithoutWordsThoseOfItsCode) {
    serve([](const wire::Request&) { return std::vector{failure(Errc::InvalidJobId, "")}; });
    Connection connection = connect();
    wire::Request request;
    request.mutable_ping();
    EXPECT_EQ(connection.call(request).error().message, "Invalid job id specified");
}

TEST_F(ClientTest, AConnectionRefusedForItsVersionIsAClearError) {
    serve([](const wire::Request&) {
        wire::Reply reply = failure(Errc::ProtocolVersion, "");
        reply.set_id(999);  // Another's: it must not be taken for ours.
        return std::vector{std::move(reply), failure(Errc::ProtocolVersion, "")};
    });
    Connection connection = connect();
    wire::Request request;
    request.mutable_ping();
    EXPECT_EQ(connection.call(request).error().message,
              "Incompatible versions of client and server code");
}

TEST_F(ClientTest, StreamsJobsChunkByChunk) {
    serve([](const wire::Request& request) {
        EXPECT_EQ(request.jobs().filter().uids(0), 42u);
        EXPECT_TRUE(request.jobs().hidden_partitions());
        return std::vector{jobs_chunk(1, 1000, false), jobs_chunk(1001, 1000, false),
                           jobs_chunk(2001, 1, true)};
    });
    Connection connection = connect();
    JobsQuery query;
    query.filter.uids = {42};
    query.hidden_partitions = true;
    std::size_t largest = 0, last = 0;
    ASSERT_TRUE(query_jobs(connection, query, [&](const JobsChunk& chunk) {
        largest = std::max(largest, chunk.jobs.size());
        for (const model::Job& job : chunk.jobs) EXPECT_EQ(job.id.value, ++last);
    }));
    EXPECT_EQ(last, 2001u);
    EXPECT_LT(largest, 1000u) << "a reply is handed on in parts";
    const auto all = fetch_jobs(connection, query);
    ASSERT_TRUE(all);
    ASSERT_EQ(all->jobs.size(), 2001u);
    EXPECT_EQ(all->jobs.back().id, JobId{2001});
    EXPECT_EQ(all->now, Instant{Millis{3001}});
}

TEST_F(ClientTest, ListsJobsOneByOneInOrder) {
    serve([](const wire::Request& request) {
        EXPECT_TRUE(request.jobs().brief());
        wire::Reply other = submitted(7);
        other.set_id(999);  // Another's: it is kept.
        return std::vector{jobs_chunk(1, 1000, false), jobs_chunk(1001, 1000, false),
                           std::move(other), jobs_chunk(2001, 1, true)};
    });
    Connection connection = connect();
    JobsQuery query;
    query.brief = true;
    std::uint32_t last = 0;
    Instant latest{};
    ASSERT_TRUE(list_jobs(connection, query, [&](const model::Job& job, Instant now) {
        EXPECT_EQ(job.id.value, ++last);
        latest = now;
    }));
    EXPECT_EQ(last, 2001u);
    EXPECT_EQ(latest, Instant{Millis{3001}});
    EXPECT_TRUE(connection.has_buffered_reply());
}

TEST_F(ClientTest, AListThatWasLostBeforeItBeganIsAskedForAgain) {
    bool lost = false;
    serve([&](const wire::Request&) {
        if (!std::exchange(lost, true)) return std::vector<wire::Reply>{};
        return std::vector{jobs_chunk(1, 2, true)};
    });
    Connection connection = connect();
    std::uint32_t last = 0;
    ASSERT_TRUE(list_jobs(
        connection, {}, [&](const model::Job& job, Instant) { EXPECT_EQ(job.id.value, ++last); }));
    EXPECT_EQ(last, 2u);
    EXPECT_EQ(controller_->requests().size(), 2u);
}

TEST_F(ClientTest, AListThatIsRefusedOrSomethingElseIsAnError) {
    bool refused = true;
    serve([&](const wire::Request&) {
        return std::vector{std::exchange(refused, false)
                               ? failure(Errc::InvalidJobId, "no such job", "look again")
                               : submitted(7)};
    });
    Connection connection = connect();
    const auto list = [&] {
        return list_jobs(connection, {}, [](const model::Job&, Instant) { FAIL(); });
    };
    const Status first = list();
    ASSERT_FALSE(first);
    EXPECT_EQ(first.error().code, Errc::InvalidJobId);
    EXPECT_EQ(first.error().message, "no such job");
    EXPECT_EQ(connection.last_notes(), std::vector<std::string>{"look again"});
    const Status second = list();
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::ProtocolVersion);
    EXPECT_TRUE(connection.last_notes().empty());
}

TEST_F(ClientTest, AFailureInTheMiddleOfAListIsAnError) {
    serve([](const wire::Request&) {
        return std::vector{jobs_chunk(1, 2, false), failure(Errc::Busy, "enough")};
    });
    Connection connection = connect();
    const auto all = fetch_jobs(connection, {});
    ASSERT_FALSE(all);
    EXPECT_EQ(all.error().message, "enough");
    const Status listed = list_jobs(connection, {}, [](const model::Job&, Instant) {});
    ASSERT_FALSE(listed);
    EXPECT_EQ(listed.error().message, "enough");
}

TEST_F(ClientTest, KeepsRepliesToOtherRequestsForLater) {
    serve([](const wire::Request& request) {
        if (request.has_wait()) return std::vector{submitted(0)};
        wire::Reply notice;
        notice.set_id(1);
        notice.mutable_job_ended()->set_job(5);
        return std::vector{std::move(notice), submitted(8)};
    });
    Connection connection = connect();
    wire::Request wait, submit;
    wait.mutable_wait()->set_job(5);
    const auto id = connection.send(wait);
    ASSERT_TRUE(id);
    ASSERT_TRUE(connection.receive());
    submit.mutable_submit();
    const auto reply = connection.call(submit);
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->submitted().job(), 8u);
    EXPECT_TRUE(connection.has_buffered_reply());
    const auto late = connection.receive(Millis{0});
    ASSERT_TRUE(late);
    EXPECT_EQ(late->id(), *id);
    EXPECT_EQ(late->job_ended().job(), 5u);
    EXPECT_FALSE(connection.has_buffered_reply());
}

TEST_F(ClientTest, ReceiveGivesUpAfterItsTimeAndTellsOfBufferedReplies) {
    serve([](const wire::Request&) { return std::vector{submitted(1), submitted(2)}; });
    Connection connection = connect();
    EXPECT_EQ(connection.receive(Millis{5}).error().code, Errc::Timeout);
    wire::Request request;
    request.mutable_ping();
    ASSERT_TRUE(connection.send(request));
    pollfd one{.fd = connection.fd(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&one, 1, 5000), 1);
    ASSERT_TRUE(connection.receive());
    const auto second = connection.receive(Millis{5000});
    ASSERT_TRUE(second);
    EXPECT_EQ(second->submitted().job(), 2u);
}

TEST_F(ClientTest, GoesThroughAnAgentOfThisHost) {
    const FakeController agent(config_.agent_socket("n1"),
                               [](const wire::Request&) { return std::vector{submitted(9)}; });
    Connection connection = connect();
    wire::Request request;
    request.mutable_submit();
    const auto reply = connection.call(request);
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->submitted().job(), 9u);
}

TEST_F(ClientTest, WaitsForAControllerThatIsRestarting) {
    leave_stale_socket();
    std::thread restart([this] {
        std::this_thread::sleep_for(Millis{100});
        serve([](const wire::Request&) { return std::vector{submitted(3)}; });
    });
    Connection connection = connect();
    restart.join();
    wire::Request request;
    request.mutable_submit();
    EXPECT_TRUE(connection.call(request));
}

TEST_F(ClientTest, WaitsForAControllerThatHasNotYetOpenedItsSocket) {
    std::ofstream(config_.controller_pid_file) << ::getpid() << "\n";
    std::thread start([this] {
        std::this_thread::sleep_for(Millis{100});
        serve([](const wire::Request&) { return std::vector{submitted(3)}; });
    });
    connect();
    start.join();
}

TEST_F(ClientTest, SubmitsAgainWithTheSameNonceWhenTheAnswerWasLost) {
    std::atomic<int> calls = 0;
    serve([&](const wire::Request&) {
        return ++calls == 1 ? std::vector<wire::Reply>{} : std::vector{submitted(11)};
    });
    Connection connection = connect();
    wire::Request request;
    request.mutable_submit();
    const auto reply = connection.call(request);
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(reply->submitted().job(), 11u);
    const auto requests = controller_->requests();
    ASSERT_EQ(requests.size(), 2u);
    EXPECT_EQ(requests[0].submit().nonce(), requests[1].submit().nonce());
    EXPECT_EQ(requests[1].protocol(), wire::kProtocol);
}

TEST_F(ClientTest, DoesNotRepeatWhatMayHaveBeenDone) {
    serve([](const wire::Request&) { return std::vector<wire::Reply>{}; });
    Connection connection = connect();
    const auto answer = signal_jobs(connection, {}, {.signal = 10});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Errc::Unreachable);
    EXPECT_EQ(controller_->requests().size(), 1u);
}

TEST_F(ClientTest, BulkRequestsTellWhatWentWrongForWhichJob) {
    serve([](const wire::Request& request) {
        EXPECT_TRUE(request.has_hold());
        EXPECT_TRUE(request.hold().hold());
        EXPECT_EQ(request.hold().jobs_size(), 2);
        wire::Reply reply;
        reply.mutable_done()->set_matched(1);
        reply.mutable_done()->add_touched("12");
        wire::Problem* problem = reply.mutable_done()->add_problems();
        problem->set_job("13_4");
        problem->set_code(static_cast<std::uint32_t>(Errc::JobFinished));
        return std::vector{std::move(reply)};
    });
    Connection connection = connect();
    const auto answer = hold_jobs(connection, {selector(12), selector(13)}, true, false);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->matched, 1u);
    EXPECT_THAT(answer->touched, ElementsAre("12"));
    ASSERT_EQ(answer->problems.size(), 1u);
    EXPECT_EQ(answer->problems[0].job, "13_4");
    EXPECT_EQ(answer->problems[0].code, Errc::JobFinished);
}

TEST_F(ClientTest, EveryChangeIsSentAsItsOwnRequest) {
    serve([](const wire::Request&) {
        wire::Reply reply;
        reply.mutable_done();
        return std::vector{std::move(reply)};
    });
    Connection connection = connect();
    const std::vector<model::JobSelector> jobs = {selector(1)};
    model::JobUpdate update;
    update.name = "new";
    model::NodeUpdate drain;
    drain.nodes = {"n1"};
    drain.verb = model::NodeVerb::Drain;
    model::PartitionUpdate change;
    change.name = "debug";
    EXPECT_TRUE(update_jobs(connection, jobs, update));
    EXPECT_TRUE(requeue_jobs(connection, jobs, {.hold = true, .incomplete_only = true}));
    EXPECT_TRUE(suspend_jobs(connection, jobs, true));
    EXPECT_TRUE(top_jobs(connection, jobs));
    EXPECT_TRUE(update_nodes(connection, drain));
    EXPECT_TRUE(update_partition(connection, change));
    model::JobFilter filter;
    filter.names = {"a"};
    filter.states = {model::JobState::Running};
    EXPECT_TRUE(signal_jobs(connection, filter,
                            {.signal = 9, .batch_only = true, .full = true, .hurry = true}));
    const auto requests = controller_->requests();
    ASSERT_EQ(requests.size(), 7u);
    EXPECT_EQ(requests[0].update_job().update().name(), "new");
    EXPECT_TRUE(requests[1].requeue().hold() && requests[1].requeue().incomplete_only());
    EXPECT_TRUE(requests[2].suspend().resume());
    EXPECT_EQ(requests[3].top().jobs(0).job(), 1u);
    EXPECT_EQ(requests[4].update_node().nodes(0), "n1");
    EXPECT_EQ(requests[5].update_partition().name(), "debug");
    EXPECT_EQ(requests[6].signal().filter().names(0), "a");
    EXPECT_EQ(requests[6].signal().filter().states(0),
              static_cast<std::uint32_t>(model::JobState::Running));
    EXPECT_TRUE(requests[6].signal().batch_only() && requests[6].signal().full() &&
                requests[6].signal().hurry());
}

TEST_F(ClientTest, FetchesNodesAndPartitions) {
    serve([](const wire::Request& request) {
        wire::Reply reply;
        if (request.has_nodes()) {
            EXPECT_EQ(request.nodes().names(0), "n1");
            model::Node node;
            node.config.name = "n1";
            wire::encode(node, reply.mutable_nodes()->add_nodes());
            reply.mutable_nodes()->set_now(5);
        } else {
            model::Partition partition;
            partition.name = "debug";
            wire::encode(partition, reply.mutable_partitions()->add_partitions());
        }
        reply.set_last(true);
        return std::vector{std::move(reply)};
    });
    Connection connection = connect();
    const auto nodes = fetch_nodes(connection, {"n1"});
    ASSERT_TRUE(nodes);
    EXPECT_EQ(nodes->nodes.at(0).config.name, "n1");
    EXPECT_EQ(nodes->now, Instant{Millis{5}});
    const auto partitions = fetch_partitions(connection);
    ASSERT_TRUE(partitions);
    EXPECT_EQ(partitions->at(0).name, "debug");
}

TEST_F(ClientTest, AnAnswerOfAnotherKindIsAnErrorAndNoCrash) {
    serve([](const wire::Request&) { return std::vector{submitted(1)}; });
    Connection connection = connect();
    EXPECT_EQ(fetch_nodes(connection).error().code, Errc::ProtocolVersion);
    EXPECT_EQ(hold_jobs(connection, {}, true, false).error().code, Errc::ProtocolVersion);
}

}  // namespace
}  // namespace switchyard::client
