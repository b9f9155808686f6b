#include "python/src/kept_forces.h"

#include "engine/core/parallel.h"
#include "engine/run/simulation.h"

namespace perrin::python {
namespace {

struct KeepRow {
  ForeignRows rows;
  const std::uint32_t* id;
  Real share;
  Real4* kept;
  PERRIN_HD Real number(std::int64_t k) const {
    return rows.is_double ? Real(static_cast<const double*>(rows.data)[k])
                          : Real(static_cast<const float*>(rows.data)[k]);
  }
  PERRIN_HD void operator()(std::int64_t i) const {
    const std::int64_t k = i * rows.stride;
    kept[id[i]] = {number(k), number(k + rows.step), number(k + 2 * rows.step), share};
  }
};

struct PutKept {
  const Real4* kept;
  const std::uint32_t* id;
  ForceOutput out;
  std::int64_t n;
  std::array<Real, 6> virial;
  PERRIN_HD void operator()(std::int64_t i) const {
    Real4 f = kept[id[i]];
    if (!out.energy) f.w = 0;
    out.force[i] = out.add ? plus(out.force[i], f) : f;
    if (!out.energy || !out.virial) return;
    for (std::int64_t c = 0; c < 6; ++c) {
      Real& v = out.virial[c * n + i];
      v = (out.add ? v : Real(0)) + virial[std::size_t(c)];
    }
  }
};

}  // namespace

void keep_rows(Simulation& s, const ForeignRows& rows, Real share, Buffer<Real4>& kept) {
  for_each(s.device(), "forces of Python", s.particles.size(),
           KeepRow{rows, s.particles.id.data(), share, kept.data()});
}

void put_kept(Simulation& s, const Buffer<Real4>& kept, const std::array<double, 6>& virial,
              const ForceOutput& output) {
  const std::int64_t n = s.particles.size();
  PutKept put{kept.data(), s.particles.id.data(), output, n, {}};
  for (std::size_t c = 0; c < 6; ++c) put.virial[c] = Real(virial[c] / double(n));
  for_each(s.device(), "forces of Python", n, put);
}

}  // namespace perrin::python
