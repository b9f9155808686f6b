// The box as degrees of freedom of FIRE: to a minimum of the enthalpy U + P V.
//
// The coordinate of a group of axes is q = l ln(edge), where l = √(axes N) (V/N)^(1/dimension) is
// that of the box at the start: with the mean mass of the particles its stiffness is about that of
// a particle in a solid, and FIRE treats it as one more particle. (The scale of the cell filters of
// A. H. Larsen et al., J. Phys.: Condens. Matter 29, 273002 (2017).) Particles keep their places in
// units of the edges, and move within them as without.
#pragma once

#include <string>

#include "engine/components/box_mover.h"
#include "engine/device/buffer.h"
#include "engine/system/archive.h"
#include "integrators/moving_axes.h"
#include "integrators/virial_meter.h"

namespace perrin {

struct FireRule;

struct FireCellSettings {
  double pressure = 0, tolerance = 1e-3;
  std::string axes = "all";
};

template <class D>
void describe(D& d, FireCellSettings& s) {
  d.required("pressure", s.pressure, Any{},
             "target pressure, without the kinetic part (energy per volume)");
  d.required("tolerance", s.tolerance, Positive{},
             "convergence: largest deviation of the pressure of any group of axes from the target");
  describe_moving_axes(d, s.axes);
}

/// What is kept on the device.
struct FireCellMemory {
  double velocity[3], force[3];  // of the coordinates q
  double off;                    // the largest difference of a pressure from the one asked for
  AxisSums virial;
  Box before;  // of the running step
  double velocity_before[3];
  std::int64_t moved_step;  // in which the box was moved; -1: none
};

/// For kernels.
struct FireCellView {
  FireCellMemory* memory = nullptr;  // nullptr: the box stays
  Box* box = nullptr;
  const std::uint64_t* step = nullptr;
  MovingAxes axes;
  double length[3] = {1, 1, 1};  // l of each group
  double inverse_mass = 1, pressure = 0, tail = 0, tolerance = 0;

  /// The forces of the coordinates, from the virial in the present box.
  PERRIN_HD void set_forces() const {
    const double volume = box->length.x * box->length.y * box->length.z;
    double sum[3] = {0, 0, 0};
    for (int k = 0; k < 3; ++k)
      if (axes.group[k] >= 0)
        sum[axes.group[k]] +=
            memory->virial.of[k] + tail / (axes.dimension * volume) - volume * pressure;
    memory->off = 0;
    for (int g = 0; g < axes.groups; ++g) {
      memory->force[g] = sum[g] / length[g];
      const double off = std::abs(sum[g]) / (axes.count(g) * volume);
      if (!(off <= memory->off)) memory->off = off;
    }
  }
};

class FireCell final : public BoxMover {
 public:
  explicit FireCell(const FireCellSettings& settings) : settings_(settings) {}

  /// For Fire::begin(), after ensure_forces(). `rule`: the minimiser's, on the device. Throws
  /// UserError where a force knows no pressure.
  void begin(StepContext& context, const FireRule* rule);
  void move_box(StepContext& context) override;
  double most() const override { return begun_ ? 0.005 : 0; }
  std::array<bool, 3> axes() const override { return MovingAxes(settings_.axes, 3).which(); }
  /// Behind the forces. Device work.
  void measure(StepContext& context);
  FireCellView view(StepContext& context);
  /// For the console.
  std::string report() const;
  void state(Archive& archive);

 private:
  FireCellSettings settings_;
  bool begun_ = false;
  const FireRule* rule_ = nullptr;
  double mean_mass_ = 1;
  VirialMeter meter_;
  Buffer<FireCellMemory> memory_;
};

}  // namespace perrin
