#include "neighbor/tuner.h"

#include <fmt/format.h>

#include "engine/base/error.h"

namespace perrin {

NeighborTuner::NeighborTuner(const NeighborSettings& settings, double range, bool gpu, bool few)
    : settings_(settings), gpu_(gpu), current_(settings) {
  current_.traversal = gpu ? "tiles" : "clusters";
  if (current_.skin == 0) current_.skin = 0.16 * range;
  start_skin_ = current_.skin;
  const auto add = [this](const char* traversal, int Way::*field = nullptr, int value = 0,
                          const std::string& sorting = "auto") {
    Way other{traversal, 0, as_before, as_before, as_before, settings_.interaction_sorting};
    if (field) other.*field = value;
    if (other.sorting == "auto") other.sorting = sorting;
    others_.push_back(other);
  };
  if (gpu) {
    if (few && settings.lanes == 0) add("small");
    if (settings.lanes == 0)
      for (const int lanes : {4, 8}) add("tiles", &Way::lanes, lanes);
    if (settings.cells == 0)
      for (const int cells : {1, 2}) add("tiles", &Way::cells, cells);
    if (settings.brick == 0)
      for (const int brick : {8, 16, 32, 64}) add("tiles", &Way::brick, brick);
  }
  add("verlet_list");
  for (const char* sorting : {"axes", "x", "none"}) {
    const bool axes = sorting == std::string("axes");
    const std::string& wanted = settings.interaction_sorting;
    if ((wanted != "auto" && wanted != sorting) || (axes && settings.cells == 2)) continue;
    add("cells", nullptr, 0, sorting);
    if (settings.cells == 0 && !axes)
      for (const int cells : {1, 2}) add("cells", &Way::cells, cells, sorting);
  }
}

NeighborTuner::Way NeighborTuner::complete(Way other) const {
  const bool same = other.traversal == best_.way.traversal;
  const auto set = [same](int& field, int best, int chosen) {
    if (field == as_before) field = same ? best : chosen;
  };
  set(other.lanes, best_.way.lanes, settings_.lanes);
  set(other.cells, best_.way.cells, settings_.cells);
  set(other.brick, best_.way.brick, settings_.brick);
  other.skin = best_.way.skin;
  return other;
}

std::string NeighborTuner::Way::name() const {
  std::string text = traversal;
  if (traversal != "cells") text += fmt::format(" {:.3g}", skin);
  if (traversal == "cells" && sorting == "none") text += " unsorted";
  if (traversal == "cells" && sorting == "axes") text += " sorted along axes";
  if (lanes > 0 && traversal != "clusters") text += fmt::format(" with {} lanes", lanes);
  if (cells > 0) text += fmt::format(", {} cells per range", cells);
  if (brick > 0) text += fmt::format(", bricks of {}", brick);
  return text;
}

NeighborTuner::Way NeighborTuner::way() const {
  return {current_.traversal, current_.skin,  current_.lanes,
          current_.cells,     current_.brick, current_.interaction_sorting};
}

/// True if this is a change.
bool NeighborTuner::use(const Way& next) {
  const bool change = next != way();
  current_.traversal = next.traversal;
  current_.skin = next.skin;
  current_.lanes = next.lanes;
  current_.cells = next.cells;
  current_.brick = next.brick;
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
  while (phase_ == Phase::others && !others_.empty()) {
    const Way next = complete(others_.front());
    others_.erase(others_.begin());
    if (next != best_.way) return use(next);
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

void NeighborTuner::Way::state(Archive& a, bool gpu) {
  a("traversal", traversal);
  traversal = current_traversal(traversal, gpu);
  a("skin", skin);
  a("lanes", lanes);
  a("cells", cells);
  a("brick", brick);
  // A word; of earlier versions, whether interactions were sorted.
  if (a.has("interaction_sorting")) {
    a("interaction_sorting", sorting);
  } else {
    bool sorted = true;
    a("sorting", sorted);
    sorting = traversal != "cells" ? "auto" : sorted ? "x" : "none";
  }
  a.require(sorting == "auto" || is_sorting(sorting), "interaction_sorting",
            "auto, axes, x or none");
  a.require(traversal.empty() || traversal == "tiles" || traversal == "cells" ||
                traversal == "clusters" || traversal == "small" || traversal == "verlet_list",
            "traversal", "tiles, cells, clusters, small or verlet_list");
  a.require(skin >= 0, "skin", "at least 0");
  const auto in = [](int value, int most) { return value >= as_before && value <= most; };
  a.require(in(lanes, 32), "lanes", "from -1 to 32");
  a.require(in(cells, 2), "cells", "from -1 to 2");
  a.require(in(brick, 512), "brick", "from -1 to 512");
}

void NeighborTuner::Trial::state(Archive& a, bool gpu) {
  way.state(a, gpu);
  a("time", time);
  a.require(time >= 0, "time", "at least 0");
}

void NeighborTuner::state(Archive& a) {
  const auto one = [&](const std::string& name, auto& it) {
    const Archive::Scope scope(a, name);
    it.state(a, gpu_);
  };
  const auto list = [&](const std::string& name, auto& items) {
    std::uint64_t count = items.size();
    a(name + "_count", count);
    if (count > 1000) throw UserError("the checkpoint's tuner has too many trials: it is damaged");
    items.resize(count);
    for (std::size_t k = 0; k < items.size(); ++k) one(fmt::format("{}{}", name, k), items[k]);
  };
  Way now = way();
  one("now", now);
  one("best", best_);
  list("others", others_);
  list("trials", trials_);
  const auto settled = [](const Way& way) {
    return way.lanes >= 0 && way.cells >= 0 && way.brick >= 0;
  };
  a.require(settled(now) && settled(best_.way), "now", "settings of which none is as before");
  a.require(!now.traversal.empty() && best_.way.traversal.empty() == trials_.empty(),
            "best/traversal", "a traversal if there were trials");
  a("start_skin", start_skin_);
  a("phase", phase_);
  a.require(phase_ >= Phase::longer && phase_ <= Phase::rest, "phase", "from 0 to 3");
  a("resting", resting_);
  a.require(resting_ >= 0 && resting_ <= rest, "resting", "from 0 to 50");
  a("aside", aside_);
  a.require(start_skin_ > 0 && aside_ > 0.5 && aside_ < 2, "aside", "near 1");
  use(now);
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
