#include "bonds.h"

#include <algorithm>

#include "engine/components/registry.h"
#include "engine/dynamics/dynamic_bonds.h"
#include "engine/dynamics/observation.h"
#include "engine/system/bond_graph.h"
#include "io/h5md_elements.h"

namespace perrin::analysis {
namespace {

std::vector<io::ObservableColumn> columns_of(std::size_t types, std::int32_t sizes) {
  return {
      {"bonds", {types}, ""}, {"formed", {types}, ""},      {"broken", {types}, ""},
      {"conversion", {}, ""}, {"molecules", {}, ""},        {"largest", {}, ""},
      {"mean_size", {}, ""},  {"weight_mean_size", {}, ""}, {"distribution", {hsize_t(sizes)}, ""}};
}

}  // namespace

Bonds::Bonds(const BondsSettings& settings, Setup& setup)
    : settings_(settings),
      names_(setup.configuration().topology.bond_types),
      type_(setup.configuration().type),
      file_(output_path(settings.file, setup), columns_of(names_.size(), settings.sizes), setup) {
  if (names_.empty())
    setup.error("type", "bonds needs bonds: the system has none, and the job makes none");
}

void Bonds::begin(const Observation& seen, bool resumed) {
  file_.begin(seen, resumed, [this](const io::Node& root) {
    io::write_names(root, "parameters/perrin/bond_types", names_);
  });
}

double Bonds::conversion(const Observation& seen) const {
  if (!seen.dynamic_bonds()) return 0;
  const auto& valence = seen.dynamic_bonds()->rules().valence;
  double used = 0, all = 0;
  for (const std::uint32_t type : type_) all += double(std::max<std::int64_t>(0, valence[type]));
  for (const auto& bond : seen.particles().properties().topology.bonds)
    for (const std::uint32_t end : {bond.a, bond.b}) used += valence[type_[end]] >= 0 ? 1 : 0;
  return all > 0 ? used / all : 0;
}

void Bonds::observe(const Observation& s) {
  const auto& bonds = s.particles().properties().topology.bonds;
  const std::size_t types = names_.size();
  std::vector<double> row(3 * types, 0.0);
  for (const auto& bond : bonds) row[bond.type] += 1;
  for (std::size_t t = 0; s.dynamic_bonds() && t < types; ++t) {
    row[types + t] = double(s.dynamic_bonds()->formed()[t]);
    row[2 * types + t] = double(s.dynamic_bonds()->broken()[t]);
  }
  const std::vector<std::uint32_t> molecule = BondGraph(type_.size(), bonds).molecules();
  std::vector<std::int64_t> size(type_.size(), 0);
  for (const std::uint32_t m : molecule) ++size[m];
  std::vector<double> distribution(std::size_t(settings_.sizes), 0.0);
  double molecules = 0, largest = 0, squares = 0;
  for (const std::int64_t n : size) {
    if (n == 0) continue;
    molecules += 1;
    largest = std::max(largest, double(n));
    squares += double(n) * double(n);
    distribution[std::min(distribution.size(), std::size_t(n)) - 1] += 1;
  }
  const double all = double(type_.size());
  row.insert(row.end(), {conversion(s), molecules, largest, all / molecules, squares / all});
  row.insert(row.end(), distribution.begin(), distribution.end());
  file_.append(std::int64_t(s.step()), s.time(), std::move(row));
}

void Bonds::end(const Observation& seen) { file_.end(seen); }

void Bonds::state(Archive& archive) { file_.state(archive); }

void register_bonds(Registry& registry) {
  registry.add<Observer, BondsSettings>(
      "bonds", "number of bonds, made and broken ones, conversion, sizes of molecules",
      [](const BondsSettings& s, Setup& setup) { return std::make_unique<Bonds>(s, setup); });
}

}  // namespace perrin::analysis
