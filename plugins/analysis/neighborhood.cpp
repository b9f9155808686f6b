#include "neighborhood.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/system/particles.h"
#include "types.h"

namespace perrin::analysis {

Neighborhood::Neighborhood(double distance, const std::vector<std::string>& types,
                           const std::string& group, Setup& setup, const std::string& key)
    : distance_(distance),
      host_(setup.device().is_cuda() ? Device::cpu(setup.device().threads()) : setup.device()),
      chosen_(fixed_selection(types, group, setup)),
      particles_(std::count(chosen_.begin(), chosen_.end(), 1)) {
  const double most = half_height(setup.configuration().box);
  if (distance > most)
    setup.error(key, fmt::format("must be at most half the shortest distance between "
                                 "opposite faces of the box ({:.6g}), got {:.6g}",
                                 most, distance));
  positions_ = {host_, particles_};
}

PairGrid::View Neighborhood::look(const Particles& particles, bool within) {
  ids_.clear();
  const auto position = particles.position().to_host();
  const auto id = particles.id().to_host();
  for (std::size_t i = 0; i < position.size(); ++i)
    if (chosen_[id[i]]) {
      positions_.data()[ids_.size()] = position[i];
      ids_.push_back(id[i]);
    }
  if (!grid_) grid_ = std::make_unique<PairGrid>(host_, particles_, particles.box(), distance_);
  within ? grid_->build_within(positions_.data(), particles.box())
         : grid_->build(positions_.data(), particles.box());
  return grid_->view();
}

}  // namespace perrin::analysis
