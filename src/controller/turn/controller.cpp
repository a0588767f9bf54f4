// controller.cpp: the turn: step, seal, commit, carry out. See controller.hpp for the idea.
#include "controller/turn/controller.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "controller/start/log_settings.hpp"
#include "controller/start/settings.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::controller {

void Controller::step(core::Event event) {
    now_ = now();
    const EventNote note = note_of(event);
    const WhatNow::At at(*what_now_, note.what, note.job);
    cluster_->step(now_, event);
    dirty_ = true;
    request_seal();
}

// Not at once: what else arrived in this turn of the loop belongs to the same batch.
void Controller::request_seal() {
    if (seal_posted_ || committing_) return;
    seal_posted_ = true;
    loop_.defer([this] {
        seal_posted_ = false;
        seal();
    });
}

void Controller::seal() {
    if (committing_ || stopping_ || !dirty_) return;
    dirty_ = false;
    now_ = now();
    const WhatNow::At at(*what_now_, "the timers and the schedule");
    Sealed sealed;
    if (const auto due = cluster_->next_wakeup(); due && *due <= now_)
        cluster_->step(now_, core::event::Tick{});
    const std::uint64_t backfills = cluster_->figures().backfill_cycles;
    const auto begin = std::chrono::steady_clock::now();
    cluster_->schedule(now_);
    figures_.add_cycle(std::chrono::duration_cast<std::chrono::microseconds>(
                           std::chrono::steady_clock::now() - begin),
                       cluster_->figures().backfill_cycles != backfills, now_);
    const core::Changes& changes = seal_changes(sealed);
    std::vector<core::Effect> effects = std::exchange(held_effects_, {});
    std::ranges::move(cluster_->take_effects(), std::back_inserter(effects));
    translate(effects, sealed);
    drop_payloads(changes, sealed.batch);
    sealed.batch.purge = std::exchange(purge_, std::nullopt);
    if (restoring_ && !cluster_->restoring()) {
        restoring_ = false;
        sealed.batch.restore_is_over = true;
    }
    arm_wakeup();
    // Nothing to write and nothing to read: it can go out now, since nothing older is under way.
    if (sealed.batch.empty() && sealed.wanted.empty()) return carry_out(sealed.outbox, {});
    committing_ = true;
    committing_changes_ = std::move(sealed.changes);
    committing_outbox_ = std::move(sealed.outbox);
    committer_.commit(std::move(sealed.batch), std::move(sealed.wanted),
                      [this](Committer::Outcome outcome) { on_committed(std::move(outcome)); });
}

void Controller::on_committed(Committer::Outcome outcome) {
    committing_ = false;
    if (std::exchange(store_full_, false)) {
        if (outcome.status) log_.info("there is room on the disk again: going on");
        durable_.end();
    }
    if (!outcome.status) {
        // What we would answer now is not on disk. Say nothing; the callers ask again when we are
        // back.
        log_.error("fatal: {}", outcome.status.error().message);
        exit_code_ = 1;
        stopping_ = true;
        return loop_.stop();
    }
    if (outcome.purge_is_due) purge();
    Outbox outbox = std::exchange(committing_outbox_, {});
    carry_out(outbox, outcome.payloads);
    if (stopping_) {
        stopping_ = false;
        return stop();
    }
    seal();
}

// The batch stays with the committer, which tries again. Meanwhile what is on disk is told to those
// who ask, nothing new is taken in, and nothing is acknowledged.
void Controller::on_store_full(const std::string& why) {
    if (!committing_) return;
    store_full_ = true;
    log_.error("{}: waiting for room, nothing is acknowledged until then", why);
    durable_.begin(committing_changes_);
    refuse_unwritten();
    if (!stopping_) return;
    stopping_ = false;
    stop();
}

void Controller::arm_wakeup() {
    const auto due = cluster_->next_wakeup();
    if (!due) {
        wakeup_ = {};
        return;
    }
    wakeup_ = loop_.at(*due, [this] {
        dirty_ = true;
        request_seal();
    });
}

void Controller::stop() {
    if (stopping_) return;
    stopping_ = true;
    // on_committed comes back here. What waits for room was promised to nobody.
    if (committing_ && !store_full_) return;
    log_.info("Terminate signal (SIGINT or SIGTERM) or shutdown request received: stopping");
    agents_.close_all();
    sessions_.close_all();
    loop_.stop();
}

// The answer to whoever asked for it leaves first.
void Controller::abort() {
    log_.error("Abort asked for: ending at once");
    abort_timer_ = loop_.after(Millis{20}, [] { std::abort(); });
}

Status Controller::reconfigure(std::optional<core::Token> token) {
    auto fresh = config::load_config(config_.path);
    if (!fresh) {
        log_.error("reconfigure: {}", fresh.error().message);
        return Failure{fresh.error()};
    }
    auto settings = to_settings(*fresh, slurm_user_);
    if (!settings) {
        log_.error("reconfigure: {}", settings.error().message);
        return Failure{settings.error()};
    }
    for (const config::Config::Notice& notice : fresh->notices)
        log_.info("{}: {}", notice.where, notice.text);
    // Where state and sockets are, and who we are, cannot change under a running controller.
    fresh->state_dir = config_.state_dir;
    fresh->run_dir = config_.run_dir;
    fresh->key_file = config_.key_file;
    fresh->controller_port = config_.controller_port;
    fresh->cluster_name = config_.cluster_name;
    fresh->slurm_user = config_.slurm_user;
    config_ = *std::move(fresh);
    apply_log_settings(config_, log_);
    names_.forget();
    log_.info("Reconfigured from {}", config_.path);
    purge();
    step(core::event::Reconfigure{.token = token, .settings = *std::move(settings)});
    wire::ControllerToAgent told;
    told.mutable_reconfigure();
    agents_.send_to_all(told.SerializeAsString());
    return {};
}

}  // namespace switchyard::controller
