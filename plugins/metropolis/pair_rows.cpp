#include "pair_rows.h"

#include <algorithm>
#include <numbers>

#include "forces/potentials/lennard_jones.h"

namespace perrin::metropolis {

template <class T>
PairRow<T> make_row(const PairParameters& p, double kT) {
  PairRow<T> row{};
  row.kind = std::uint32_t(p.kind);
  double cutoff = p.cutoff > 0 ? p.cutoff : 1e12;
  switch (p.kind) {
    case PairKind::wca:
      cutoff = std::min(cutoff, Wca::default_cutoff({p.b, p.a}));
      row.c = T(p.b);
      [[fallthrough]];
    case PairKind::lennard_jones:
      row.a = T(p.a * p.a);
      row.b = T(4 * p.b);
      break;
    case PairKind::yukawa:
      row.a = T(p.a), row.b = T(p.b);
      break;
    case PairKind::morse:
      row.a = T(p.a), row.b = T(p.b), row.c = T(p.c);
      break;
    case PairKind::gaussian_core: {
      const auto c = GaussianCore::coefficients({p.a, p.b});
      row.a = T(c.epsilon), row.b = T(c.inverse_sigma2);
      break;
    }
    case PairKind::soft_dpd: {
      const auto c = SoftDpd::coefficients({p.a, cutoff});
      row.a = T(c.energy), row.b = T(c.inverse_range);
      break;
    }
  }
  row.cutoff2 = T(cutoff * cutoff);
  row.core2 = T(p.core * p.core);
  row.core_energy = T(1e9 * kT);
  return row;
}

template <class T>
std::vector<PairRow<T>> make_rows(const Model& model, double kT) {
  std::vector<PairRow<T>> rows;
  for (const PairParameters& pair : model.pairs) rows.push_back(make_row<T>(pair, kT));
  return rows;
}

template <class T>
std::vector<PairRow<T>> make_rows(const System& system) {
  const auto kT = system.temperatures();
  return make_rows<T>(system.model(), *std::max_element(kT.begin(), kT.end()));
}

template PairRow<float> make_row<float>(const PairParameters&, double);
template PairRow<double> make_row<double>(const PairParameters&, double);
template std::vector<PairRow<float>> make_rows<float>(const Model&, double);
template std::vector<PairRow<double>> make_rows<double>(const Model&, double);
template std::vector<PairRow<float>> make_rows<float>(const System&);
template std::vector<PairRow<double>> make_rows<double>(const System&);

bool plain_lennard_jones(const Model& model) {
  return std::all_of(model.pairs.begin(), model.pairs.end(), [](const PairParameters& p) {
    return p.kind == PairKind::lennard_jones && p.cutoff == 0 && p.core == 0;
  });
}

std::uint32_t uniform_sites(const Model& model) {
  const std::size_t n = model.templates.front().sites.size();
  for (const MoleculeTemplate& t : model.templates)
    if (t.sites.size() != n) return 0;
  return std::uint32_t(n);
}

TailEnergy tail_of(const Model& model, double volume) {
  TailEnergy tail;
  if (!model.tail) return tail;
  std::vector<double> number(model.types.size());
  for (const std::uint32_t t : model.molecule)
    for (const auto& site : model.templates[t].sites) number[site.type] += 1;
  for (std::uint32_t a = 0; a < number.size(); ++a)
    for (std::uint32_t b = 0; b < number.size(); ++b) {
      const PairParameters& p = model.pair(a, b);
      if (p.kind != PairKind::lennard_jones || p.cutoff == 0) continue;
      const double weight = 2 * std::numbers::pi * number[a] * number[b] / volume;
      tail.energy += weight * LennardJones::tail_energy({p.b, p.a}, p.cutoff);
      tail.virial += weight * LennardJones::tail_virial({p.b, p.a}, p.cutoff);
    }
  return tail;
}

}  // namespace perrin::metropolis
