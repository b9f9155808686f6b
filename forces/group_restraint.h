// A spring between the centres of mass of two groups, or from one group to a point: pulling, and
// the windows of umbrella sampling.
//
// E = k/2 (d - l(t))² with the distance d and l(t) = length + rate t; to a point without length,
// E = k/2 (R - point - velocity t)²; or a formula of d and t. t is the time of the job. The force
// is shared out by mass, so that it turns and stretches no group. The work of the motion is summed
// up as C. Jarzynski, Phys. Rev. E 56, 5018 (1997), equation 20, has it: in every step by how much
// the energy changes with the parameter where the particles are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/components/force.h"
#include "engine/formula/program.h"
#include "engine/settings/settings.h"
#include "forces/mass_center.h"

namespace perrin {

struct GroupRestraintSettings {
  std::vector<std::string> groups;
  std::optional<Vec3<double>> point;
  Vec3<double> velocity{0, 0, 0};
  std::optional<double> stiffness, length;
  double rate = 0;
  std::optional<std::string> energy;
  std::string axes = "xyz";
};

template <class D>
void describe(D& d, GroupRestraintSettings& s) {
  d.example("{\"groups\": [\"all\"], \"stiffness\": 100, \"point\": [0, 0, 0]}");
  d.required("groups", s.groups, Any{}, "two groups, or one that is held to a point");
  d.optional("point", s.point, Any{},
             "point that one group is held to; 0: the middle of the box (perrin help coordinates)");
  d.optional("velocity", s.velocity, Any{}, "velocity of the point (length/time)");
  d.optional("stiffness", s.stiffness, Positive{}, "energy/length²");
  d.optional("length", s.length, NonNegative{},
             "distance at rest; of two groups required, of a group and a point: 0, and the point "
             "itself is the centre");
  d.optional("rate", s.rate, Any{}, "change of the length with the time of the job (length/time)");
  d.optional("energy", s.energy, Any{},
             "in place of stiffness, length and rate: formula of the distance r and the time t of "
             "the job; perrin help formula");
  d.any_of({"stiffness", "energy"});
  d.optional("axes", s.axes, OneOf{"x", "y", "z", "xy", "xz", "yz", "xyz"},
             "axes along which the distance is measured and the force acts");
}

/// What it measured last.
struct RestraintReading {
  double distance = 0, length = 0;  // of a formula the length is 0
  double force = 0;  // on the second group or the group, along the distance; negative: inwards
  double work = 0;   // done by the motion of length or point, since the job began
};

class GroupRestraint : public Force {
 public:
  /// On the device.
  struct Spring {
    MassCenterSums group[2];
    Real3 pull[2];    // on a unit of mass of each group
    double share[2];  // of the energy, for a unit of mass
    RestraintReading reading;
  };

  /// Of a formula of r and t: the energy and its derivative by r; empty: a spring.
  struct Formula {
    std::vector<formula::Instruction> energy, slope;
  };

  GroupRestraint(const GroupRestraintSettings& settings, const Formula& formula,
                 const Device& device, const std::vector<Group>& groups);
  void compute(StepContext& context, const ForceOutput& output) override;
  MomentumChange momentum_change(std::span<const std::int64_t> particles) const override;
  void state(Archive& archive) override;
  /// Of the last step. Waits.
  RestraintReading reading() const { return spring_.to_host(0).reading; }

 private:
  GroupRestraintSettings settings_;
  Buffer<formula::Instruction> energy_, slope_;  // empty: a spring
  std::vector<GroupOnDevice> groups_;
  Buffer<Spring> spring_;
  Buffer<MassCenterSums> scratch_;
};

}  // namespace perrin
