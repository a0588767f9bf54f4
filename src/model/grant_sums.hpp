// grant_sums.hpp: what is left of a sum of grants (add_grants in gres.hpp) when some are given
// back.
#pragma once

#include <vector>

#include "model/gres.hpp"

namespace switchyard::model {

// Takes `less` out of `sum`, entry by entry of equal name and type. An entry of nothing goes.
void subtract_grants(std::vector<GresGrant>& sum, const std::vector<GresGrant>& less);

}  // namespace switchyard::model
