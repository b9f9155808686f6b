// Coulomb's law between listed pairs, scaled: the 1-4 interactions of force fields.
#include <algorithm>
#include <memory>
#include <utility>

#include "engine/components/acts_by_coulomb.h"
#include "engine/components/acts_in_place_of.h"
#include "forces/bond_force.h"
#include "forces/charges/coulomb_constant.h"
#include "forces/special_pair_list.h"

namespace perrin {
namespace detail {

/// A bond potential for the kernel of bonds.
struct CoulombBond {
  struct Coefficients {
    Real strength;  // energy · length
  };
  static constexpr std::array<const char*, 1> attributes{"charge"};
  template <class T>
  PERRIN_HD static PairForce<T> evaluate(T r2, const Coefficients& c, const Real4& a,
                                         const Real4& b) {
    const auto distance = Distance<T>::from_square(r2);
    const T energy = T(c.strength * a.x * b.x) * distance.inverse;
    return {energy * distance.inverse * distance.inverse, energy};
  }
};

}  // namespace detail
namespace {

using detail::CoulombBond;

struct SpecialCoulombSettings {
  SpecialPairList which;
  double scale = 1;
  CoulombSettings coulomb;

  template <class D>
  friend void describe(D& d, SpecialCoulombSettings& s) {
    d.example(R"({"from": "list", "list": [[0, 1]], "scale": 0.5})");
    describe(d, s.which);
    d.optional("scale", s.scale, Any{}, "factor of every energy and force");
    d.optional("coulomb", s.coulomb, Any{}, coulomb_help);
  }
};

class SpecialCoulomb final : public Force, public ActsByCoulomb, public ActsInPlaceOf {
 public:
  SpecialCoulomb(const Topology& pairs, double scale, double constant, bool in_topology,
                 Setup& setup)
      : Force(ForceTraits::of_bonds()),
        constant_(constant),
        table_(bond_table(setup.device(), setup.configuration().position.size(), pairs, {true})),
        coefficients_(setup.device(),
                      std::vector<CoulombBond::Coefficients>{{Real(scale * constant)}}),
        words_({"charge"}, "", setup) {
    traits_.energy_share = double(share_of_bond);
    if (!in_topology) traits_.reads = ForceTraits::Reads::everything;
    traits_.handled.charges = true;
    if (scale <= 0) return;  // it takes something of another force
    for (const auto& bond : pairs.bonds) pairs_.emplace_back(bond.a, bond.b);
  }

  void compute(StepContext& context, const ForceOutput& output) override {
    BondKernel<CoulombBond> kernel{context.particles().view(),
                                   context.particles().metric(),
                                   BondVector(context.particles().box()),
                                   table_.view(),
                                   coefficients_.data(),
                                   output,
                                   context.fault_sink()};
    kernel.attributes = words_.by_id(context);
    for_each_particle("special_coulomb", context, output, kernel);
  }
  double coulomb_constant() const override { return constant_; }
  std::vector<SpecialPair> in_place_of() const override { return pairs_; }
  MomentumChange momentum_change(std::span<const std::int64_t>) const override { return {}; }
  bool follows_topology() const override { return false; }
  void follow_attributes(const std::map<std::string, std::vector<double>>& changed) override {
    words_.follow(changed);
  }

 private:
  double constant_;
  std::vector<SpecialPair> pairs_;
  BondedTable<BondEntry> table_;
  Buffer<CoulombBond::Coefficients> coefficients_;
  AttributeWords words_;
};

std::unique_ptr<Force> make_special_coulomb(const SpecialCoulombSettings& s, Setup& setup) {
  const auto pairs = special_pairs(s.which, setup);
  const double constant = coulomb_constant(s.coulomb, setup);
  Topology list;
  for (const auto& [a, b] : pairs) list.bonds.push_back({a, b, 0});
  return std::make_unique<SpecialCoulomb>(list, s.scale, constant,
                                          in_topology(pairs, setup.configuration()), setup);
}

}  // namespace

void register_special_coulomb(Registry& registry) {
  registry.add<Force, SpecialCoulombSettings>(
      "special_coulomb",
      "Coulomb's law between listed pairs or the ends of dihedrals (1-4), scaled, without cut-off: "
      "for pairs that are excluded from the other forces of charges",
      make_special_coulomb);
}

}  // namespace perrin
