#include "neighbor/strain.h"

#include <cmath>

#include "neighbor/tiles/tile_geometry.h"

namespace perrin {
namespace {

/// The upper triangular matrix of the (padded) edges.
struct Edges {
  double xx, yy, zz, xy, xz, yz;
};

Edges edges_of(const Box& box) {
  const auto stretch = [&](std::size_t axis) {
    return box.periodic[axis] ? 1.0 : 1.0 + 2.0 * box.padding[int(axis)];
  };
  const double sx = stretch(0), sy = stretch(1), sz = stretch(2);
  return {box.length.x * sx, box.length.y * sy, box.length.z * sz,
          box.xy * sy,       box.xz * sz,       box.yz * sz};
}

/// (rounded - true) / true
Strain strain(const Edges& rounded, const Edges& h) {
  const double xx = rounded.xx - h.xx, yy = rounded.yy - h.yy, zz = rounded.zz - h.zz,
               xy = rounded.xy - h.xy, xz = rounded.xz - h.xz, yz = rounded.yz - h.yz;
  Strain s;
  s.xx = xx / h.xx, s.yy = yy / h.yy, s.zz = zz / h.zz;
  s.xy = (xy - s.xx * h.xy) / h.yy;
  s.yz = (yz - s.yy * h.yz) / h.zz;
  s.xz = (xz - s.xx * h.xz - s.xy * h.yz) / h.zz;
  return s;
}

}  // namespace

Strain metric_strain(const Box& box) {
  const Metric m = box.metric();
  const auto edge = [](Real per_unit) { return 4294967296.0 * double(per_unit); };
  return strain({edge(m.xx), edge(m.yy), edge(m.zz), edge(m.xy), edge(m.xz), edge(m.yz)},
                edges_of(box));
}

Strain tile_strain(const TileGeometry& g, const Box& box) {
  if (!g.lengths) return metric_strain(box);
  const auto edge = [&](int axis) { return g.grid[axis] * double(g.unit[axis]); };
  return strain({edge(0), edge(1), edge(2), 0, 0, 0}, edges_of(box));
}

Strain unit_strain(double unit, const Box& box) {
  const Edges h = edges_of(box);
  const auto edge = [unit](double x) { return std::nearbyint(x / unit) * unit; };
  return strain({edge(h.xx), edge(h.yy), edge(h.zz), edge(h.xy), edge(h.xz), edge(h.yz)}, h);
}

}  // namespace perrin
