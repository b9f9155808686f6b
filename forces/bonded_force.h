// What forces on bonds, angles, dihedrals and impropers have in common: coefficients by the name of
// a type, and the registration. For files compiled as CUDA.
//
// A Kind says which of them it is:
//
//     struct Bonds {
//       static constexpr const char *what, *key, *help, *skip_help;  // "bond"; "bonds": in the job
//       static const std::vector<std::string>& types(const Topology&);
//       static const std::vector<Topology::Bond>& members(const Topology&);
//       static std::vector<bool>& handled(Handled&);
//       static BondedTable<Entry> table(const Device&, std::size_t n, const Topology&,
//                                       const std::vector<bool>& used);
//       template <class P>  // what is called for every particle
//       static Kernel<P> kernel(StepContext&, BondedView<Entry>, const typename P::Coefficients*,
//                               const ForceOutput&);
//       // Optional: where its energy is lowest, up to the longest length.
//       template <class P> static double rest(const typename P::Settings&, double longest);
//       template <class P> struct Meter;  // optional: adds to a BondProbe, of the types `used`
//     };
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/components/bond_probe.h"
#include "engine/components/force.h"
#include "engine/components/registry.h"
#include "engine/components/step_context.h"
#include "engine/device/parallel.h"
#include "forces/attribute_words.h"
#include "forces/bonded_settings.h"
#include "forces/bonded_table.h"
#include "forces/particle_loop.h"

namespace perrin {

template <class P, class Kind>
struct BondedForceSettings {
  std::map<std::string, typename P::Settings> coefficients;
  std::vector<std::string> skip;

  template <class D>
  friend void describe(D& d, BondedForceSettings& s) {
    d.required(Kind::key, s.coefficients, Any{}, Kind::help);
    d.optional("skip", s.skip, Any{}, Kind::skip_help);
  }
};

/// A potential whose evaluate() takes attributes of the particles, too.
template <class P>
concept ReadsAttributes = requires {
  P::attributes.size();
};

template <class P, class Kind>
concept MeasuresBonds = requires {
  typename Kind::template Meter<P>;
};

template <class P, class Kind>
class BondedForce final : public Force {
 public:
  /// Coefficients by the name of the type; members of other types are left alone. `words`: of a
  /// potential that reads attributes.
  BondedForce(const Device& device, const Configuration& configuration,
              const std::map<std::string, typename P::Settings>& settings,
              std::optional<AttributeWords> words = {})
      : Force(ForceTraits::of_bonds()), settings_(settings), words_(std::move(words)) {
    const Topology& topology = configuration.topology;
    const std::vector<std::string>& types = Kind::types(topology);
    std::vector<typename P::Coefficients> coefficients(types.size());
    std::vector<bool> used(types.size(), false);
    for (std::size_t t = 0; t < used.size(); ++t) {
      const auto found = settings_.find(types[t]);
      if (found == settings_.end()) continue;
      used[t] = true;
      coefficients[t] = P::coefficients(found->second);
    }
    table_ = Kind::table(device, configuration.position.size(), topology, used);
    particles_ = configuration.position.size();
    Kind::handled(traits_.handled) = std::move(used);
    if constexpr (ReadsAttributes<P>)
      traits_.handled.charges = std::ranges::count(P::attributes, std::string_view("charge")) > 0;
    traits_.bond_forces = MeasuresBonds<P, Kind>;
    traits_.energy_share = double(Kind::share);
    traits_.fingerprint = fingerprints<P>(settings_);
    coefficients_ = Buffer<typename P::Coefficients>(device, coefficients);
  }

  void compute(StepContext& context, const ForceOutput& output) override {
    auto kernel = Kind::template kernel<P>(context, table_.view(), coefficients_.data(), output);
    if constexpr (ReadsAttributes<P>) kernel.attributes = words_->by_id(context);
    for_each_particle(P::type, context, output, kernel);
  }

  MomentumChange momentum_change(std::span<const std::int64_t>) const override { return {}; }
  bool follows_topology() const override { return true; }
  bool follow_topology(const Topology& topology) override {
    return replace(table_, Kind::table(coefficients_.device(), particles_, topology,
                                       Kind::handled(traits_.handled)));
  }
  void follow_attributes(const std::map<std::string, std::vector<double>>& changed) override {
    if (words_) words_->follow(changed);
  }
  void add_bond_forces(StepContext& context, const BondProbe& probe) override {
    if constexpr (MeasuresBonds<P, Kind>) {
      const std::vector<bool>& types = Kind::handled(traits_.handled);
      const Buffer<std::uint32_t> used(context.device(),
                                       std::vector<std::uint32_t>(types.begin(), types.end()));
      typename Kind::template Meter<P> meter(context, probe, used.data(), coefficients_.data());
      if constexpr (ReadsAttributes<P>) meter.attributes = words_->by_id(context);
      for_each(context.device(), "forces along bonds", probe.count, meter);
      context.device().synchronize();
    }
  }

 private:
  std::map<std::string, typename P::Settings> settings_;  // coefficients may refer to their tables
  std::size_t particles_ = 0;
  decltype(Kind::table(std::declval<const Device&>(), 0, {}, {})) table_;
  Buffer<typename P::Coefficients> coefficients_;
  std::optional<AttributeWords> words_;
};

/// Adds the potential to the force types that a job can name.
template <class P, class Kind>
void register_bonded(Registry& registry) {
  using Settings = BondedForceSettings<P, Kind>;
  registry.add<Force, Settings>(
      P::type, P::help, [](const Settings& s, Setup& setup) -> std::unique_ptr<Force> {
        const Configuration& configuration = setup.configuration();
        const std::vector<std::string>& types = Kind::types(configuration.topology);
        std::vector<std::string> given;
        for (const auto& [name, unused] : s.coefficients) given.push_back(name);
        check_bonded_types(setup, Kind::what, Kind::key, given, s.skip, types,
                           types_in_use(Kind::members(configuration.topology), types.size()));
        auto all = s.coefficients;
        for (auto& entry : all) {
          auto& one = entry.second;
          if constexpr (requires { P::completed(one, true); })
            one = P::completed(one, setup.excludes(Kind::key));
        }
        const auto settings = prepared<P>(std::move(all), Kind::key, setup);
        if (!settings) return nullptr;
        if constexpr (ReadsAttributes<P>) {
          AttributeWords words({P::attributes.begin(), P::attributes.end()}, "energy", setup);
          Kind::template check_exchange<P>(words, configuration.topology, *settings, setup);
          return std::make_unique<BondedForce<P, Kind>>(setup.device(), configuration, *settings,
                                                        std::move(words));
        } else if constexpr (requires { Kind::template rest<P>(settings->begin()->second, 1.0); })
          for (const auto& [name, one] : *settings)
            warn_of_long_rest(setup, Kind::key, name, [&of = one](double longest) {
              return Kind::template rest<P>(of, longest);
            });
        return std::make_unique<BondedForce<P, Kind>>(setup.device(), configuration, *settings);
      });
}

}  // namespace perrin
