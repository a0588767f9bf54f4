// gpu.cpp: a step's cards: what keeps it to its shares of them.
#include <fmt/format.h>

#include "gpu/shares.hpp"
#include "stepd/gpu_environment.hpp"
#include "stepd/setup/parts.hpp"

namespace switchyard::stepd::setup {

// A share that cannot be kept is not given.
Status guard_cards(Step& step) {
    const Launch& launch = step.launch;
    if (!is_guarded(launch)) return {};
    SY_CHECK(make_guard_files(launch));
    for (const std::uint32_t card : guarded_cards(launch)) {
        const auto memory = launch.setup.turns.find(card);
        if (memory == launch.setup.turns.end())
            return fail(Errc::NotFound, fmt::format("card {} has no turns", card));
        SY_TRY(auto door,
               TurnsDoor::open(step.loop, memory->second,
                               gpu::turns_socket(launch.setup.share_folder, launch.key, card),
                               launch.who));
        step.turns.push_back(std::move(door));
    }
    return {};
}

Status limit_cards(Step& step) { return stepd::limit_cards(step.launch); }

Status say_cards(Step& step, std::uint32_t local, os::ChildPlan& plan) {
    if (!step.launch.is_batch()) plan.preface += gpu_binding_line(step.launch, local);
    return {};
}

}  // namespace switchyard::stepd::setup
