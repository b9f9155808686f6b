#include "io/parts/plane.h"

#include <algorithm>
#include <cmath>

#include "io/parts/room.h"
#include "io/placement.h"

namespace perrin::parts {

bool Plane::check(const Box& box, const std::string& axis, const Report& error) {
  if (box.dimension == 2 && axis == "z")
    error("axis", "must be x or y in two dimensions");
  else if (!box.orthogonal() && axis != "z")
    error("axis", "must be z in a tilted box");
  else
    return true;
  return false;
}

Plane::Plane(const Box& box, const std::string& axis) : box_(box), axis_(axis[0] - 'x') {
  first_ = axis_ == 0 ? 1 : 0;
  second_ = box.dimension == 2 ? -1 : axis_ == 2 ? 1 : 2;
}

double Plane::area() const {
  return box_.length[first_] * (second_ < 0 ? 1 : box_.length[second_]);
}

Vec3<double> Plane::place(double u, double v, double coordinate) const {
  Vec3<double> s;
  s[axis_] = (coordinate - box_.origin[axis_]) / box_.length[axis_];
  s[first_] = u;
  if (second_ >= 0) s[second_] = v;
  Vec3<double> r = box_.point(s);
  if (box_.dimension == 2) r.z = 0;
  r[axis_] = coordinate;
  return r;
}

Vec3<double> Plane::normal() const {
  Vec3<double> n;
  n[axis_] = 1;
  return n;
}

std::vector<Plane::Site> Plane::sites(std::int64_t n, std::uint64_t seed) const {
  std::int64_t rows = n, columns = 1;
  if (second_ >= 0) {
    const double ratio = box_.length[first_] / box_.length[second_];
    rows = std::clamp<std::int64_t>(rounded(std::sqrt(double(n) * ratio)), 1, n);
    columns = (n + rows - 1) / rows;
  }
  auto order = io::shuffled(Purpose::initial_positions, seed, std::uint32_t(rows * columns));
  order.resize(std::size_t(n));
  std::ranges::sort(order);
  std::vector<Site> sites;
  for (const std::int64_t k : order) {
    const std::int64_t row = k / columns, column = k % columns;
    sites.push_back({(double(row) + 0.5) / double(rows), (double(column) + 0.5) / double(columns)});
  }
  return sites;
}

}  // namespace perrin::parts
