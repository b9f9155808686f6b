// Lennard-Jones between listed pairs, scaled: the 1-4 interactions of force fields.
#include <fmt/format.h>

#include "engine/components/acts_in_place_of.h"
#include "forces/bond_force.h"
#include "forces/potentials/lennard_jones.h"
#include "forces/special_pair_list.h"

namespace perrin {
namespace {

struct SpecialPairsSettings {
  struct Types {
    std::array<std::string, 2> types;
    LennardJones::Settings parameters;

    template <class D>
    friend void describe(D& d, Types& s) {
      d.required("types", s.types, Any{}, "the two particle types, e.g. [\"A\", \"B\"]");
      describe(d, s.parameters);
    }
  };
  SpecialPairList which;
  std::string mixing = "none";
  double scale = 1;
  std::vector<Types> pairs;

  template <class D>
  friend void describe(D& d, SpecialPairsSettings& s) {
    d.example(
        "{\"from\": \"list\", \"list\": [[0, 1]], \"scale\": 0.5, \"pairs\": [{\"types\": "
        "[\"A\", \"A\"], \"epsilon\": 1, \"sigma\": 1}]}");
    describe(d, s.which);
    d.optional("scale", s.scale, Any{}, "factor of every energy and force");
    d.optional("mixing", s.mixing, OneOf{"none", "lorentz_berthelot", "geometric"},
               "mixing rule for pairs of unlike types that are not listed");
    d.required("pairs", s.pairs, Any{}, "Lennard-Jones parameters for each pair of types");
  }
};

/// Parameters by type_i · types + type_j; reports what is missing for the types that are needed.
std::vector<LennardJones::Coefficients> coefficients(const SpecialPairsSettings& s,
                                                     const std::vector<bool>& needed,
                                                     Setup& setup) {
  const auto& names = setup.configuration().types;
  const std::size_t n = names.size();
  std::vector<std::optional<LennardJones::Settings>> table(n * n);
  for (std::size_t k = 0; k < s.pairs.size(); ++k) {
    const std::string key = fmt::format("pairs[{}].types", k);
    const std::size_t a = setup.type_index(s.pairs[k].types[0], key),
                      b = setup.type_index(s.pairs[k].types[1], key);
    if (names[a] != s.pairs[k].types[0] || names[b] != s.pairs[k].types[1]) continue;  // reported
    if (table[a * n + b])
      setup.error(key, fmt::format("the pair {}, {} is given twice", names[a], names[b]));
    table[a * n + b] = table[b * n + a] = s.pairs[k].parameters;
  }
  std::vector<LennardJones::Coefficients> out(n * n);
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b) {
      auto parameters = table[a * n + b];
      if (!parameters && s.mixing != "none" && table[a * n + a] && table[b * n + b])
        parameters = LennardJones::mix(
            *table[a * n + a], *table[b * n + b],
            s.mixing == "geometric" ? Mixing::geometric : Mixing::lorentz_berthelot);
      if (!parameters) {
        if (needed[a * n + b])
          setup.error("pairs",
                      fmt::format("no parameters for the types {} and {}", names[a], names[b]));
        continue;
      }
      parameters->epsilon *= s.scale;
      out[a * n + b] = LennardJones::coefficients(*parameters);
    }
  return out;
}

/// The bond kernel over the listed pairs: without a cut-off.
class SpecialPairs final : public Force, public ActsInPlaceOf {
 public:
  SpecialPairs(const Device& device, std::size_t particles, const Topology& pairs, double scale,
               const std::vector<LennardJones::Coefficients>& coefficients, bool in_topology)
      : Force(ForceTraits::of_bonds()),
        table_(bond_table(device, particles, pairs, std::vector<bool>(coefficients.size(), true))),
        coefficients_(device, std::span<const LennardJones::Coefficients>(coefficients)) {
    traits_.energy_share = double(share_of_bond);
    if (!in_topology) traits_.reads = ForceTraits::Reads::everything;
    if (scale <= 0) return;  // it takes something of another force
    for (const auto& bond : pairs.bonds) pairs_.emplace_back(bond.a, bond.b);
  }

  void compute(StepContext& context, const ForceOutput& output) override {
    const ParticleView particles = context.particles().view();
    for_each_particle("special_pairs", context, output,
                      BondKernel<LennardJones>{particles, context.particles().metric(),
                                               BondVector(context.particles().box()), table_.view(),
                                               coefficients_.data(), output, context.fault_sink()});
  }
  MomentumChange momentum_change(std::span<const std::int64_t>) const override { return {}; }
  bool follows_topology() const override { return false; }
  std::vector<SpecialPair> in_place_of() const override { return pairs_; }

 private:
  std::vector<SpecialPair> pairs_;
  BondedTable<BondEntry> table_;
  Buffer<LennardJones::Coefficients> coefficients_;
};

std::unique_ptr<Force> make_special_pairs(const SpecialPairsSettings& s, Setup& setup) {
  const Configuration& c = setup.configuration();
  const auto pairs = special_pairs(s.which, setup);
  const std::size_t types = c.types.size();
  Topology list;  // a bond type is a pair of particle types
  std::vector<bool> needed(types * types, false);
  for (const auto& [a, b] : pairs) {
    const std::uint32_t low = std::min(c.type[a], c.type[b]), high = std::max(c.type[a], c.type[b]);
    list.bonds.push_back({a, b, low * std::uint32_t(types) + high});
    needed[list.bonds.back().type] = true;
  }
  return std::make_unique<SpecialPairs>(setup.device(), c.position.size(), list, s.scale,
                                        coefficients(s, needed, setup), in_topology(pairs, c));
}

}  // namespace

void register_special_pairs(Registry& registry) {
  registry.add<Force, SpecialPairsSettings>(
      "special_pairs",
      "Lennard-Jones between listed pairs or the ends of dihedrals (1-4), scaled, without cut-off; "
      "to exclude 1-4 pairs from pair forces, set \"neighbors\": {\"exclusions\": [\"bonds\", "
      "\"angles\", \"dihedrals\"]}",
      make_special_pairs);
}

}  // namespace perrin
