#include "neighborhood.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/dynamics/simulation.h"
#include "types.h"

namespace perrin::analysis {

Neighborhood::Neighborhood(double distance, const std::vector<std::string>& types, Setup& setup)
    : distance_(distance),
      host_(setup.device().is_cuda() ? Device::cpu(setup.device().threads()) : setup.device()),
      mask_(type_mask(types, setup).to_host()) {
  const Configuration& c = setup.configuration();
  for (const std::uint32_t t : c.type) particles_ += mask_[t];
  if (particles_ == 0) setup.error("types", "the system has no particle of these types");
  const double most = half_height(c.box);
  if (distance > most)
    setup.error("distance", fmt::format("must be at most half the shortest distance between "
                                        "opposite faces of the box ({:.6g}), got {:.6g}",
                                        most, distance));
  positions_ = {host_, particles_};
}

PairGrid::View Neighborhood::look(Simulation& s) {
  std::int64_t k = 0;
  for (const Position& p : s.particles.position.to_host())
    if (mask_[p.type()]) positions_.data()[k++] = p;
  if (!grid_) grid_ = std::make_unique<PairGrid>(host_, particles_, s.particles.box, distance_);
  grid_->build(positions_.data(), s.particles.box);
  return grid_->view();
}

}  // namespace perrin::analysis
