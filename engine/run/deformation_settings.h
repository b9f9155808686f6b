// What a job says of the stage's box: "deform" and "shear" (engine/run/deformation.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/core/real.h"
#include "engine/run/setup.h"
#include "engine/settings/settings.h"

namespace perrin {

struct DeformSettings {
  std::optional<double> x, y, z, xy, xz, yz, volume, density;
  std::optional<Vec3<double>> angles;
  std::optional<std::int64_t> steps;
  std::string form = "linear";
  std::optional<double> period;
  bool remap_velocities = true, work = false;
};

template <class D>
void describe(D& d, DeformSettings& s) {
  d.optional("x", s.x, Positive{}, "length of the box along x that is the target");
  d.optional("y", s.y, Positive{}, "along y");
  d.optional("z", s.z, Positive{}, "along z");
  d.optional("xy", s.xy, Any{},
             "target of this tilt: how far the edge along y leans towards x (length). Tilts that "
             "are not given stay in proportion to the edge along which they lean");
  d.optional("xz", s.xz, Any{}, "the edge along z towards x");
  d.optional("yz", s.yz, Any{}, "the edge along z towards y");
  d.optional(
      "angles", s.angles, Any{},
      "targets of the angles alpha, beta and gamma between the edges y and z, x and z, x and "
      "y, in degrees, in place of tilts; x, y and z are then of the target the lengths along "
      "the axes, as always");
  d.optional("volume", s.volume, Positive{}, "target, all edges in proportion");
  d.optional("density", s.density, Positive{}, "particles per volume as target, as volume");
  d.optional("steps", s.steps, Positive{},
             "from the box at the beginning of the stage to the "
             "target; then it stays. Default: those of the stage");
  d.optional("form", s.form, OneOf{"linear", "exponential", "oscillating"},
             "lengths linear in time; at a constant rate (tilts linear); as a sine between target, "
             "box at the beginning, and as far on the other side");
  d.optional("period", s.period, Positive{}, "of oscillations (time)");
  d.optional("remap_velocities", s.remap_velocities, Any{},
             "velocities are relative to the flow of the box, which does work on them; false: they "
             "stay as they are, and only places are changed");
  d.optional("work", s.work, Any{},
             "measure the work in every step, for conserved_energy of thermo; costs a computation "
             "of energies and virials a step");
}

struct ShearSettings {
  double rate = 0;
  std::string flow = "x", gradient = "y";
  bool work = false;
};

template <class D>
void describe(D& d, ShearSettings& s) {
  d.required("rate", s.rate, Any{},
             "by how much the velocity along flow grows with the place along gradient (1/time)");
  d.optional("flow", s.flow, OneOf{"x", "y"}, "axis along which the fluid flows");
  d.optional("gradient", s.gradient, OneOf{"y", "z"}, "axis across it: behind flow in x, y, z");
  d.optional("work", s.work, Any{},
             "measure the work in every step, for conserved_energy of thermo; costs a computation "
             "of energies and virials a step");
}

/// The tilts xy, xz, yz of a box with these lengths along the axes and these angles (degrees);
/// nullopt: there is none.
std::optional<Vec3<double>> tilts_of(const Vec3<double>& length, const Vec3<double>& angles);

/// Report what is wrong with settings of a stage of so many steps.
void check(const DeformSettings& settings, std::int64_t steps, Setup& setup);
void check(const ShearSettings& settings, Setup& setup);

}  // namespace perrin
