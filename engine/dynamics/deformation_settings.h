// What a job says of the stage's box: "deform" and "shear" (engine/dynamics/deformation.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/base/real.h"
#include "engine/settings/settings.h"

namespace perrin {

class Setup;

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
  d.optional("x", s.x, Positive{}, "target length of the box along x");
  d.optional("y", s.y, Positive{}, "target length along y");
  d.optional("z", s.z, Positive{}, "target length along z");
  d.optional("xy", s.xy, Any{},
             "target of the tilt xy: the x component of the edge along y (length). A tilt that is "
             "not given stays proportional to the edge in whose direction it leans");
  d.optional("xz", s.xz, Any{}, "target of the tilt xz: the x component of the edge along z");
  d.optional("yz", s.yz, Any{}, "target of the tilt yz: the y component of the edge along z");
  d.optional("angles", s.angles, Any{},
             "target angles alpha, beta and gamma between the edges y and z, x and z, x and y, in "
             "degrees, instead of tilts; x, y and z remain target lengths along the axes");
  d.optional("volume", s.volume, Positive{}, "target volume; all edges change by the same factor");
  d.optional("density", s.density, Positive{},
             "target number density; all edges change by the same factor");
  d.optional("steps", s.steps, Positive{},
             "number of steps from the box at the start of the stage to the target; the box is "
             "constant afterwards. Default: the steps of the stage");
  d.optional("form", s.form, OneOf{"linear", "exponential", "oscillating"},
             "linear: lengths linear in time; exponential: constant strain rate (tilts linear); "
             "oscillating: a sine about the box at the start of the stage, with the target as one "
             "extreme");
  d.optional("period", s.period, Positive{}, "period of the oscillation (time)");
  d.optional("remap_velocities", s.remap_velocities, Any{},
             "true: velocities are relative to the flow of the box, which does work on the "
             "particles; false: only positions are remapped, velocities do not change");
  d.optional("work", s.work, Any{},
             "measure the work in every step, for conserved_energy of thermo; computes energies "
             "and virials in every step");
}

struct ShearSettings {
  double rate = 0;
  std::string flow = "x", gradient = "y";
  bool work = false;
};

template <class D>
void describe(D& d, ShearSettings& s) {
  d.required("rate", s.rate, Any{},
             "shear rate: increase of the flow velocity per length along the gradient (1/time)");
  d.optional("flow", s.flow, OneOf{"x", "y"}, "flow direction");
  d.optional("gradient", s.gradient, OneOf{"y", "z"},
             "gradient direction: it follows flow in the order x, y, z");
  d.optional("work", s.work, Any{},
             "measure the work in every step, for conserved_energy of thermo; computes energies "
             "and virials in every step");
}

/// The tilts xy, xz, yz of a box with these lengths along the axes and these angles (degrees);
/// nullopt: there is none.
std::optional<Vec3<double>> tilts_of(const Vec3<double>& length, const Vec3<double>& angles);

/// Report what is wrong with the settings of a stage of `steps` steps.
void check(const DeformSettings& settings, std::int64_t steps, Setup& setup);
void check(const ShearSettings& settings, Setup& setup);

}  // namespace perrin
