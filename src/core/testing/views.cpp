// views.cpp: see views.hpp.

#include "core/testing/views.hpp"

#include <fmt/format.h>

#include "core/testing/describe.hpp"
#include "model/hostlist.hpp"

namespace switchyard::core::testing {

Lines queue_lines(const Cluster& cluster) {
    Lines lines;
    for (const auto& [id, job] : cluster.jobs()) {
        std::string text = describe(job);
        if (const auto* pending = std::get_if<model::Pending>(&job.phase);
            pending && pending->planned_start) {
            text +=
                fmt::format(" planned +{}s on {}", unix_seconds(*pending->planned_start) - kEpoch,
                            model::compress_hostlist(pending->planned_nodes));
        }
        lines.push_back(text);
    }
    return lines;
}

Lines trigger_lines(const Cluster& cluster) {
    Lines lines;
    for (const auto& [id, trigger] : cluster.triggers()) {
        lines.push_back(fmt::format(
            "{} {} {} {} offset={} uid={}{}{}", id, to_string(trigger.resource),
            resource_id(trigger), to_string(trigger.type), trigger.offset.count(), trigger.uid,
            trigger.permanent ? " perm" : "", trigger.fired ? " fired" : ""));
    }
    return lines;
}

Lines reservation_lines(const Cluster& cluster, Instant now) {
    Lines lines;
    for (const auto& [name, r] : cluster.reservations()) {
        std::string text =
            fmt::format("{} +{}s..+{}s {} {}", name, unix_seconds(r.start) - kEpoch,
                        unix_seconds(r.end) - kEpoch, model::compress_hostlist(r.nodes),
                        r.is_active(now) ? "ACTIVE" : "INACTIVE");
        if (const std::string flags = model::format_flags(r); !flags.empty()) text += " " + flags;
        for (const auto& [node, cores] : r.cores)
            text += fmt::format(" {}[{}]", node, to_string(cores));
        lines.push_back(text);
    }
    return lines;
}

Lines license_lines(const Cluster& cluster) {
    Lines lines;
    for (const model::LicenseUse& each : cluster.licenses())
        lines.push_back(
            fmt::format("{} {}/{} reserved {}", each.name, each.used, each.total, each.reserved));
    return lines;
}

Lines preemptable_lines(const Cluster& cluster) {
    Lines lines;
    for (const auto& [id, job] : cluster.jobs()) {
        const model::Running* run = model::run_of(job);
        if (run == nullptr) continue;
        const auto& from = run->preemptable_at;
        lines.push_back(
            fmt::format("{} {}", model::display_id(job),
                        from ? fmt::format("+{}s", unix_seconds(*from) - kEpoch) : "never"));
    }
    return lines;
}

Lines node_lines(const Cluster& cluster) {
    Lines lines;
    for (const model::Node& node : cluster.nodes()) lines.push_back(describe(node));
    return lines;
}

Lines step_lines(const Cluster& cluster) {
    Lines lines;
    for (const auto& [key, one] : cluster.steps()) {
        std::string text = name_of(key) + " ";
        for (const auto& node : one.layout.nodes) {
            text += fmt::format("{}[{}]:", node.grant.node, to_string(node.grant.cores));
            for (const std::uint32_t rank : node.tasks) text += fmt::format("{},", rank);
            text.back() = ' ';
            if (!node.grant.gres.empty()) text += to_string(node.grant.gres) + " ";
        }
        if (!one.resv_ports.empty()) text += "ports " + one.resv_ports + " ";
        if (one.het) text += fmt::format("tasks {}+ of {} ", one.het->task_offset, one.het->tasks);
        if (one.end) {
            text +=
                fmt::format("{} {}", model::long_name(one.end->state), to_string(one.end->exit));
        } else if (model::is_pending(one)) {
            text += "waits";
        } else {
            text += "runs on " + model::compress_hostlist(one.running_nodes);
        }
        lines.push_back(text);
    }
    return lines;
}

}  // namespace switchyard::core::testing
