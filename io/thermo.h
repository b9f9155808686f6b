// Observer "thermo": energies, temperature, pressure, … to a file and to the console.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "engine/components/observer.h"
#include "engine/components/setup.h"
#include "engine/dynamics/observation.h"
#include "io/observable_file.h"

namespace perrin {

struct ThermoSettings {
  std::int64_t stride = 100;
  std::string file = "thermo.h5";
  bool box = false;
  std::vector<std::string> groups;
  std::int64_t console_stride = 0;
  std::vector<std::string> console{"step", "time", "temperature", "total_energy", "pressure"};
};

template <class D>
void describe(D& d, ThermoSettings& s) {
  d.required("stride", s.stride, Positive{}, "output interval (steps)");
  d.optional("file", s.file, Any{}, "HDF5 file, relative to the output directory; empty: none");
  d.optional("box", s.box, Any{},
             "also write box_lengths, box_angles, density, enthalpy, work and shear_strain to the "
             "file, for a box that changes");
  d.optional("groups", s.groups, Any{},
             "groups of particles: kinetic_energy, temperature, momentum, force, heat and "
             "pressure_tensor (its share of that of the system) of each are written to the file, "
             "as temperature_GROUP and so on");
  d.optional("console_stride", s.console_stride, NonNegative{},
             "output interval on the console (steps), a multiple of stride; 0: none");
  d.optional(
      "console", s.console,
      OneOf{"step", "time", "temperature", "kinetic_energy", "potential_energy", "total_energy",
            "conserved_energy", "pressure", "pressure_tensor", "momentum", "volume", "box_lengths",
            "box_angles", "density", "enthalpy", "work", "shear_strain", "rotational_energy",
            "rotational_temperature"},
      "columns on the console; rotational_energy and rotational_temperature are there, and in the "
      "file, where particles have orientations and moments of inertia");
}

/// One row of the table.
class Thermo : public Observer {
 public:
  Thermo(const ThermoSettings& settings, Setup& setup);
  std::int64_t stride() const override { return settings_.stride; }
  void begin(const Observation& seen, bool resumed) override;
  bool only_totals() const override { return true; }
  void observe_totals(const Instant& instant) override;
  /// Of the console; in the file they are no numbers.
  std::string needs_velocities() const override;
  void end(const Observation& seen) override;
  void state(Archive& archive) override;

 private:
  struct Column {
    io::ObservableColumn about;
    std::function<void(const Instant&, std::vector<double>&)> values;
    bool is_written = true;
  };
  void add_rotation(Setup& setup);
  void count_rotation();
  void add_group(const std::string& name, std::size_t k, Setup& setup);
  void keep_written(std::vector<double>& row) const;
  void print(std::int64_t step, double time, const std::vector<double>& row);

  ThermoSettings settings_;
  RunControl* control_;
  std::vector<Column> columns_;
  std::vector<io::ObservableColumn> abouts_;      // of all columns
  std::size_t row_in_file_ = 0, row_in_all_ = 0;  // numbers
  int printed_ = 0;
  std::vector<std::uint8_t> turning_;     // [id]: axes about which it turns
  bool comes_and_goes_ = false;           // particles do
  std::int64_t rotational_freedom_ = -1;  // velocities of rotation in the stage; -1: not counted
  std::optional<Observation> seen_;       // of the stage
  std::unique_ptr<io::ObservableFile> file_;
};

}  // namespace perrin
