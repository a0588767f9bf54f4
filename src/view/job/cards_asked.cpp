#include "view/job/cards_asked.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/gres.hpp"

namespace switchyard::view {
namespace {

void add_requests(std::vector<model::GresGrant>& sum,
                  const std::vector<model::GresRequest>& requests, std::uint64_t factor) {
    std::vector<model::GresGrant> more;
    for (const model::GresRequest& request : requests) {
        model::GresGrant grant;
        grant.name = request.name;
        grant.type = request.type;
        grant.count = request.count * factor;
        more.push_back(std::move(grant));
    }
    model::add_grants(sum, more);
}

}  // namespace

std::uint64_t gpus_in(const std::vector<model::GresRequest>& requests) {
    std::uint64_t sum = 0;
    for (const model::GresRequest& request : requests) {
        if (request.name == "gpu") sum += request.count;
    }
    return sum;
}

std::optional<std::uint32_t> tasks_by_cards(const model::JobSpec& spec, std::uint32_t nodes) {
    const std::uint64_t per_job = gpus_in(spec.gpus_per_job);
    const std::uint64_t per_node = gpus_in(spec.gres_per_node);
    const std::uint64_t per_task = gpus_in(spec.gpus_per_task);
    std::uint64_t tasks = 0;
    if (spec.tasks_per_gpu) {
        tasks = *spec.tasks_per_gpu * (per_job > 0 ? per_job : per_node * nodes);
    } else if (per_job > 0 && per_task > 0) {
        tasks = per_job / per_task;
    }
    if (tasks == 0) return std::nullopt;
    return static_cast<std::uint32_t>(tasks);
}

std::optional<std::uint32_t> nodes_by_cards(const model::JobSpec& spec) {
    const std::uint64_t per_job = gpus_in(spec.gpus_per_job);
    const std::uint64_t per_node = gpus_in(spec.gres_per_node);
    if (per_job == 0 || per_node == 0) return std::nullopt;
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, per_job / per_node));
}

std::vector<model::GresGrant> gres_asked(const model::JobSpec& spec, std::uint64_t nodes,
                                         std::uint64_t tasks) {
    std::vector<model::GresGrant> gres;
    add_requests(gres, spec.gres_per_node, nodes);
    if (gpus_in(spec.gres_per_node) > 0) return gres;
    if (!spec.gpus_per_job.empty()) {
        add_requests(gres, spec.gpus_per_job, 1);
    } else if (!spec.gpus_per_task.empty()) {
        add_requests(gres, spec.gpus_per_task, tasks);
    } else if (!spec.gpus_per_socket.empty()) {
        add_requests(gres, spec.gpus_per_socket, nodes * spec.sockets_per_node.value_or(1));
    } else if (spec.tasks_per_gpu && spec.tasks) {
        const std::uint64_t each = std::max(1U, *spec.tasks_per_gpu);
        add_requests(gres, {{"gpu", "", (*spec.tasks + each - 1) / each}}, 1);
    }
    return gres;
}

std::string tres_per_task(const model::JobSpec& spec) {
    std::string text;
    if (spec.cpus_per_task) text = fmt::format("cpu={}", *spec.cpus_per_task);
    for (const model::GresRequest& gpu : spec.gpus_per_task) {
        if (!text.empty()) text += ',';
        text += "gres/" + gpu.name;
        if (!gpu.type.empty()) text += ":" + gpu.type;
        text += fmt::format("={}", gpu.count);
    }
    return text;
}

std::string tres_bind(const model::JobSpec& spec) {
    if (!spec.gpu_bind.empty()) return "gres/gpu:" + spec.gpu_bind;
    if (spec.gpus_per_task.empty()) return {};
    return fmt::format("gres/gpu:per_task:{}", gpus_in(spec.gpus_per_task));
}

}  // namespace switchyard::view
