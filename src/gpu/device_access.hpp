// device_access.hpp: which device files of cards a step must not open.
//
// A card is guarded if the node hands cards out at all: then every /dev/nvidia<number> that was not
// granted is refused, also those that the configuration leaves out, and so are the capability files
// of MIG slices. The files that all cards share (nvidiactl, nvidia-uvm) stay open: without a card
// they give nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/gres.hpp"

namespace switchyard::gpu {

// `present`: what there is in /dev (see card_files()).
std::vector<std::string> denied_files(const std::vector<model::GresInventory>& node,
                                      const std::vector<model::GresGrant>& granted,
                                      const std::vector<std::string>& present);

// /dev/nvidia0 and so on, as they are now.
std::vector<std::string> card_files();

}  // namespace switchyard::gpu
