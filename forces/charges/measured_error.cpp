#include "forces/charges/measured_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/components/step_context.h"
#include "forces/charges/charge_smearing.h"
#include "forces/charges/exact_forces.h"
#include "forces/charges/waves.h"
#include "forces/unwrapped.h"
#include "neighbor/neighbors.h"

namespace perrin {
namespace {

/// So many products are summed up in half a minute.
constexpr double most_terms = 1e9;
/// So many wave vectors have room in memory.
constexpr double most_waves = 2e7;

/// `place`: of each source, in the memory of the particles.
PeriodicSources sources_of(StepContext& context, const MeasuredSum& sum,
                           std::vector<std::size_t>& place) {
  const ParticleView p = context.particles().view();
  const Box& box = context.particles().box();
  PeriodicSources s;
  s.cell = repeated_cell(box, sum.terms.slab.value_or(1));
  s.cell.periodic = {true, true, true};
  s.smearing = sum.smearing;
  constexpr auto none = std::size_t(-1);
  std::vector<std::size_t> source(std::size_t(p.n), none);  // of each place
  for (std::size_t i = 0; i < source.size(); ++i) {
    const bool there =
        sum.charge.empty() ? dot(sum.moment[i], sum.moment[i]) > 0 : sum.charge[i] != 0;
    if (!there) continue;
    source[i] = place.size();
    place.push_back(i);
    s.position.push_back(unwrapped_point(box, p.position[i], p.image[i]));
    sum.charge.empty() ? s.moment.push_back(sum.moment[i]) : s.charge.push_back(sum.charge[i]);
  }
  const ExclusionView excluded =
      context.neighbors() ? context.neighbors()->exclusions() : ExclusionView{};
  for (std::size_t k = 0; excluded && k < place.size(); ++k) {
    const std::uint32_t id = p.id[place[k]];
    for (std::uint32_t e = excluded.begin[id]; e < excluded.begin[id + 1]; ++e) {
      const std::size_t other = source[p.index[excluded.excluded[e]]];
      if (other != none && other > k) s.excluded.emplace_back(k, other);
    }
  }
  return s;
}

/// Of sums whose error is a hundredth, unless rounding in double precision is more.
EwaldParameters exact_parameters(const MeasuredSum& sum, const PeriodicSources& s) {
  const ChargedSystem& of = sum.system;
  const double near = of.constant * of.squares / of.particles *
                      std::pow(of.particles / of.volume, of.flat ? 1 : 2.0 / 3);
  const double error = std::max(sum.predicted / 100, 1e-10 * near), end = farthest_pair(s.cell);
  if (s.smearing && smearing_error(of, *s.smearing, end) > error)
    throw UserError(fmt::format(
        "the clouds of charge reach beyond half of the box ({:.4g}): an error of forces of {:.2g} "
        "cannot be measured in it; take a larger system",
        end, sum.predicted));
  const EwaldParameters p = choose_ewald(of, end, error);
  if (const double waves = count_waves(s.cell, p.k_max); waves > most_waves)
    throw UserError(fmt::format(
        "a sum that is exact enough takes {:.2g} wave vectors, more than {:.0g}: measure the error "
        "in a box whose edges differ less",
        waves, most_waves));
  if (const double terms = terms_of_forces(s, p); terms > most_terms)
    throw UserError(fmt::format(
        "{} charges or dipoles and {:.3g} wave vectors are {:.2g} products, more than {:.0g}: "
        "measure the error in a smaller system of the same density",
        s.position.size(), count_waves(s.cell, p.k_max), terms, most_terms));
  return p;
}

}  // namespace

MeasuredError measure_error(StepContext& context, Force& force, const MeasuredSum& sum) {
  std::vector<std::size_t> place;
  const PeriodicSources sources = sources_of(context, sum, place);
  if (place.empty())
    throw UserError(fmt::format("no particle has a {} at the start: there is no error to measure",
                                sum.charge.empty() ? "dipole moment" : "charge"));
  EwaldTerms terms = sum.terms;
  terms.parameters = exact_parameters(sum, sources);
  const std::vector<Vec3<double>> exact = exact_forces(sources, terms);

  Buffer<Real4> found(context.device(), context.particles().size());
  Buffer<Real4> torque(context.device(), force.traits().torques ? context.particles().size() : 0);
  ForceOutput output{found.data(), nullptr, false, false};
  if (force.traits().torques) output.torque = torque.data();
  force.act(context, output);
  const std::vector<Real4> forces = found.to_host();
  double squares = 0;
  for (std::size_t k = 0; k < place.size(); ++k) {
    const Real4& f = forces[place[k]];
    const Vec3<double> d = Vec3<double>{double(f.x), double(f.y), double(f.z)} - exact[k];
    squares += dot(d, d);
  }
  return {std::sqrt(squares / double(place.size())), sum.predicted, terms.constant,
          std::int64_t(place.size())};
}

}  // namespace perrin
