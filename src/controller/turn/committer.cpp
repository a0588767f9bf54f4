#include "controller/turn/committer.hpp"

#include "controller/quiet_thread.hpp"

namespace switchyard::controller {
namespace {

constexpr Millis kLookForRoom{500};

// A submission is four rows, the end of a job with the start of the next a few more. More than this
// is worth a thread: others arrive meanwhile.
constexpr std::size_t kSmallBatch = 12;
// Less than it takes to go to another thread and back where cores are asleep; a disk that has to
// move or to ask a network takes longer.
constexpr std::chrono::microseconds kQuick{150};

}  // namespace

Committer::Committer(io::Loop& loop, std::unique_ptr<store::Store> store,
                     std::function<void(std::string)> full)
    : loop_(loop),
      store_(std::move(store)),
      full_(std::move(full)),
      thread_(start_quiet_thread([this] { run(); })) {}

Committer::~Committer() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
}

void Committer::commit(store::Batch batch, std::vector<JobId> wanted,
                       std::function<void(Outcome)> done) {
    Work work{std::move(batch), std::move(wanted), std::move(done)};
    if (write_here(work)) return;
    {
        const std::lock_guard lock(mutex_);
        SY_ASSERT(!work_);
        work_ = std::move(work);
    }
    wake_.notify_one();
}

bool Committer::write_here(Work& work) {
    if (!usual_ || *usual_ > kQuick || work.batch.size() > kSmallBatch || !work.wanted.empty()) {
        return false;
    }
    const auto begin = std::chrono::steady_clock::now();
    const Result<bool> written = store_->try_commit(work.batch);
    if (written ? !*written : written.error().code == store::kFull) return false;
    learn(work.batch, begin);
    Outcome outcome{.status = written ? Status() : Status(Failure{written.error()}),
                    .payloads = {},
                    .purge_is_due = false};
    loop_.defer([done = std::move(work.done), outcome = std::move(outcome)]() mutable {
        done(std::move(outcome));
    });
    return true;
}

void Committer::learn(const store::Batch& batch, std::chrono::steady_clock::time_point begin) {
    if (batch.size() > kSmallBatch) return;
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
    usual_ = (usual_.value_or(took) * 7 + took) / 8;
}

void Committer::run() {
    for (;;) {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return work_ || stopping_; });
        if (!work_) return;
        // Kept aside, not in work_: the owner may hand over the next batch as soon as it hears of
        // this one.
        auto work = std::make_shared<Work>(std::move(*work_));
        work_.reset();
        left_out_.clear();
        lock.unlock();

        const auto begin = std::chrono::steady_clock::now();
        auto outcome = std::make_shared<Outcome>(carry_out(*work));
        learn(work->batch, begin);
        // Given up while it waited for room: whoever would hear of it is on its way out.
        if (!outcome->status && outcome->status.error().code == store::kFull) return;
        loop_.post([work, outcome] { work->done(std::move(*outcome)); });
    }
}

void Committer::leave_out(std::vector<JobId> jobs) {
    const std::lock_guard lock(mutex_);
    left_out_.insert(left_out_.end(), jobs.begin(), jobs.end());
}

Status Committer::commit_when_there_is_room(store::Batch& batch) {
    for (bool first = true;; first = false) {
        Status status = store_->commit(batch);
        if (status || status.error().code != store::kFull) return status;
        if (first) loop_.post([this, why = status.error().message] { full_(why); });
        std::unique_lock lock(mutex_);
        if (wake_.wait_for(lock, kLookForRoom, [this] { return stopping_; })) return status;
        store::leave_out(batch, std::exchange(left_out_, {}));
    }
}

Committer::Outcome Committer::carry_out(Work& work) {
    Outcome outcome{
        .status = commit_when_there_is_room(work.batch), .payloads = {}, .purge_is_due = false};
    outcome.purge_is_due = work.batch.purge && store_->purge_is_due();
    if (!outcome.status) return outcome;
    for (const JobId job : work.wanted) {
        auto found = store_->payload(job);
        if (!found) {
            outcome.status = Failure{found.error()};
            return outcome;
        }
        Bulk bytes;
        if (*found) bytes = std::make_shared<const std::string>(std::move(**found));
        outcome.payloads.emplace(job, std::move(bytes));
    }
    return outcome;
}

}  // namespace switchyard::controller
