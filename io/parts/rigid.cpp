#include "io/parts/rigid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "io/parts/directions.h"
#include "io/parts/room.h"
#include "io/placement.h"

namespace perrin::parts {
namespace {

constexpr int rigid_attempts = 2000;  // per molecule
constexpr std::size_t most_compared = 5000;

/// The largest distance of two particles; of many, twice that from their middle.
double diameter(const std::vector<Vec3<double>>& places) {
  double square = 0;
  for (std::size_t i = 0; i < places.size() && places.size() > most_compared; ++i)
    square = std::max(square, 4 * dot(places[i], places[i]));
  for (std::size_t i = 0; i < places.size() && places.size() <= most_compared; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const Vec3<double> d = places[i] - places[j];
      square = std::max(square, dot(d, d));
    }
  return std::sqrt(square);
}

}  // namespace

RigidPart::RigidPart(Configuration molecule, const RigidSettings& settings)
    : molecule_(std::move(molecule)), settings_(settings) {
  Vec3<double> mean;
  for (const auto& r : molecule_.position) mean += r;
  mean *= 1.0 / double(molecule_.position.size());
  for (auto& r : molecule_.position) r -= mean;
}

/// Its own images must not come nearer than others.
void RigidPart::check_size(const Box& box, const Distances& distances, const Report& error) const {
  double least = 0;
  for (const std::string& a : molecule_.types)
    for (const std::string& b : molecule_.types) least = std::max(least, distances.between(a, b));
  const bool turned = settings_.orientation == "random";
  const double across = turned ? diameter(molecule_.position) : 0;
  for (int axis = 0; axis < box.dimension; ++axis) {
    double extent = across;
    if (!turned) {
      const auto along = [axis](const Vec3<double>& a, const Vec3<double>& b) {
        return a[axis] < b[axis];
      };
      const auto [low, high] = std::ranges::minmax_element(molecule_.position, along);
      extent = (*high)[axis] - (*low)[axis];
    }
    const double height = box.heights()[axis], room = height - least;
    if (box.periodic[std::size_t(axis)] && extent > room + 1e-9)
      return error("",
                   fmt::format("its molecule is {:.4g} across: at most {:.4g} fit into the box, "
                               "which is {:g} high along {}, beside its own images",
                               extent, room, height, "xyz"[axis]));
  }
}

void RigidPart::check(const Box& box, const Distances& distances, const Report& error) const {
  Region::check(settings_.region, box, error);
  if (settings_.center && settings_.number != 1)
    error("center", fmt::format("goes with \"number\": 1 alone, got {}", settings_.number));
  const Vec3<double> s = box.fraction(settings_.center.value_or(box.point({0.5, 0.5, 0.5})));
  for (int axis = 0; axis < box.dimension; ++axis)
    if (s[axis] < 0 || s[axis] > 1) {
      error("center", "must be in the box");
      break;
    }
  if (box.dimension == 2)
    for (const auto& r : molecule_.position)
      if (std::abs(r.z) > 1e-9)
        return error("", "has particles at different z, but the system has two dimensions");
  check_size(box, distances, error);
  if (molecule_.position.size() > 1 || settings_.region || settings_.center) return;
  const double d = distances.between(molecule_.types[0], molecule_.types[0]);
  const Crowd crowd{double(settings_.number) * sphere_volume(d, box.dimension), d, box.volume(),
                    box.dimension, true};
  if (const std::string what = crowd.stuck(); !what.empty()) error("number", what);
}

bool RigidPart::put(Start& start, const Region& region, const std::vector<std::uint32_t>& types,
                    Philox stream) const {
  const auto center = settings_.center ? settings_.center : region.sample(stream);
  if (!center) return false;
  const bool turned = settings_.orientation == "random";
  const Rotation turn = turned ? random_rotation(stream, start.box().dimension) : Rotation{};
  std::vector<Vec3<double>> places;
  for (std::size_t i = 0; i < molecule_.position.size(); ++i) {
    const Vec3<double> r = *center + turn(molecule_.position[i]);
    if (!region.contains(r) || !start.fits(r, types[molecule_.type[i]])) return false;
    places.push_back(r);
  }
  start.append(molecule_, places, true);
  return true;
}

void RigidPart::place(Start& start, std::uint64_t seed) const {
  const Region region(settings_.region, start.box());
  const auto types = start.types(molecule_.types);
  for (const std::string& what : molecule_.warnings) start.warn(what);
  for (std::int64_t k = 0; k < settings_.number; ++k) {
    bool found = false;
    for (int attempt = 0; attempt < rigid_attempts && !found; ++attempt)
      found = put(start, region, types,
                  io::position_stream(seed, std::uint64_t(attempt), std::uint32_t(k)));
    if (!found)
      throw UserError(fmt::format(
          "no place found for molecule {} of {} ({} particles, at least {} from others) in {} "
          "attempts; use a smaller minimum distance, fewer molecules or a larger region, or place "
          "this part before others",
          k + 1, settings_.number, molecule_.position.size(),
          start.distances().text(molecule_.types), rigid_attempts));
  }
}

}  // namespace perrin::parts
