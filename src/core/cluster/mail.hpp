// mail.hpp: the mail that users asked for about their jobs.
#pragma once

#include <cstdint>
#include <optional>

#include "core/cluster/arrays.hpp"
#include "core/cluster/transition.hpp"
#include "core/cluster/world.hpp"
#include "model/mail.hpp"

namespace switchyard::core {

class Mail {
  public:
    Mail(World& world, const Arrays& arrays) : world_(world), arrays_(arrays) {}

    void observe(const Transition& transition);
    // If its user asked for it.
    void send(const Job& job, model::MailEvent event);

  private:
    // What its steps did with its cards.
    struct CardEffort {
        std::uint64_t percent = 0;
        model::MiB memory;
    };
    // A job that failed is told as failed to those who asked for that; otherwise as ended.
    void send_end(const Job& job);
    std::optional<CardEffort> card_effort(const Job& job) const;
    // One letter for an array: whether this is the moment for it.
    bool is_for_all(const Job& job, model::MailEvent event) const;

    World& world_;
    const Arrays& arrays_;
};

}  // namespace switchyard::core
