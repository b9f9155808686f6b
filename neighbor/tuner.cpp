#include "neighbor/tuner.h"

#include <fmt/format.h>

namespace perrin {

NeighborTuner::NeighborTuner(const NeighborSettings& settings, double range, bool gpu)
    : current_(settings) {
  current_.traversal = gpu ? "verlet" : "clusters";
  if (current_.skin == 0) current_.skin = 0.16 * range;
  start_skin_ = current_.skin;
  const int lanes = settings.lanes;
  const bool sorting = settings.interaction_sorting;
  if (!gpu) {
    others_ = {{"rows", 0, lanes, sorting}};
    if (sorting) others_.push_back({"cells", 0, lanes, true});
    others_.push_back({"cells", 0, lanes, false});
    return;
  }
  if (lanes == 0) others_ = {{"verlet", 0, 4, sorting}, {"verlet", 0, 8, sorting}};
  others_.push_back({"clusters", 0, lanes, sorting});
  if (sorting) others_.push_back({"cells", 0, lanes, true});
  others_.push_back({"cells", 0, lanes, false});
}

std::string NeighborTuner::Way::name() const {
  if (traversal == "cells") return sorting ? "cells" : "cells unsorted";
  const std::string shared =
      lanes > 0 && traversal != "clusters" ? fmt::format(" with {} lanes", lanes) : "";
  return fmt::format("{} {:.3g}{}", traversal, skin, shared);
}

NeighborTuner::Way NeighborTuner::way() const {
  return {current_.traversal, current_.skin, current_.lanes, current_.interaction_sorting};
}

/// True if this is a change.
bool NeighborTuner::use(const Way& next) {
  const bool change = next != way();
  current_.traversal = next.traversal;
  current_.skin = next.skin;
  current_.lanes = next.lanes;
  current_.interaction_sorting = next.sorting;
  return change;
}

bool NeighborTuner::use(double skin) {
  Way next = best_.way;
  next.skin = skin;
  return use(next);
}

bool NeighborTuner::try_next(bool better) {
  constexpr double factor = 1.3;
  const bool room = trials_.size() < most;
  if (phase_ == Phase::longer) {
    if (better && room) return use(best_.way.skin * factor);
    phase_ = Phase::shorter;
    better = best_.way.skin == start_skin_;  // else shorter than the start is no use
  }
  if (phase_ == Phase::shorter) {
    if (better && room) return use(best_.way.skin / factor);
    phase_ = Phase::others;
  }
  if (phase_ == Phase::others && !others_.empty()) {
    Way next = others_.front();
    others_.erase(others_.begin());
    next.skin = best_.way.skin;
    return use(next);
  }
  phase_ = Phase::rest;
  resting_ = rest;
  return use(best_.way);
}

bool NeighborTuner::measured(double time) {
  const bool same = way() == best_.way;
  if (phase_ == Phase::rest && same) {
    best_.time = time;  // follows the system
    if (best_.way.traversal == "cells" || --resting_ > 0) return false;
    aside_ = 1 / aside_;
    return use(best_.way.skin * aside_);
  }
  const double gain = phase_ == Phase::longer || phase_ == Phase::shorter ? 1 : 1.02;
  const bool better = trials_.empty() || time * gain < best_.time;
  if (better) best_ = {way(), time};
  if (phase_ == Phase::rest) {
    resting_ = rest;
    return use(best_.way);
  }
  trials_.push_back({way(), time});
  return try_next(better);
}

std::string NeighborTuner::report() const {
  if (trials_.empty()) return "not measured yet";
  std::string text = best_.way.name() + (phase_ == Phase::rest ? "" : " so far");
  text += fmt::format(" ({:.4g} us per step; tried ", best_.time * 1e6);
  for (const Trial& t : trials_)
    text +=
        fmt::format("{}{}: {:.4g}", &t == &trials_.front() ? "" : ", ", t.way.name(), t.time * 1e6);
  return text + ")";
}

}  // namespace perrin
