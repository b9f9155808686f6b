// Force "active_force": a force on a particle along its own axis, and a torque about the z axis of
// its own frame, both constant or attributes of the particle. With an integrator that has inertia
// and friction (langevin) particles are active Langevin, or inertial active Brownian, ones: H.
// Löwen, J. Chem. Phys. 152, 040901 (2020). It has no potential: it does work that no energy
// counts.
#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/components/no_potential.h"
#include "engine/components/registry.h"
#include "engine/components/step_context.h"
#include "engine/system/attribute.h"
#include "engine/system/orientations.h"
#include "engine/system/quaternion.h"
#include "engine/system/site_types.h"
#include "forces/anisotropic/deposit_torque.h"
#include "forces/anisotropic/interaction.h"
#include "forces/attribute_words.h"
#include "forces/deposit.h"
#include "forces/external.h"
#include "forces/particle_loop.h"
#include "register.h"

namespace perrin::active {
namespace {

struct ActiveForceSettings {
  std::optional<double> force, torque;
  std::optional<std::string> force_attribute, torque_attribute;
  std::vector<std::string> types;
};

template <class D>
void describe(D& d, ActiveForceSettings& s) {
  d.example("{\"force\": 10}");
  d.any_of({"force", "force_attribute", "torque", "torque_attribute"});
  d.optional("force", s.force, Any{},
             "force along the particle's axis, the x axis of its own frame (energy/length)");
  d.optional("force_attribute", s.force_attribute, Any{},
             "the attribute that is the force of each particle, in place of force");
  d.optional("torque", s.torque, Any{},
             "torque about the z axis of the particle's own frame (energy)");
  d.optional("torque_attribute", s.torque_attribute, Any{},
             "the attribute that is the torque of each particle, in place of torque");
  d.optional("types", s.types, Any{},
             "particle types that it acts on; default: all but those of sites of rigid bodies");
}

struct Push {
  const Position* position;
  const Real4* orientation;
  const std::uint32_t* mask;  // [type]
  std::int64_t n;
  Real force, torque;
  AttributeView<2> attributes;             // force and torque; of nullptr: neither is one
  bool force_attribute, torque_attribute;  // which of the two are read there
  ForceOutput out;

  PERRIN_HD void operator()(std::int64_t i) const {
    const Real on = mask[position[i].type()] ? Real(1) : Real(0);
    Real along = force, about = torque;
    if (force_attribute || torque_attribute) {
      const RealPair a = attributes(i);
      if (force_attribute) along = a.x;
      if (torque_attribute) about = a.y;
    }
    const Real4 q = orientation[i];
    deposit(out, n, i, (on * along) * axis_of(q), Real(0), Virial{}, Real(0));
    deposit_torque(out, i, rotate(q, Real3{0, 0, on * about}));
  }
};

ForceTraits traits_of_active_force() {
  ForceTraits traits = ForceTraits::of_field();
  traits.torques = true;
  traits.energy_share = 0;  // trial moves know of energies alone
  return traits;
}

/// Both that the job names, in the place of force and torque; the system has them.
std::optional<AttributeWords> attributes_of_active_force(const ActiveForceSettings& s,
                                                         Setup& setup) {
  const Configuration& c = setup.configuration();
  bool usable = true;
  const auto look = [&](const auto& name, const char* key, const char* number, bool given) {
    if (!name) return;
    if (given)
      setup.error(key,
                  fmt::format("has the {0} on every particle, and cannot stand beside \"{0}\": "
                              "expected one of the two",
                              number));
    if (attribute_of(c, *name)) return;
    setup.error(key, no_attribute(c, *name));
    usable = false;
  };
  look(s.force_attribute, "force_attribute", "force", s.force.has_value());
  look(s.torque_attribute, "torque_attribute", "torque", s.torque.has_value());
  const std::optional<std::string>&force = s.force_attribute, &torque = s.torque_attribute;
  if (!usable || (!force && !torque)) return {};
  return AttributeWords({force ? *force : *torque, torque ? *torque : *force},
                        force ? "force_attribute" : "torque_attribute", setup);
}

/// Indices of the types that it acts on: sites of bodies have no axes.
std::vector<std::uint32_t> pushed_types(const ActiveForceSettings& s, Setup& setup) {
  std::vector<std::uint32_t> chosen = chosen_types(setup, s.types);
  const std::vector<std::uint8_t> sites = site_types(setup.configuration());
  if (!s.types.empty())
    for (const std::uint32_t type : chosen)
      if (sites[type] != 0)
        setup.error("types", fmt::format("\"{}\" is {}", setup.configuration().types[type],
                                         sites_have_no_axes));
  for (std::uint32_t type = 0; type < sites.size() && s.types.empty(); ++type)
    if (sites[type] == 0) chosen.push_back(type);
  return chosen;
}

class ActiveForce final : public Force, public NoPotential {
 public:
  ActiveForce(const ActiveForceSettings& s, Setup& setup)
      : Force(traits_of_active_force()),
        force_(Real(s.force.value_or(0))),
        torque_(Real(s.torque.value_or(0))),
        force_attribute_(s.force_attribute.has_value()),
        torque_attribute_(s.torque_attribute.has_value()),
        attributes_(attributes_of_active_force(s, setup)),
        mask_(setup.device(), setup.configuration().types.size(), pushed_types(s, setup)) {
    traits_.handled.charges = s.force_attribute == "charge" || s.torque_attribute == "charge";
  }

  void compute(StepContext& s, const ForceOutput& output) override {
    const AttributeView<2> attributes =
        attributes_ ? attributes_->view<2>(s) : AttributeView<2>{nullptr};
    for_each_particle(
        "active_force", s, output,
        Push{s.particles().position().data(), s.particles().orientations()->orientation().data(),
             mask_.data(), s.particles().size(), force_, torque_, attributes, force_attribute_,
             torque_attribute_, output});
  }
  void follow_attributes(const std::map<std::string, std::vector<double>>& changed) override {
    if (attributes_) attributes_->follow(changed);
  }

 private:
  Real force_, torque_;
  bool force_attribute_, torque_attribute_;
  std::optional<AttributeWords> attributes_;
  TypeMask mask_;
};

}  // namespace

void register_active_force(Registry& registry) {
  registry.add<Force, ActiveForceSettings>(
      "active_force", "a force along the axis of each particle, and a torque about its z axis",
      [](const ActiveForceSettings& s, Setup& setup) {
        return std::make_unique<ActiveForce>(s, setup);
      });
}

}  // namespace perrin::active
