#include "io/parts/region.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/placement.h"

namespace perrin::parts {
namespace {

constexpr int most_draws = 100000;  // until one lies in the region
constexpr double most_boxes = 500000;
constexpr double slack = 1e-12;  // of an edge: faces belong to the box

int axis_of(const CylinderSettings& cylinder) { return cylinder.axis[0] - 'x'; }

void check_corners(const std::array<ShapeSettings::Corner, 2>& corners, const Box& box,
                   const Report& error) {
  const auto entries = std::size_t(box.dimension);
  for (const auto& corner : corners)
    if (corner.size() != entries && corner.size() != 3)
      return error("box", fmt::format("must be two corners of {} numbers or null, got {}",
                                      box.dimension, corner.size()));
  for (std::size_t axis = 0; axis < entries; ++axis) {
    const auto low = corners[0][axis], high = corners[1][axis];
    if (low && high && !(*low < *high))
      error("box", fmt::format("its lower corner must be below the upper one along {}, got {:g} "
                               "and {:g}",
                               "xyz"[axis], *low, *high));
  }
}

void check_shape(const ShapeSettings& shape, const Box& box, const Report& error) {
  if (!shape.box && !shape.sphere && !shape.cylinder)
    return error("", "must have at least one of box, sphere and cylinder");
  if (shape.box) check_corners(*shape.box, box, error);
  if (shape.cylinder && box.dimension == 2 && shape.cylinder->axis != "z")
    error("cylinder.axis", "must be z in two dimensions");
}

}  // namespace

void Region::check(const std::optional<RegionSettings>& settings, const Box& box,
                   const Report& error) {
  if (!settings) return;
  bool good = true;
  const auto below = [&](const std::string& path) -> Report {
    return [&error, &good, path](const std::string& key, const std::string& what) {
      good = false;
      error(key.empty() ? path : path + "." + key, what);
    };
  };
  const bool shaped = settings->box || settings->sphere || settings->cylinder;
  if (!shaped && settings->outside.empty())
    return below("region")("", "must have at least one of box, sphere, cylinder and outside");
  if (shaped) check_shape(*settings, box, below("region"));
  for (std::size_t k = 0; k < settings->outside.size(); ++k)
    check_shape(settings->outside[k], box, below(fmt::format("region.outside[{}]", k)));
  if (!good) return;
  Philox stream = io::position_stream(0, 0, 0);
  if (!Region(settings, box).sample(stream))
    below("region")("", "has no room within the box, which goes from " +
                            fmt::format("({:g}, {:g}, {:g}) to ({:g}, {:g}, {:g})", box.origin.x,
                                        box.origin.y, box.origin.z, box.point({1, 1, 1}).x,
                                        box.point({1, 1, 1}).y, box.point({1, 1, 1}).z));
}

Region::Region(const std::optional<RegionSettings>& settings, const Box& box)
    : settings_(settings), box_(box), images_(images_of(box)), upper_{1, 1, 1} {
  if (!box.orthogonal()) return;
  lower_ = box.origin;
  upper_ = box.origin + box.length;
  if (settings_) enclose(*settings_);
}

/// As the first shape given says, the others may cut from it.
void Region::enclose(const ShapeSettings& shape) {
  const auto narrow = [&](int axis, double low, double high) {
    const double from = lower_[axis], to = upper_[axis];
    if (box_.periodic[std::size_t(axis)] && high - low >= to - from) return;
    lower_[axis] = low, upper_[axis] = high;
    if (box_.periodic[std::size_t(axis)]) return;  // it may go on at the other face
    lower_[axis] = std::clamp(low, from, to), upper_[axis] = std::clamp(high, from, to);
  };
  for (int axis = 0; axis < box_.dimension; ++axis) {
    const auto k = std::size_t(axis);
    if (shape.box) {
      const double low = (*shape.box)[0][k].value_or(lower_[axis]);
      const double high = (*shape.box)[1][k].value_or(std::max(low, upper_[axis]));
      narrow(axis, (*shape.box)[0][k] ? low : std::min(low, high), high);
    } else if (shape.sphere) {
      narrow(axis, shape.sphere->center[axis] - shape.sphere->radius,
             shape.sphere->center[axis] + shape.sphere->radius);
    } else if (shape.cylinder && axis != axis_of(*shape.cylinder)) {
      narrow(axis, shape.cylinder->center[axis] - shape.cylinder->radius,
             shape.cylinder->center[axis] + shape.cylinder->radius);
    }
  }
}

bool Region::inside_box(const std::array<ShapeSettings::Corner, 2>& corners, Vec3<double> r) const {
  if (!box_.orthogonal()) {
    Vec3<double> s = box_.fraction(r);
    for (int axis = 0; axis < 3; ++axis)
      if (box_.periodic[std::size_t(axis)]) s[axis] -= std::floor(s[axis]);
    r = box_.point(s);
  }
  for (int axis = 0; axis < box_.dimension; ++axis) {
    const auto low = corners[0][std::size_t(axis)];
    auto high = corners[1][std::size_t(axis)];
    double x = r[axis];
    if (box_.orthogonal() && box_.periodic[std::size_t(axis)]) {
      // The image that is first above the lower face. Where no upper one is named it is the box's:
      // else what is below the lower face would be inside as an image beyond the box.
      const double from = low.value_or(box_.origin[axis]), edge = box_.length[axis];
      x += std::ceil((from - x) / edge) * edge;
      if (!high) high = box_.origin[axis] + edge;
    }
    if ((low && x < *low) || (high && x > *high)) return false;
  }
  return true;
}

bool Region::inside(const ShapeSettings& shape, Vec3<double> r) const {
  if (shape.box && !inside_box(*shape.box, r)) return false;
  if (shape.sphere) {
    const Vec3<double> d = images_.nearest(r - shape.sphere->center);
    if (dot(d, d) > shape.sphere->radius * shape.sphere->radius) return false;
  }
  if (shape.cylinder) {
    const int axis = axis_of(*shape.cylinder);
    Vec3<double> across = r - shape.cylinder->center;
    across[axis] = 0;
    across = images_.nearest(across);
    if (dot(across, across) > shape.cylinder->radius * shape.cylinder->radius) return false;
  }
  return true;
}

bool Region::contains(Vec3<double> r) const {
  const Vec3<double> s = box_.fraction(r);
  for (int axis = 0; axis < box_.dimension; ++axis)
    if (!box_.periodic[std::size_t(axis)] && (s[axis] < -slack || s[axis] > 1 + slack))
      return false;
  if (!settings_) return true;
  if (!inside(*settings_, r)) return false;
  return std::ranges::none_of(settings_->outside,
                              [&](const ShapeSettings& shape) { return inside(shape, r); });
}

Vec3<double> Region::place(Vec3<double> fraction) const {
  Vec3<double> s;
  for (int axis = 0; axis < 3; ++axis)
    s[axis] = lower_[axis] + fraction[axis] * (upper_[axis] - lower_[axis]);
  Vec3<double> r = box_.orthogonal() ? s : box_.point(s);
  if (box_.dimension == 2) r.z = 0;
  return r;
}

std::optional<Vec3<double>> Region::sample(Philox& stream) const {
  for (int draw = 0; draw < most_draws; ++draw) {
    Vec3<double> s;
    for (int axis = 0; axis < 3; ++axis) s[axis] = stream.uniform<double>();
    const Vec3<double> r = place(s);
    if (contains(r)) return r;
  }
  return std::nullopt;
}

double Region::enclosed_volume() const {
  double volume = 1;
  for (int axis = 0; axis < box_.dimension; ++axis) volume *= upper_[axis] - lower_[axis];
  return box_.orthogonal() ? volume : box_.volume();
}

double Region::volume(std::uint64_t seed, const std::function<bool(Vec3<double>)>& also) const {
  const bool exact = !settings_ || (box_.orthogonal() && settings_->box && !settings_->sphere &&
                                    !settings_->cylinder && settings_->outside.empty());
  if (exact && !also) return enclosed_volume();
  std::array<int, 3> n{1, 1, 1};
  for (int axis = 0; axis < box_.dimension; ++axis)
    n[std::size_t(axis)] = int(std::pow(most_boxes, 1.0 / box_.dimension));
  std::int64_t in = 0, all = 0;
  Philox stream = io::position_stream(seed, ~std::uint64_t(0), 0);
  for (int x = 0; x < n[0]; ++x)
    for (int y = 0; y < n[1]; ++y)
      for (int z = 0; z < n[2]; ++z, ++all) {
        const Vec3<double> r =
            place({(x + stream.uniform<double>()) / n[0], (y + stream.uniform<double>()) / n[1],
                   (z + stream.uniform<double>()) / n[2]});
        if (contains(r) && (!also || also(r))) ++in;
      }
  return enclosed_volume() * double(in) / double(all);
}

}  // namespace perrin::parts
