#include "neighbor/tuner.h"

#include <fmt/format.h>

namespace perrin {

NeighborTuner::NeighborTuner(const NeighborSettings& settings, double range, bool gpu)
    : current_(settings) {
  current_.traversal = gpu ? "verlet" : "clusters";
  if (current_.skin == 0) current_.skin = 0.16 * range;
  start_skin_ = current_.skin;
  others_ = {gpu ? "cells" : "rows"};
}

/// True if this is a change.
bool NeighborTuner::use(const std::string& traversal, double skin) {
  const bool change = traversal != current_.traversal || skin != current_.skin;
  current_.traversal = traversal;
  current_.skin = skin;
  return change;
}

bool NeighborTuner::try_next(bool better) {
  constexpr double factor = 1.3;
  const bool room = trials_.size() < most;
  if (phase_ == Phase::longer) {
    if (better && room) return use(best_.traversal, best_.skin * factor);
    phase_ = Phase::shorter;
    better = best_.skin == start_skin_;  // else shorter than the start is no use
  }
  if (phase_ == Phase::shorter) {
    if (better && room) return use(best_.traversal, best_.skin / factor);
    phase_ = Phase::others;
  }
  if (phase_ == Phase::others && !others_.empty()) {
    const std::string traversal = others_.back();
    others_.pop_back();
    return use(traversal, best_.skin);
  }
  phase_ = Phase::rest;
  resting_ = rest;
  return use(best_.traversal, best_.skin);
}

bool NeighborTuner::measured(double time) {
  const bool same = current_.traversal == best_.traversal && current_.skin == best_.skin;
  if (phase_ == Phase::rest && same) {
    best_.time = time;  // follows the system
    if (best_.traversal == "cells" || --resting_ > 0) return false;
    aside_ = 1 / aside_;
    return use(best_.traversal, best_.skin * aside_);
  }
  const double gain = phase_ == Phase::longer || phase_ == Phase::shorter ? 1 : 1.02;
  const bool better = trials_.empty() || time * gain < best_.time;
  if (better) best_ = {current_.traversal, current_.skin, time};
  if (phase_ == Phase::rest) {
    resting_ = rest;
    return use(best_.traversal, best_.skin);
  }
  trials_.push_back({current_.traversal, current_.skin, time});
  return try_next(better);
}

std::string NeighborTuner::report() const {
  if (best_.traversal.empty()) return "not measured yet";
  std::string text = best_.traversal == "cells"
                         ? "cells"
                         : fmt::format("{}, skin {:.3g}", best_.traversal, best_.skin);
  text += phase_ == Phase::rest ? "" : " so far";
  text += fmt::format(" ({:.4g} us per step; tried", best_.time * 1e6);
  for (const Trial& t : trials_)
    text += t.traversal == "cells" ? fmt::format(" cells {:.4g}", t.time * 1e6)
                                   : fmt::format(" {} {:.3g}: {:.4g}{}", t.traversal, t.skin,
                                                 t.time * 1e6, &t == &trials_.back() ? "" : ",");
  return text + ")";
}

}  // namespace perrin
