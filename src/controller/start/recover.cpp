// recover.cpp: the records become a cluster again.
#include "controller/start/opened.hpp"
#include "wire/job_folding.hpp"

namespace switchyard::controller {
namespace {

core::Records to_records(store::Loaded loaded) {
    core::Records records;
    static_cast<model::RecordLists&>(records) = std::move(loaded);
    records.next_job_id = loaded.next_job_id.value_or(JobId{0});
    records.next_reservation_id = loaded.next_reservation_id.value_or(0);
    return records;
}

}  // namespace

Result<Recovered> recover(const Opened& opened, Instant now, os::Log& log) {
    store::Store& store = *opened.store;
    WhatNow& what_now = *opened.what_now;
    SY_TRY(store::Loaded loaded, store.load());
    Recovered out{.cluster = nullptr,
                  .step_launches = std::move(loaded.step_launches),
                  .ended_well = loaded.ended_well,
                  .restored = loaded.restored};
    const std::size_t nodes = loaded.nodes.size();
    const std::uint64_t epoch = loaded.epoch;
    const Instant ended_since = now - opened.settings.min_job_age;
    core::Records records = to_records(std::move(loaded));
    Status status;
    const WhatNow::At at(what_now, "loading the records");
    records.jobs = [&](const core::Records::TakeJob& take) {
        status = store.load_jobs(ended_since, [&](model::Job job, std::vector<model::Step> steps) {
            what_now.set("loading the record", job.id);
            take(std::move(job), std::move(steps));
        });
        what_now.set("putting the records together", {});
    };
    out.cluster =
        std::make_unique<core::Cluster>(opened.settings, std::move(records), now,
                                        core::JobKeeping{.folding = wire::make_job_folding()});
    if (!status) return Failure{status.error()};
    log.info("Recovered state of {} jobs, {} steps, {} nodes (epoch {})",
             out.cluster->jobs().size(), out.cluster->steps().size(), nodes, epoch);
    if (out.restored) log.info("The records are a restored backup: nodes are asked what they ran");
    return out;
}

}  // namespace switchyard::controller
