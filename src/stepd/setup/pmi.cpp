// pmi.cpp: what lets the tasks of an MPI program find each other. Before the first task: all of
// them find the server.
#include "stepd/setup/parts.hpp"

namespace switchyard::stepd::setup {

Status open_pmi(Step& step) {
    const Launch& launch = step.launch;
    if (launch.is_batch() || pmi::is_none(launch.command.mpi)) return {};
    if (launch.het) {
        return fail(Errc::Unsupported,
                    "--mpi is not served to heterogeneous steps: use --mpi=none");
    }
    pmi::Place place;
    place.step = model::to_string(launch.key);
    for (const model::StepNode& node : launch.layout.nodes) {
        place.nodes.push_back({node.grant.node, node.tasks});
        place.universe_size += node.grant.cpus;
    }
    place.node_index = launch.node_index;
    place.uid = launch.who.uid;
    place.gid = launch.who.gid;
    place.folder = launch.setup.spool;
    SY_TRY(step.pmi, pmi::make_server(launch.command.mpi, step.loop, std::move(place),
                                      step.send_pmi, step.pmi_ready));
    return {};
}

}  // namespace switchyard::stepd::setup
