// Everything that can be registered, on every kind of system, every traversal and device: saved at
// random steps, resumed, compared by id and to the last bit with the run that never stopped; run
// again from its record; resumed from checkpoints whose records were changed. A new type enters by
// being registered; what its settings must be where the schema does not say it enough, sample()
// says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <set>

#include "app/commands.h"
#include "engine/run/run.h"
#include "engine/settings/settings_parse.h"
#include "engine/settings/settings_schema.h"
#include "io/formats.h"
#include "io/hdf5.h"
#include "io/writer.h"
#include "tests/ways.h"

namespace perrin {
namespace {

namespace fs = std::filesystem;
using Records = std::map<std::string, Record>;

Components& components() {
  static Components all;
  all.registry.discover();
  return all;
}

Json json(const std::string& text) { return Json::parse(text, nullptr, true, true); }

/// What a job must say of a type beyond the example that its schema gives. A stage's is a whole
/// job.
std::optional<Json> sample(const CatalogueRow& row) {
  static const std::map<std::string, const char*> samples{
      {"dpd_lj", R"({"type": "dpd_lj", "temperature": 1, "cutoff": 1,
        "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1, "gamma": 2}]})"},
      {"bond_harmonic",
       R"({"type": "bond_harmonic", "bonds": {"bond": {"stiffness": 50, "length": 1}}})"},
      {"bond_fene",
       R"({"type": "bond_fene", "bonds": {"bond": {"maximum_length": 5, "epsilon": 1}}})"},
      {"angle_harmonic",
       R"({"type": "angle_harmonic", "angles": {"angle": {"stiffness": 5, "angle": 180}}})"},
      {"angle_cosine", R"({"type": "angle_cosine", "angles": {"angle": {"stiffness": 5}}})"},
      {"angle_cosine_squared",
       R"({"type": "angle_cosine_squared", "angles": {"angle": {"stiffness": 5, "angle": 120}}})"},
      {"dihedral_periodic", R"({"type": "dihedral_periodic", "dihedrals": {"dihedral":
        {"terms": [{"stiffness": 2, "multiplicity": 3},
        {"stiffness": 1, "multiplicity": 1, "phase": 180}]}}})"},
      {"dihedral_harmonic", R"({"type": "dihedral_harmonic",
        "dihedrals": {"dihedral": {"stiffness": 1, "angle": 180}}})"},
      {"dihedral_opls",
       R"({"type": "dihedral_opls",
        "dihedrals": {"dihedral": {"k": [2, -1, 3, 0]}}})"},
      {"dihedral_ryckaert_bellemans", R"({"type": "dihedral_ryckaert_bellemans",
        "dihedrals": {"dihedral": {"c": [1, 1.3, -1.4, -0.3, 2.8, -3.4]}}})"},
      {"improper_harmonic",
       R"({"type": "improper_harmonic", "impropers": {"1": {"stiffness": 2, "angle": 0}}})"},
      {"improper_periodic", R"({"type": "improper_periodic", "impropers": {"1": {"terms": [
        {"stiffness": 2, "multiplicity": 2, "sign": -1}]}}})"},
      {"special_pairs", R"({"type": "special_pairs", "scale": 0.5,
        "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 0.9}]})"},
      {"special_coulomb", R"({"type": "special_coulomb", "scale": 0.5})"},
      {"coulomb_dsf", R"({"type": "coulomb_dsf", "cutoff": 2.5, "damping": 0.3})"},
      {"debye_hueckel", R"({"type": "debye_hueckel", "cutoff": 2.5, "kappa": 1})"},
      {"ewald", R"({"type": "ewald", "cutoff": 2.5, "accuracy": 0.01})"},
      {"buckingham", R"({"type": "buckingham", "cutoff": 2.5, "truncation": "force_shift",
        "pairs": [{"types": ["A", "A"], "amplitude": 1e5, "rho": 0.09, "dispersion": 3}]})"},
      {"lj_wall",
       R"({"type": "lj_wall", "axis": "z", "position": -3.76, "epsilon": 1, "sigma": 0.5})"},
      // These end by themselves.
      {"wca", R"({"type": "wca", "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]})"},
      {"soft_dpd", R"({"type": "soft_dpd", "pairs": [{"types": ["A", "A"], "repulsion": 25}]})"},
      {"lennard_jones", R"({"type": "lennard_jones", "cutoff": 2.5, "truncation": "force_shift",
        "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]})"},
      {"trajectory",
       R"({"type": "trajectory", "stride": 3, "file": "other.h5", "species": "time-dependent",
        "quantities": ["position", "velocity", "force", "image"]})"},
      {"thermo", R"({"type": "thermo", "stride": 2, "file": "other.h5"})"},
      {"profile", R"({"type": "profile", "stride": 2, "rows_every": 10, "bins": 7})"},
      {"structure_factor",
       R"({"type": "structure_factor", "stride": 2, "rows_every": 10, "k_max": 2,
        "partial": true})"},
      {"rdf", R"({"type": "rdf", "stride": 2, "rows_every": 10, "bins": 7, "exclude": "bonds"})"},
      {"mean_square_displacement", R"({"type": "mean_square_displacement", "stride": 1,
        "rows_every": 10, "levels": 3, "remove_drift": true, "particles": 20,
        "wave_numbers": [1, 7], "overlap": 0.1, "non_gaussian": true})"},
      {"chain_dynamics", R"({"type": "chain_dynamics", "stride": 1, "rows_every": 10,
        "levels": 3, "chains": 5, "inner": 2, "modes": [2, 1], "remove_drift": true})"},
      {"velocity_autocorrelation", R"({"type": "velocity_autocorrelation", "stride": 1,
        "rows_every": 10, "levels": 3, "particles": 20})"},
      {"stress_autocorrelation",
       R"({"type": "stress_autocorrelation", "stride": 1, "rows_every": 10, "levels": 3})"},
      {"bond_order",
       R"({"type": "bond_order", "stride": 2, "rows_every": 10, "distance": 1.5, "bins": 4})"},
      {"cluster_size",
       R"({"type": "cluster_size", "stride": 2, "rows_every": 10, "distance": 1.1, "sizes": 4})"},
      {"coordination", R"({"type": "coordination", "stride": 2, "rows_every": 10, "distance": 1.4,
        "smooth_from": 1, "exclude": "molecules", "numbers": 4})"},
      {"group_distance", R"({"type": "group_distance", "stride": 3, "minimum": true,
        "pairs": [["one", "other"], ["other", "third"]]})"},
      {"bonds", R"({"type": "bonds", "stride": 2, "sizes": 4})"},
      {"orientational_correlation", R"({"type": "orientational_correlation", "stride": 2,
        "rows_every": 10, "bins": 7, "l": [1, 3]})"},
      {"patch_bonds", R"({"type": "patch_bonds", "stride": 2, "rows_every": 10, "distance": 1.4,
        "sizes": 4, "numbers": 3,
        "patches": {"A": {"directions": [[1, 0, 0], [0, 1, 0]], "half_angle": 40}}})"},
      {"widom", R"({"type": "widom", "stride": 2, "insertions": 50, "temperature": 1})"},
      {"radial_profile", R"({"type": "radial_profile", "stride": 2, "rows_every": 10, "bins": 4,
        "about": "center_of_mass"})"},
      {"pressure_profile",
       R"({"type": "pressure_profile", "stride": 2, "rows_every": 10, "bins": 4})"},
      {"gay_berne", R"({"type": "gay_berne", "cutoff": 1.2,
        "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 0.3, "kappa": 2}]})"},
      {"patchy", R"({"type": "patchy", "cutoff": 1.2,
        "patches": {"A": {"directions": [[1, 0, 0], [0, 1, 0]], "half_angle": 40}},
        "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 0.5}]})"},
      {"bussi", R"({"type": "bussi", "timestep": 0.002, "temperature": 0.8, "tau": 0.1})"},
      {"langevin", R"({"type": "langevin", "timestep": 0.002, "temperature": 0.8, "friction": 1})"},
      {"brownian",
       R"({"type": "brownian", "timestep": 0.0001, "temperature": 0.8, "friction": 1})"},
      {"metropolis", R"({"stages": [{"type": "metropolis", "engine": "sequential", "cycles": 60,
        "molecules": {"A": {"number": 60, "sites": [{"type": "A"}]}}, "box": [5, 5, 5], "cutoff": 2,
        "pairs": [{"types": ["A", "A"], "sigma": 1, "epsilon": 1}], "temperature": 1.2,
        "translation": 0.2, "stride": 5, "rdf": {"bins": 20, "interval": 5, "rows": 10},
        "trajectory": {"interval": 10}}]})"},
      {"neutron_slab", R"job({"stages": [{"type": "neutron_slab", "thickness": 5, "total": 1.1,
        "scattering": 1, "histories": 40000, "batch": 1000, "stride": 4000, "depth_bins": 10},
        {"type": "neutron_slab", "layers": [{"thickness": 1, "mass": 1, "scattering": "2+1/sqrt(E)",
        "absorption": "0.1/sqrt(E)"}, {"thickness": 2, "total": 3, "absorption": 0.05}],
        "source": {"direction": "cosine", "maxwell": 1}, "cutoff_energy": 0.01, "histories": 20000,
        "batch": 1000, "stride": 4000, "depth_bins": 10, "energy_bins": 8, "estimator": "weighted",
        "near_face": "reflecting", "generator": "mt607", "streams": 40,
        "file": "layers.h5"}]})job"}};
  const auto found = samples.find(row.type);
  if (found != samples.end()) return json(found->second);
  return std::nullopt;
}

Json sample_or_example(const CatalogueRow& row) {
  if (auto given = sample(row)) return *given;
  Json one = example(row, components().registry);
  // A cut-off is optional where each pair of types can have its own.
  const auto settings = row.settings->create();
  Fields fields;
  row.settings->describe(fields, settings.get());
  for (const Field& f : fields.list())
    if (f.key == "cutoff" && !one.contains("cutoff")) one["cutoff"] = 2.5;
  return one;
}

// Systems.

const char* liquid =
    R"({"type": "lattice", "structure": "fcc", "density": 0.6, "cells": [5, 5, 5]})";
const char* open = R"({"type": "lattice", "structure": "fcc", "density": 0.6, "cells": [4, 4, 4],
                       "periodic": [true, true, false]})";
const char* polymer = R"({"type": "chains", "chains": 24, "pattern": "A10", "density": 0.1,
                          "min_distance": 0.85, "angle_type": "angle",
                          "dihedral_type": "dihedral"})";
// Steps are tuned, then not; dynamics comes between.
const char* trial_moves = R"([
    {"type": "monte_carlo", "sweeps": 16, "temperature": 1.2, "translation": {"displacement": 0.3},
     "tune": {"sweeps": 12, "acceptance": 0.5}},
    {"type": "md", "steps": 12, "name": "dynamics",
     "integrator": {"type": "bussi", "timestep": 0.002, "temperature": 1, "tau": 0.1}},
    {"type": "monte_carlo", "sweeps": 12, "temperature": 1, "final_temperature": 0.8,
     "ramp_steps": 8, "translation": {"displacement": 0.1, "trials": 3}, "name": "second"}])";
// Every kind of move, of dumb-bells in a mixture, at constant pressure.
const char* dumb_bells = R"({"type": "parts", "box": [12, 12, 12], "min_distance": 0.8, "parts": [
    {"type": "chains", "number": 100, "pattern": "A2", "bond_length": 1},
    {"type": "fill", "types": {"S": 2, "T": 1}, "density": 0.35}]})";
const char* all_moves = R"([
    {"type": "monte_carlo", "sweeps": 14, "temperature": 1.2, "translation": {"displacement": 0.2},
     "molecule": {"displacement": 0.2, "rotation": 0.5},
     "swap": {"groups": ["S", "T"], "trials": 0.2},
     "hybrid": {"timestep": 0.004, "steps": 3, "every": 2},
     "barostat": {"pressure": 1, "tau": 4, "axes": "xy,z"},
     "tune": {"sweeps": 12, "acceptance": 0.5}},
    {"type": "md", "steps": 12, "name": "dynamics",
     "integrator": {"type": "bussi", "timestep": 0.002, "temperature": 1, "tau": 0.1}},
    {"type": "monte_carlo", "sweeps": 12, "temperature": 1, "name": "second",
     "barostat": {"pressure": 2, "tau": 8, "axes": "flexible", "stride": 3},
     "hybrid": {"timestep": 0.003, "steps": 2},
     "molecule": {"displacement": 0.1, "rotation": 1}}])";
// Particles that come and go, also while dynamics has its turn in between.
const char* insertions = R"([
    {"type": "monte_carlo", "sweeps": 12, "temperature": 1.2, "translation": {"displacement": 0.2},
     "insertion": [{"type": "A", "activity": 0.1, "trials": 200}]},
    {"type": "md", "steps": 12, "name": "dynamics",
     "integrator": {"type": "langevin", "timestep": 0.002, "temperature": 1, "friction": 1}},
    {"type": "monte_carlo", "sweeps": 12, "temperature": 1, "name": "second",
     "translation": {"displacement": 0.2}, "swap": {"trials": 0.2}, "insertion": [
     {"type": "B", "chemical_potential": -2, "trials": 150},
     {"type": "A", "activity": 0.02, "trials": 100}]}])";
// Turns, of particles that interact in all directions.
const char* turns = R"([
    {"type": "monte_carlo", "sweeps": 14, "temperature": 1.2, "translation": {"displacement": 0.2},
     "rotation": {"angle": 0.5, "trials": 2}, "barostat": {"pressure": 1, "tau": 4},
     "tune": {"sweeps": 12, "acceptance": 0.5}},
    {"type": "md", "steps": 12, "name": "dynamics",
     "integrator": {"type": "bussi", "timestep": 0.002, "temperature": 1, "tau": 0.1}},
    {"type": "monte_carlo", "sweeps": 12, "temperature": 1, "name": "second",
     "rotation": {"angle": 0.3}}])";
// In a plane, where particles lie unevenly.
const char* flat_moves = R"([
    {"type": "monte_carlo", "sweeps": 16, "temperature": 0.3, "translation": {"displacement": 0.4},
     "swap": {"attribute": "h", "difference": 0.3, "trials": 0.5},
     "hybrid": {"timestep": 0.01, "steps": 3, "every": 3},
     "tune": {"sweeps": 12, "acceptance": 0.5}}])";
const char* lj = R"({"type": "lennard_jones", "cutoff": 2.5, "truncation": "force_shift",
                     "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1}]})";
const char* lj_of_two =
    R"({"type": "lennard_jones", "cutoff": 2.5, "truncation": "force_shift",
        "mixing": "lorentz_berthelot", "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1},
        {"types": ["B", "B"], "epsilon": 1, "sigma": 1}]})";
const char* restraint = R"({"type": "group_restraint", "groups": ["all"], "stiffness": 50,
                            "point": [0, 0, 0], "velocity": [0.3, 0, 0.1]})";
const char* verlet = R"({"type": "velocity_verlet", "timestep": 0.002})";
const char* bussi = R"({"type": "bussi", "timestep": 0.004, "temperature": 0.8, "tau": 0.1})";

Json job(const std::string& system, const std::vector<Json>& forces, const Json& integrator,
         int steps, double temperature = 0.8) {
  Json j{{"seed", 7}, {"system", json(system)}, {"velocity", {{"temperature", temperature}}}};
  j["forces"] = forces;
  j["observers"] =
      json(R"([{"type": "trajectory", "stride": 5, "quantities": ["position", "velocity"]},
                            {"type": "thermo", "stride": 5}, {"type": "checkpoint"}])");
  j["stages"] = Json::array({{{"type", "md"}, {"steps", steps}, {"integrator", integrator}}});
  return j;
}

/// A trap draws the particles together, so that what is measured at the start is long past when the
/// run is saved.
Json droplet(const std::string& particles, const std::string& pairs, int steps) {
  return job(
      R"({"type": "random", "min_distance": 0, "density": 0.05, "particles": )" + particles + "}",
      {json(R"({"type": "soft_dpd", "pairs": )" + pairs + "}"),
       json(R"({"type": "harmonic_trap", "stiffness": [2, 2, 2]})")},
      json(R"({"type": "langevin", "timestep": 0.01, "temperature": 0.5, "friction": 3})"), steps);
}
const char* small = R"([{"types": ["S", "S"], "repulsion": 25, "range": 1}])";
const char* small_and_big = R"([{"types": ["S", "S"], "repulsion": 25, "range": 1},
  {"types": ["B", "B"], "repulsion": 100, "range": 5},
  {"types": ["B", "S"], "repulsion": 50, "range": 3}])";

/// Groups of four with an improper each, in a file, since no other source makes impropers.
Json groups_of_four() {
  const fs::path path =
      fs::temp_directory_path() / ("perrin-resume-" + std::to_string(getpid()) + "-four.data");
  io::Frame frame;
  Configuration& c = frame.configuration;
  c.box.length = {14, 14, 14};
  c.types = {"A"};
  for (std::uint32_t k = 0; k < 125; ++k) {
    const Vec3<double> centre{1 + 2.8 * (k % 5), 1 + 2.8 * (k / 5 % 5), 1 + 2.8 * (k / 25)};
    for (const Vec3<double> away : {Vec3<double>{0, 0, 0.3}, Vec3<double>{1, 0, 0},
                                    Vec3<double>{-0.5, 0.9, 0}, Vec3<double>{-0.5, -0.9, 0}}) {
      c.position.push_back(centre + away);
      c.type.push_back(0);
    }
    c.topology.impropers.push_back({4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 3, 0});
    for (std::uint32_t other = 1; other < 4; ++other)
      c.topology.bonds.push_back({4 * k, 4 * k + other, 0});
  }
  c.topology.improper_types = c.topology.bond_types = {"1"};
  fs::remove(path);
  const auto out = io::write_lammps_data(path.string(), frame);
  out->write(frame);
  out->finish();
  return {{"type", "file"}, {"path", path.string()}};
}

/// A file with a table of 5 (1 - cos x), in degrees or, for distances, of 20 (x - 1)².
std::string table(const std::string& type) {
  const bool angles = type == "angle_table" || type == "dihedral_table";
  const fs::path path =
      fs::temp_directory_path() / ("perrin-resume-" + std::to_string(getpid()) + "-" + type);
  std::ofstream out(path);
  const double from = angles ? 0 : 0.5, to = type == "dihedral_table" ? 360 : angles ? 180 : 2.5;
  for (int k = 0; k <= 200; ++k) {
    const double x = from + (to - from) * k / 200;
    out << x << " " << (angles ? 5 - 5 * std::cos(x * M_PI / 180) : 20 * (x - 1) * (x - 1)) << "\n";
  }
  return path.string();
}

/// The same for particles with axes.
std::string axial_table() {
  const fs::path path =
      fs::temp_directory_path() / ("perrin-resume-" + std::to_string(getpid()) + "-axial");
  std::ofstream out(path);
  for (int i = 0; i <= 36; ++i)
    for (int j = 0; j <= 8; ++j)
      for (int k = 0; k <= 8; ++k) {
        const double r = 0.7 + 0.05 * i, c = -1 + 0.25 * j, d = -1 + 0.25 * k;
        out << r << " " << c << " " << d << " " << std::pow(2.5 - r, 3) * (1 + c * d) << "\n";
      }
  return path.string();
}

// Jobs around one type.

/// What drives each particle, written anew within a run.
const char* written_speeds = R"j({"u": {"random": {"uniform": [3, 7]}, "updates": {
    "formula": "min(u + 0.5*(x > 0), 8)", "every": 3, "between": [0, 8]}}})j";

/// Where the type needs them.
void give_orientations(Json& j, const std::string& type) {
  static const std::set<std::string> of_orientations{
      "gay_berne",           "dipole",
      "dipole_ewald",        "patchy",
      "anisotropic_formula", "anisotropic_table",
      "active_force",        "active_brownian",
      "run_and_tumble",      "orientational_order",
      "patch_bonds",         "orientational_correlation"};
  if (of_orientations.contains(type))
    j["orientations"] = json(R"({"moments_of_inertia": {"A": [0.2, 0.8, 0.8]}})");
}

Json job_with_force(const CatalogueRow& row) {
  std::vector<Json> forces{sample_or_example(row)};
  if (row.type == "pair_table") forces[0]["pairs"][0]["file"] = table(row.type);
  if (row.type == "anisotropic_table") forces[0]["pairs"][0]["file"] = axial_table();
  for (const char* kind : {"bond", "angle", "dihedral"})
    if (row.type == kind + std::string("_table"))
      forces[0][kind + std::string("s")] = {{kind, {{"file", table(row.type)}}}};
  if (row.type != "lennard_jones") forces.push_back(json(lj));
  if (row.type == "lj_wall") return job(open, forces, json(verlet), 24);
  if (row.type.rfind("improper_", 0) == 0) {
    forces.push_back(
        json(R"({"type": "bond_harmonic", "bonds": {"1": {"stiffness": 50, "length": 1}}})"));
    Json j = job(polymer, forces, json(verlet), 24);
    j["system"] = groups_of_four();
    return j;
  }
  static const std::set<std::string> of_charges{"coulomb",       "coulomb_dsf", "reaction_field",
                                                "debye_hueckel", "ewald",       "special_coulomb"};
  const bool charged = of_charges.contains(row.type);
  if (charged) forces[1] = json(lj_of_two);
  for (const char* kind : {"bond_", "angle_", "dihedral_"})
    if (row.type.rfind(kind, 0) != 0)
      forces.push_back(
          *sample(*components().registry.find("force", kind + std::string("harmonic"))));
  Json j = job(polymer, forces, json(verlet), 24);
  give_orientations(j, row.type);
  if (row.type == "active_force") {
    j["forces"][0] = json(R"({"type": "active_force", "force": 10, "torque_attribute": "u"})");
    j["attributes"] = json(written_speeds);
  }
  if (charged) {
    j["system"]["pattern"] = "A5B5";
    j["attributes"] = json(R"({"charge": {"types": {"A": 1, "B": -1}}})");
    j["neighbors"] = json(R"({"exclusions": ["bonds", "angles", "dihedrals"]})");
  }
  return j;
}

Json job_with_integrator(const CatalogueRow& row) {
  const Json pairs = json(R"({"type": "dpd", "temperature": 1, "cutoff": 1,
      "pairs": [{"types": ["A", "A"], "repulsion": 25, "gamma": 4.5}]})");
  Json integrator = sample_or_example(row);
  if (integrator.contains("timestep") && integrator["timestep"] == 1.0)
    integrator["timestep"] = 0.002;
  Json j = job(liquid, {row.provider == "dpd" ? pairs : json(lj)}, integrator, 40);
  give_orientations(j, row.type);
  if (row.provider == "active") {
    Json& active = j["stages"][0]["integrator"];
    active.erase("speed");
    active["speed_attribute"] = "u";
    j["attributes"] = json(written_speeds);
  }
  return j;
}

Json job_with_observer(const CatalogueRow& row) {
  Json j = job(polymer,
               {json(lj), *sample(*components().registry.find("force", "bond_harmonic")),
                *sample(*components().registry.find("force", "angle_harmonic")),
                *sample(*components().registry.find("force", "dihedral_opls"))},
               json(verlet), 40);
  j["observers"] = json(R"([{"type": "checkpoint"}])");
  if (row.type == "restraint") j["forces"].push_back(json(restraint));
  if (row.type == "group_distance")
    j["groups"] = json(R"({"one": {"molecules": [3]}, "other": {"molecules": [7, 12]},
                           "third": {"box": [[null, null, null], [0, null, null]],
                                     "not": ["other"]}})");
  if (row.type != "checkpoint") j["observers"].push_back(sample_or_example(row));
  give_orientations(j, row.type);
  return j;
}

Json job_with_stage(const CatalogueRow& row) {
  Json j;
  if (row.type == "md") {  // two of them: the second is resumed, too
    j = job(liquid, {json(lj)}, json(bussi), 20);
    j["stages"].push_back({{"type", "md"}, {"steps", 20}, {"integrator", json(verlet)}});
  } else if (row.type == "monte_carlo") {
    j = job(liquid, {json(lj)}, json(bussi), 20);
    j["stages"] = json(trial_moves);
    j["observers"].push_back(json(R"({"type": "acceptance", "stride": 5})"));
  } else if (const auto given = sample(row)) {
    j = *given;
  } else {
    j["stages"] = Json::array({example(row, components().registry)});
  }
  j["seed"] = 3;
  return j;
}

/// What a setting of a type may be, where there is a list; else none.
std::vector<std::string> choices_of(const CatalogueRow& row, const std::string& key) {
  const auto settings = row.settings->create();
  Fields fields;
  row.settings->describe(fields, settings.get());
  for (const Field& f : fields.list())
    if (f.key == key) return f.check.values;
  return {};
}

std::map<std::string, Json> systems() {
  Json mixture = job(liquid, {json(R"({"type": "lennard_jones", "cutoff": 2.5,
      "mixing": "lorentz_berthelot", "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1},
      {"types": ["B", "B"], "epsilon": 1, "sigma": 0.2}]})")},
                     json(bussi), 120);
  mixture["system"]["types"] = {{"A", 1}, {"B", 9}};
  Json chains = job(polymer,
                    {json(lj), *sample(*components().registry.find("force", "bond_fene")),
                     *sample(*components().registry.find("force", "angle_cosine")),
                     *sample(*components().registry.find("force", "dihedral_opls"))},
                    json(bussi), 120);
  // Far from the pressure: lists are in use in other boxes than they were built in.
  Json pressed = job(liquid, {json(lj)}, json(bussi), 120);
  pressed["stages"][0]["integrator"]["barostat"] =
      json(R"({"pressure": 8, "tau": 0.1, "stride": 3})");
  Json pressed_mixture = mixture;
  pressed_mixture["stages"][0]["integrator"] =
      json(R"({"type": "nose_hoover", "timestep": 0.004, "temperature": 0.8, "tau": 0.1,
               "barostat": {"pressure": 1, "tau": 0.7, "stride": 3, "axes": "xy,z"}})");
  Json flowing = job(polymer,
                     {json(lj), *sample(*components().registry.find("force", "bond_fene")),
                      *sample(*components().registry.find("force", "angle_cosine")),
                      *sample(*components().registry.find("force", "dihedral_opls"))},
                     json(bussi), 120);
  flowing["stages"][0]["shear"] = {{"rate", 3}, {"gradient", "z"}};
  Json walls = job(
      open,
      {json(lj), json(R"({"type": "harmonic_trap", "stiffness": [0.1, 0.1, 0.1]})"),
       json(R"({"type": "lj_wall", "axis": "z", "position": -3.76, "epsilon": 1, "sigma": 0.5})"),
       json(R"({"type": "lj_wall", "axis": "z", "position": 3.76, "epsilon": 1, "sigma": 0.5})")},
      json(bussi), 120);
  // Integrators of groups, which were chosen by where particles were and by attributes.
  Json groups = job(liquid,
                    {json(lj), json(R"({"type": "group_restraint", "groups": ["cold", "hot"],
                      "stiffness": 20, "length": 1, "rate": 0.5})"),
                     json(R"({"type": "constant_force", "force": [0, 0.5, 0], "on": "cold"})"),
                     json(R"({"type": "tether", "stiffness": [1, 2, 0], "on": "inner"})")},
                    json(bussi), 120);
  groups["attributes"] =
      json(R"j({"k": {"random": {"uniform": [0, 1]}}, "charge": {"from": "k - 1"},
          "seen": {"from": "k", "updates": {"formula": "min(seen + 0.1*(x > 0)*vx^2 + k*t, 9)",
                                            "every": 3, "between": [0, 9]}}})j");
  groups["ignore"] = {"charges"};
  groups["groups"] = json(R"({"wall": {"box": [[null, null, -4], [null, null, -2]]},
      "plate": {"box": [[null, null, 2], [null, null, 4]]}, "low": {"formula": "k + x/10 < 0.5"},
      "cold": {"and": ["low"], "not": ["wall", "plate"]},
      "inner": {"formula": "x^2 + y^2 < 9 + seen", "every": 7},
      "hot": {"not": ["cold", "wall", "plate"]}})");
  groups["observers"][1]["groups"] = {"cold", "hot", "wall", "plate", "inner"};
  groups["observers"].push_back(json(R"({"type": "trajectory", "file": "log.h5",
      "schedule": {"log": 9, "when": "potential_energy < 0 - kinetic_energy"}, "stride": 1})"));
  groups["observers"].push_back(
      json(R"({"type": "trajectory", "stride": 5, "group": "hot", "file": "hot.h5"})"));
  groups["observers"].push_back(json(R"({"type": "restraint", "stride": 5})"));
  groups["observers"].push_back(json(R"({"type": "group_distance", "stride": 5, "minimum": true,
      "pairs": [["cold", "hot"], ["wall", "plate"]]})"));
  groups["stages"][0].erase("integrator");
  groups["stages"][0]["integrators"] = json(R"([
      {"type": "langevin", "group": "cold", "timestep": 0.004, "temperature": 0.6, "friction": 1,
       "method": "velocity_verlet", "tally_heat": true},
      {"type": "nose_hoover", "group": "hot", "timestep": 0.004, "temperature": 1.2, "tau": 0.2},
      {"type": "frozen", "group": "wall", "timestep": 0.004},
      {"type": "moving", "group": "plate", "timestep": 0.004, "velocity": [0.5, 0, 0],
       "oscillation": {"amplitude": [0, 0, 0.05], "period": 0.2}}])");
  // One of them with a barostat, for all.
  Json pressed_groups = job(liquid, {json(lj)}, json(bussi), 120);
  pressed_groups["groups"] = json(R"({"wall": {"box": [[null, null, -4], [null, null, -2]]},
      "low": {"formula": "x < 0"}, "cold": {"and": ["low"], "not": ["wall"]},
      "hot": {"not": ["cold", "wall"]}})");
  pressed_groups["stages"][0].erase("integrator");
  pressed_groups["stages"][0]["integrators"] = json(R"([
      {"type": "nose_hoover", "group": "cold", "timestep": 0.004, "temperature": 0.8, "tau": 0.2},
      {"type": "bussi", "group": "hot", "timestep": 0.004, "temperature": 1.2, "tau": 0.1,
       "barostat": {"pressure": 4, "tau": 0.1, "stride": 3, "axes": "xy,z"}},
      {"type": "frozen", "group": "wall"}])");
  // Friction of pairs beside a wall that moves.
  Json sheared =
      job(R"({"type": "random", "min_distance": 0, "density": 3, "particles": {"A": 1500}})",
          {json(R"({"type": "dpd", "temperature": 1,
                "pairs": [{"types": ["A", "A"], "repulsion": 25, "gamma": 4.5}]})")},
          json(bussi), 80, 0.5);
  sheared["groups"] = json(R"({"wall": {"box": [[null, null, -4], [null, null, -3]]},
      "rest": {"not": ["wall"]}})");
  sheared["stages"][0].erase("integrator");
  sheared["stages"][0]["integrators"] = json(R"([
      {"type": "dpd_split", "group": "rest", "timestep": 0.02},
      {"type": "moving", "group": "wall", "timestep": 0.02, "velocity": [0.5, 0, 0]}])");
  // The same on groups that are chosen anew, by attributes, too.
  Json anew = job(liquid, {json(lj)}, json(bussi), 120);
  anew["attributes"] = groups["attributes"], anew["ignore"] = {"charges"};
  anew["groups"] = json(R"({"inner": {"formula": "x^2 + y^2 < 9 + seen", "every": 7},
      "outer": {"not": ["inner"]}, "low": {"formula": "k < 0.5"}, "high": {"not": ["low"]},
      "cold": {"and": ["outer", "low"]}, "free": {"and": ["outer", "high"]}})");
  anew["observers"][1]["groups"] = {"inner", "cold", "free"};
  anew["observers"].push_back(json(R"({"type": "structure_factor", "k_max": 2, "stride": 5,
      "rows_every": 40, "group": "low"})"));
  anew["observers"].push_back(json(R"({"type": "cluster_size", "distance": 1.2, "stride": 5,
      "rows_every": 40, "group": "low"})"));
  anew["observers"].push_back(json(R"({"type": "coordination", "distance": 1.3, "stride": 5,
      "rows_every": 40, "group": "inner", "neighbor_group": "free", "smooth_from": 1})"));
  anew["stages"][0].erase("integrator");
  anew["stages"][0]["integrators"] = json(R"([
      {"type": "bussi", "group": "inner", "timestep": 0.004, "temperature": 1.4, "tau": 0.1},
      {"type": "langevin", "group": "cold", "timestep": 0.004, "temperature": 0.6, "friction": 1,
       "tally_heat": true},
      {"type": "velocity_verlet", "group": "free", "timestep": 0.004}])");
  // Chains that are linked and break, under pressure.
  Json linked = chains;
  linked["forces"][1] = json(R"({"type": "bond_harmonic", "bonds": {
      "bond": {"stiffness": 50, "length": 1}, "link": {"stiffness": 50, "length": 1.1}}})");
  linked["neighbors"] = json(R"({"exclusions": ["bonds", "angles"]})");
  linked["stages"][0]["integrator"]["barostat"] =
      json(R"({"pressure": 1, "tau": 0.5, "stride": 3})");
  linked["dynamic_bonds"] = json(R"({"stride": 4, "valence": {"A": 4},
      "form": [{"types": ["A", "A"], "bond": "link", "distance": 1.4, "probability": 0.3,
                "angle": "angle"}],
      "break": [{"bond": "bond", "length": 1.1, "probability": 0.3},
                {"bond": "link", "force": 2, "probability": 0.1}]})");
  linked["observers"].push_back(json(R"({"type": "bonds", "stride": 4})"));
  linked["observers"].push_back(json(R"({"type": "gsd", "stride": 5})"));
  // Densities of neighbours: a fluid that comes apart into liquid and vapour, and a mixture in
  // which they depend on the order of the types.
  Json vapour =
      job(R"({"type": "random", "min_distance": 0, "density": 2, "particles": {"A": 1500}})",
          {json(R"({"type": "mdpd", "temperature": 0.5, "repulsion": 25,
                "pairs": [{"types": ["A", "A"], "attraction": -40, "gamma": 4.5}]})")},
          json(R"({"type": "dpd_split", "timestep": 0.005})"), 120, 0.5);
  Json embedded = job(liquid, {json(R"j({"type": "many_body_formula", "energy": "-a*sqrt(rho)",
      "density": "s*(1 - r/2.5)^2", "pair": "0.2/r^9", "cutoff": 2.5, "truncation": "switch",
      "pairs": [{"types": ["A", "A"], "s": 1}, {"types": ["A", "B"], "s": 0.7},
                {"types": ["B", "A"], "s": 0.4}, {"types": ["B", "B"], "s": 0.5}],
      "types": {"A": {"a": 2}, "B": {"a": 1.5}}})j")},
                      json(bussi), 120);
  embedded["system"]["types"] = {{"A", 1}, {"B", 1}};
  // With attributes that are written anew.
  Json written = embedded;
  written["forces"][0]["density"] = "s*(1 - r/2.5)^2*(1 + u_2/(1 + u_1))";
  written["attributes"] = json(R"j({"u": {"random": {"uniform": [0, 0.2]}, "updates": {
      "formula": "min(u + 0.01*vx^2, 0.4)", "every": 7}}})j");
  embedded["stages"][0]["integrator"]["barostat"] =
      json(R"({"pressure": 1, "tau": 0.5, "stride": 3})");
  // Trial moves: where pairs are all there is, and where bonds and fields are, in a group.
  Json trials = job(liquid, {json(lj)}, json(bussi), 20);
  trials["stages"] = json(trial_moves);
  trials["stages"][0]["cluster"] = json(R"({"trials": 3, "displacement": 1, "largest": 60})");
  trials["stages"][2]["cluster"] = json(R"({"trials": 1})");
  Json trials_of_chains = chains;
  trials_of_chains["stages"] = json(trial_moves);
  trials_of_chains["groups"] = json(R"({"some": {"formula": "x + y > 0 - 3"}})");
  trials_of_chains["stages"][2]["group"] = "some";
  trials_of_chains["stages"][0]["pivot"] = json(R"({"rotation": 0.5})");
  trials_of_chains["stages"][0]["reptation"] = json(R"({"stretch": 0.1, "bend": 1})");
  trials_of_chains["stages"][2]["crankshaft"] = json(R"({"rotation": 1, "trials": 0.6})");
  trials_of_chains["stages"][2]["reptation"] = json(R"({"stretch": 0.2})");
  trials_of_chains["forces"].push_back(
      json(R"({"type": "harmonic_trap", "stiffness": [0.1, 0.2, 0.1], "on": "some"})"));
  Json trials_of_all = job(
      dumb_bells,
      {json(R"({"type": "lennard_jones", "cutoff": 2,
      "truncation": "energy_shift", "mixing": "lorentz_berthelot", "pairs": [
      {"types": ["A", "A"], "epsilon": 1, "sigma": 1},
      {"types": ["S", "S"], "epsilon": 1, "sigma": 0.9},
      {"types": ["T", "T"], "epsilon": 0.7, "sigma": 1}]})"),
       json(R"({"type": "bond_harmonic", "bonds": {"bond": {"stiffness": 100, "length": 1}}})")},
      json(bussi), 20);
  trials_of_all["stages"] = json(all_moves);
  trials_of_all["groups"] = json(R"({"S": {"types": ["S"]}, "T": {"types": ["T"]}})");
  trials_of_all["observers"].push_back(json(R"({"type": "acceptance", "stride": 3})"));
  trials_of_all["observers"].push_back(
      json(R"({"type": "widom", "stride": 4, "insertions": 100, "group": "S"})"));
  Json trials_in_a_plane = job(R"({"type": "lattice", "structure": "square", "density": 0.4,
      "cells": [24, 24, 1], "types": {"A": 1, "B": 1}})",
                               {json(R"({"type": "pair_formula",
      "cutoff": 1.5, "truncation": "force_shift", "energy": "(h_1 + h_2)/r^6", "pairs": [
      {"types": ["A", "A"]}, {"types": ["A", "B"]}, {"types": ["B", "B"]}]})"),
                                json(R"({"type": "harmonic_trap", "stiffness": [0.5, 2, 0]})")},
                               json(bussi), 20);
  trials_in_a_plane["attributes"] = json(R"j({"h": {"random": {"uniform": [0.3, 1]}}})j");
  trials_in_a_plane["stages"] = json(flat_moves);
  Json turned = job(R"({"type": "lattice", "structure": "sc", "density": 0.04, "cells": [9, 9, 9],
      "types": {"A": 1, "B": 1}})",
                    {json(R"({"type": "gay_berne", "cutoff": 4, "truncation": "energy_shift",
      "pairs": [{"types": ["A", "A"], "epsilon": 1, "sigma": 1, "kappa": 2},
                {"types": ["A", "B"], "epsilon": 1, "sigma": 1},
                {"types": ["B", "B"], "epsilon": 0.5, "sigma": 1}]})")},
                    json(bussi), 20);
  turned["orientations"] = json(R"({"start": "random", "moments_of_inertia": {
      "A": [0.2, 0.8, 0.8], "B": [1, 1, 1]}})");
  turned["stages"] = json(turns);
  Json open_system = job(liquid, {json(lj_of_two)}, json(bussi), 20);
  open_system["system"]["types"] = {{"A", 1}, {"B", 1}};
  open_system["reservoir"] = {{"A", 300}, {"B", 200}};
  open_system["observers"].push_back(json(R"({"type": "acceptance", "stride": 4})"));
  open_system["observers"].push_back(json(R"({"type": "gsd", "stride": 5})"));
  open_system["stages"] = json(insertions);
  // Bonds of fixed lengths; rigid bodies.
  Json held = job(polymer, {json(lj)}, json(bussi), 120);
  held["constraints"] = {{"bonds", {{"bond", 1}}}}, held["ignore"] = {"angles", "dihedrals"};
  held["stages"] = json(R"([
      {"type": "md", "steps": 20, "integrator": {"type": "langevin", "timestep": 0.004,
       "temperature": 1, "friction": 1}},
      {"type": "md", "steps": 100, "integrator": {"type": "nose_hoover", "timestep": 0.004,
       "temperature": 1, "tau": 0.2}}])");
  Json held_and_pressed = held;
  held_and_pressed["stages"][0]["integrator"]["barostat"] =
      json(R"({"pressure": 1, "tau": 0.3, "stride": 3})");
  Json rigid =
      job(R"({"type": "lattice", "structure": "sc", "density": 0.4, "cells": [7, 7, 7],
      "types": {"D": 1, "A": 1}})",
          {json(R"({"type": "lennard_jones", "cutoff": 2.5, "truncation": "force_shift",
      "pairs": [{"types": ["A", "A"], "epsilon": 0.5, "sigma": 0.7}]})")},
          json(R"({"type": "bussi", "timestep": 0.004, "temperature": 1, "tau": 0.1})"), 60);
  rigid["orientations"] = {{"start", "random"}};
  rigid["bodies"] = json(R"({"D": {"sites": [{"type": "A", "at": [0.3, 0.2, 0.1]},
      {"type": "A", "at": [-0.3, 0.1, 0]}, {"type": "A", "at": [0, 0.4, 0.5]}]}})");
  Json rigid_in_a_bath = rigid;
  rigid_in_a_bath["stages"][0]["integrator"] =
      json(R"({"type": "langevin", "timestep": 0.004, "temperature": 1, "friction": 1})");
  // Charges in a box that changes: a mesh and clouds, and wave vectors.
  Json ions =
      job(liquid, {json(lj_of_two), json(R"({"type": "ewald", "cutoff": 2.5, "accuracy": 0.01})")},
          json(bussi), 60);
  ions["system"]["types"] = {{"A", 1}, {"B", 1}};
  ions["attributes"] = json(R"({"charge": {"types": {"A": 1, "B": -1}}})");
  ions["stages"][0]["integrator"]["barostat"] = json(R"({"pressure": 1, "tau": 0.5, "stride": 3})");
  Json meshed = ions;
  meshed["forces"][1]["mesh"] = {{"order", 4}};
  meshed["forces"][1]["smearing"] = {{"cloud", "gaussian"}, {"width", 0.3}};
  // Multiple time steps: stopped within cycles.
  Json slow = ions;
  slow["forces"][1]["mesh"] = {{"order", 4}};
  slow["stages"][0]["integrator"].erase("barostat");
  slow["stages"][0]["slow_force_stride"] = 4;
  return {
      {"ions", std::move(ions)},
      {"ions with multiple time steps", std::move(slow)},
      {"ions on a mesh", std::move(meshed)},
      {"bonds of fixed lengths", std::move(held)},
      {"bonds of fixed lengths at a pressure", std::move(held_and_pressed)},
      {"rigid bodies", std::move(rigid)},
      {"rigid bodies in a bath", std::move(rigid_in_a_bath)},
      {"particles that come and go", std::move(open_system)},
      {"trial moves", std::move(trials)},
      {"trial moves of all kinds", std::move(trials_of_all)},
      {"trial moves that turn", std::move(turned)},
      {"trial moves in a plane", std::move(trials_in_a_plane)},
      {"trial moves of chains", std::move(trials_of_chains)},
      {"dynamic bonds", std::move(linked)},
      {"groups", std::move(groups)},
      {"groups at constant pressure", std::move(pressed_groups)},
      {"groups with friction of pairs", std::move(sheared)},
      {"groups that are chosen anew", std::move(anew)},
      {"liquid and vapour", std::move(vapour)},
      {"embedded atoms", std::move(embedded)},
      {"attributes that are written anew", std::move(written)},
      {"liquid", job(liquid, {json(lj)}, json(bussi), 120)},
      {"gas", job(R"({"type": "lattice", "structure": "sc", "density": 0.02, "cells": [8, 8, 8]})",
                  {json(lj)}, json(bussi), 200)},
      {"droplet", droplet(R"({"S": 1500})", small, 150)},
      {"mixture 1:5 in a droplet", droplet(R"({"B": 15, "S": 1200})", small_and_big, 150)},
      {"mixture", std::move(mixture)},
      {"mixture at constant pressure", std::move(pressed_mixture)},
      {"liquid at constant pressure", std::move(pressed)},
      {"polymer in shear", std::move(flowing)},
      {"polymer", std::move(chains)},
      {"walls and a trap", std::move(walls)}};
}

// Runs.

struct How {
  std::string device = "cpu";
  int threads = 1;
};

struct Ran {
  std::string record;                 // of the job
  std::map<std::string, Records> at;  // checkpoints by step (or number, without a system)
  Records restored;                   // saved again right after it was restored
  Records end;
};

class Resume : public ::testing::Test {
 protected:
  Resume() : folder_(fs::temp_directory_path() / ("perrin-resume-" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~Resume() override { fs::remove_all(folder_); }

  /// Runs a job; keeps every checkpoint where `every` > 0.
  Ran run(const Json& j, const std::string& name, const How& how, int every,
          const Records* from = nullptr) {
    const auto file = JsonFile::parse(j.dump(), "job.json");
    JobOptions options;
    options.device = how.device;
    options.threads = how.threads;
    options.quiet = true;
    options.output_directory = folder_ / name;
    fs::create_directories(options.output_directory);
    std::optional<Archive> archive;
    if (from) archive = Archive::restoring(*from);
    Job job(file, components().registry, components().plugins, options,
            archive ? &*archive : nullptr);
    Ran ran;
    ran.record = job.record().job;
    RunParts parts = job.take_parts();
    const bool system = parts.simulation != nullptr;
    if (!system)
      job.control().add_plan("all", every > 0 ? 1e-9 : 0);  // at every chance, or the end
    perrin::Run* running = nullptr;
    parts.write_checkpoint = [&](const fs::path&, const Archive& a) {
      ran.end = a.records();
      const auto at = system ? running->simulation().step() : ran.at.size();
      if (every > 0) ran.at[std::to_string(at)] = a.records();
    };
    perrin::Run r(std::move(parts), job.control());
    running = &r;
    if (archive) {
      r.restore(std::move(*archive));
      if (system) {
        Archive again = Archive::saving();
        r.simulation().state(again);
        ran.restored = again.records();
      }
    }
    EXPECT_TRUE(r.execute());
    return ran;
  }

  /// Every dataset of two files; but clocks, and what says that the run was resumed elsewhere.
  static void same_datasets(const io::Node& a, const io::Node& b, const std::string& path) {
    auto names = a.children(), others = b.children();
    for (auto* list : {&names, &others}) std::erase(*list, "earlier");  // records of other devices
    EXPECT_EQ(names, others) << path;
    for (const auto& name : names) {
      if (name == "wall_time" || name == "device") continue;
      const io::Node x = a.open(name), y = b.open(name);
      if (!x.is_dataset()) {
        same_datasets(x, y, path + name + "/");
        continue;
      }
      ASSERT_EQ(x.shape(), y.shape()) << path << name;
      const io::Hid type(H5Dget_type(x.id()));
      if (H5Tis_variable_str(type) > 0 || x.shape().empty()) continue;
      std::size_t bytes = H5Tget_size(type);
      for (const auto extent : x.shape()) bytes *= extent;
      std::vector<std::byte> u(bytes), v(bytes);
      if (bytes > 0) x.read(type, u.data()), y.read(type, v.data());
      EXPECT_TRUE(u == v) << path << name << " differs";
    }
  }
  void same_files(const std::string& a, const std::string& b) {
    for (const auto& entry : fs::directory_iterator(folder_ / a)) {
      const fs::path other = folder_ / b / entry.path().filename();
      ASSERT_TRUE(fs::exists(other)) << other;
      if (entry.path().extension() != ".h5") continue;
      io::writer().call([&] {
        const io::File x = io::File::read(entry.path().string()),
                       y = io::File::read(other.string());
        same_datasets(x.root(), y.root(), entry.path().filename().string() + ":/");
      });
    }
  }
  static void same_records(const Records& a, const Records& b, const std::string& under = "") {
    for (const auto& [name, record] : a) {
      if (name.rfind(under, 0) != 0) continue;
      const auto other = b.find(name);
      ASSERT_NE(other, b.end()) << name;
      EXPECT_TRUE(other->second.bytes == record.bytes) << name << " differs";
    }
  }
  /// Where particles are, by id.
  struct Places {
    Box box;
    std::vector<Position> position;
    explicit Places(const Records& r) {
      const auto& edges = r.at("simulation/particles/box").bytes;
      const auto& words = r.at("simulation/particles/position").bytes;
      EXPECT_EQ(edges.size(), sizeof box);
      std::memcpy(&box, edges.data(), sizeof box);
      position.resize(words.size() / sizeof(Position));
      std::memcpy(position.data(), words.data(), words.size());
    }
  };
  /// The longest way from a particle here to the same one there.
  static double apart(const Records& a, const Records& b) {
    const Places here(a), there(b);
    double longest = here.position.size() == there.position.size() ? 0 : 1e300;
    for (std::size_t k = 0; k < std::min(here.position.size(), there.position.size()); ++k) {
      Vec3<double> d = here.box.fraction(here.box.point(here.position[k])) -
                       here.box.fraction(there.box.point(there.position[k]));
      for (int axis = 0; axis < 3; ++axis)
        if (here.box.periodic[std::size_t(axis)]) d[axis] -= std::round(d[axis]);
      for (int axis = 0; axis < 3; ++axis)
        longest = std::max(longest, std::abs(d[axis]) * here.box.length[axis]);
    }
    return longest;
  }
  /// The particles, by id.
  static void same_state(const Records& saved, const Records& restored) {
    const std::string particles = "simulation/particles/";
    for (const char* name : {"velocity", "image"}) same_records(saved, restored, particles + name);
    for (const char* name : {"step", "time"})
      same_records(saved, restored, std::string("simulation/") + name);
    // Open axes may be padded otherwise.
    if (Places(saved).box == Places(restored).box)
      same_records(saved, restored, particles + "position");
    else
      EXPECT_LT(apart(saved, restored), 1e-7);
  }

  /// Saves at random, resumes with the same settings and other numbers of threads: the same bits,
  /// of state and files. `every`: steps from one checkpoint to the next.
  void check(Json j, const How& how, int every, int times = 2) {
    if (j.contains("system"))
      for (auto& o : j["observers"])
        if (o["type"] == "checkpoint") o["steps"] = every;
    fs::remove_all(folder_ / "whole");
    const Ran whole = run(j, "whole", how, every);
    ASSERT_GE(whole.at.size(), 2u) << "nothing was saved";
    {
      SCOPED_TRACE("the recorded job, run from its start");
      fs::remove_all(folder_ / "again");
      const Ran again = run(json(whole.record), "again", how, every);
      EXPECT_EQ(again.record, whole.record);
      same_records(whole.end, again.end);
      same_files("whole", "again");
    }
    for (int k = 0; k < times; ++k) {
      auto at = whole.at.begin();
      std::advance(at, std::uniform_int_distribution<std::size_t>(0, whole.at.size() - 2)(random_));
      SCOPED_TRACE("resumed at " + at->first);
      fs::remove_all(folder_ / "resumed");
      fs::copy(folder_ / "whole", folder_ / "resumed");
      How other = how;
      other.threads = how.threads + k;
      const Ran resumed = run(json(whole.record), "resumed", other, 0, &at->second);
      same_records(resumed.restored, at->second);
      same_records(whole.end, resumed.end);
      same_files("whole", "resumed");
      if (HasFailure()) return;
    }
  }

  /// Resumes with other settings for neighbours, or on another device: the same state, and soon
  /// after about the same one.
  void check_changed(Json j, const How& how, const How& other, const Json& neighbors) {
    const Json& first = j["stages"][0];
    const int steps = first.value(first.contains("sweeps") ? "sweeps" : "steps", 0);
    for (auto& o : j["observers"])
      if (o["type"] == "checkpoint") o["steps"] = steps - 10;
    fs::remove_all(folder_ / "whole");
    const Ran whole = run(j, "whole", how, steps - 10);
    Json changed = json(whole.record);
    changed["neighbors"].update(neighbors);
    const Records& saved = whole.at.at(std::to_string(steps - 10));
    const Ran resumed = run(changed, "whole", other, 0, &saved);
    same_state(saved, resumed.restored);
    EXPECT_LT(apart(whole.end, resumed.end), 0.01);
  }

  /// Resumes from records that somebody has changed. What was said of them; empty: nothing, and
  /// the run came to its end.
  std::string said_of(const Json& j, const Records& records) {
    fs::remove_all(folder_ / "resumed");
    fs::copy(folder_ / "whole", folder_ / "resumed");
    try {
      run(j, "resumed", {}, 0, &records);
    } catch (const UserError& e) {
      return e.what();
    } catch (const RunError& e) {
      return std::string("went wrong: ") + e.what();
    } catch (const BugError& e) {
      // Of particles and lists that do not belong together.
      EXPECT_NE(std::string(e.what()).find("another order in memory"), std::string::npos)
          << e.what();
      return std::string("went wrong: ") + e.what();
    }
    return "";
  }

  /// Every way of changing() for every record under `prefix` of a checkpoint, each for itself: no
  /// crash; what no run can have left behind is refused.
  void tamper(Json j, const std::string& prefix) {
    // Files take most of the time: without them where they are not looked at.
    if (j.contains("system") && prefix != "" && prefix != "observer")
      j["observers"] = json(R"([{"type": "checkpoint"}])");
    if (j.contains("system"))
      for (auto& o : j["observers"])
        if (o["type"] == "checkpoint") o["steps"] = 7;
    fs::remove_all(folder_ / "whole");
    const Ran whole = run(j, "whole", {}, 7);
    ASSERT_GE(whole.at.size(), 2u) << "nothing was saved";
    const Records saved = whole.at.count("14") ? whole.at.at("14") : whole.at.begin()->second;
    const Json recorded = json(whole.record);
    ASSERT_EQ(said_of(recorded, saved), "");
    for (const auto& [name, record] : saved) {
      if (name.rfind(prefix, 0) != 0) continue;
      for (const auto& [what, change] : changing()) {
        SCOPED_TRACE(name + " " + what);
        // Stages without a system take long to make.
        if (!j.contains("system") && what.ends_with(", last")) continue;
        Records changed = saved;
        change(changed.at(name));
        if (changed.at(name).bytes == record.bytes) continue;
        const std::string said = said_of(recorded, changed);
        if (record.type[0] == 'f' && what.rfind("NaN", 0) == 0) {
          EXPECT_NE(said.find(name), std::string::npos) << "NaN was not refused: " << said;
        }
        // Compared with what the job says: where it is another, lists and forces are made anew.
        if (is_of_the_job(name)) continue;
        const bool other_size = what == "longer" || what == "shorter" || what == "part of a value";
        if (other_size || (what == "ones" && !may_be_anything(name))) {
          EXPECT_NE(said, "") << "was not refused";
        }
      }
    }
  }

  using Change = std::function<void(Record&)>;
  static std::vector<std::pair<std::string, Change>> changing() {
    // A pattern of so many bytes in all elements, or in the last one alone.
    const auto filled = [](std::uint64_t pattern, std::size_t width, bool last) -> Change {
      return [=](Record& r) {
        std::byte word[8];
        std::memcpy(word, &pattern, 8);
        const std::size_t begin =
            last && r.bytes.size() > r.element_size ? r.bytes.size() - r.element_size : 0;
        for (std::size_t k = begin; k < r.bytes.size(); ++k) r.bytes[k] = word[(k - begin) % width];
      };
    };
    std::vector<std::pair<std::string, Change>> list;
    for (const bool last : {false, true}) {
      const std::string where = last ? ", last" : "";
      const auto real = [&](const char* what, std::uint64_t as_float, std::uint64_t as_double) {
        list.emplace_back(what + where, [filled, as_float, as_double, last](Record& r) {
          r.type == "f4" ? filled(as_float, 4, last)(r) : filled(as_double, 8, last)(r);
        });
      };
      real("NaN", 0x7fc00000u, 0x7ff8000000000000u);
      real("infinity", 0x7f800000u, 0x7ff0000000000000u);
      real("-1", 0xbf800000u, 0xbff0000000000000u);
      real("huge", 0x7149f2cau, 0x7e37e43c8800759cu);  // 1e30, 1e300
      list.emplace_back("words of NaN" + where, filled(0x7fc00000u, 4, last));
      list.emplace_back("words of 1e30" + where, filled(0x7149f2cau, 4, last));
      list.emplace_back("ones" + where, filled(~std::uint64_t(0), 8, last));
      list.emplace_back("zeros" + where, filled(0, 8, last));
      list.emplace_back("2^63" + where, filled(std::uint64_t(1) << 63, 8, last));
      list.emplace_back("2^62" + where, filled(std::uint64_t(1) << 62, 8, last));
      list.emplace_back("2^31" + where, filled(0x80000000u, 4, last));
    }
    list.emplace_back("longer", [](Record& r) {
      const std::size_t size = r.bytes.size();
      r.bytes.resize(size + r.element_size);
      if (size > 0) std::memcpy(r.bytes.data() + size, r.bytes.data(), r.element_size);
    });
    list.emplace_back("shorter", [](Record& r) {
      if (!r.bytes.empty()) r.bytes.resize(r.bytes.size() - r.element_size);
    });
    list.emplace_back("part of a value", [](Record& r) {
      if (r.element_size > 1) r.bytes.resize(r.bytes.size() + 1);
    });
    list.emplace_back("noise", [](Record& r) {
      std::mt19937 random(7);
      for (auto& b : r.bytes) b = std::byte(random() & 255);
    });
    return list;
  }
  /// Records that hold what the job said.
  static bool is_of_the_job(const std::string& name) {
    for (const char* end :
         {"/basis", "/hardware", "run/forces", "/given_box", "/given_temperatures",
          "/given_translation", "/given_rotation", "sampler/potential", "/volume_moves"})
      if (name.ends_with(end)) return true;
    return false;
  }
  /// Records that may hold any bits.
  static bool may_be_anything(const std::string& name) {
    for (const char* end : {"/builds", "/flags", "/image", "/words", "/accepted", "/counted",
                            "/tuned", "/ring", "/observed_step", "configuration/molecule"})
      if (name.ends_with(end)) return true;
    return name.find("neighbors/others") != std::string::npos;  // -1: as before
  }

  std::vector<const CatalogueRow*> rows(const char* kind) {
    return components().registry.rows(kind);
  }
  static bool has_cuda() { return cuda_device_count() > 0; }
  std::vector<How> devices() {
    return has_cuda() ? std::vector<How>{{"cpu", 1}, {"cuda", 1}} : std::vector<How>{{"cpu", 1}};
  }
  static std::vector<std::string> traversals(const How& how) {
    if (how.device == "cpu")
      return {"standard", "clusters", "verlet_list", "cells, axes", "cells, x"};
    return {"standard", "tiles", "small", "verlet_list", "cells, axes", "cells, x"};
  }
  static Json neighbors_of(const std::string& way) {
    const NeighborSettings settings = settings_of_way(way);
    return {{"traversal", settings.traversal},
            {"interaction_sorting", settings.interaction_sorting}};
  }

  fs::path folder_;
  std::mt19937 random_{20260};
};

/// Runs what is registered, and says where to add a sample where that cannot be made from its
/// schema.
template <class F>
void with_sample(const CatalogueRow& row, const F& f) {
  SCOPED_TRACE(row.kind + " " + row.type);
  try {
    f();
  } catch (const UserError& e) {
    ADD_FAILURE()
        << "no job with it could be run; if its settings are to blame, add it to samples in "
           "tests/robustness/resume_test.cpp: "
        << e.what();
  }
}

/// Where constraints follow a barostat lists are kept.
bool serves(const std::string& traversal, const Json& j) {
  return !traversal.starts_with("cells") || !j.contains("constraints") ||
         j.dump().find("barostat") == std::string::npos;
}

/// PERRIN_TEST_SYSTEMS: a part of the names of those that are wanted.
bool is_wanted(const std::string& name) {
  const char* const part = std::getenv("PERRIN_TEST_SYSTEMS");
  return part == nullptr || name.find(part) != std::string::npos;
}

TEST_F(Resume, EverySystemWithEveryTraversal) {
  int checked = 0;
  for (const How& how : devices())
    for (const auto& [name, j] : systems())
      for (const auto& traversal : traversals(how)) {
        if (!serves(traversal, j) || !is_wanted(name)) continue;
        SCOPED_TRACE(how.device + ", " + name + ", " + traversal);
        Json with = j;
        with["neighbors"] = neighbors_of(traversal);
        check(with, how, 7);
        ++checked;
      }
  EXPECT_GT(checked, 0);
}

TEST_F(Resume, OtherTraversalsAndDevicesGoOnFromTheSameState) {
  for (const How& how : devices())
    for (const How& other : devices())
      for (const auto& [name, j] : systems())
        for (const auto& traversal : traversals(other)) {
          if (!serves(traversal, j)) continue;
          SCOPED_TRACE(how.device + " to " + other.device + ", " + name + ", " + traversal);
          check_changed(j, how, other, neighbors_of(traversal));
        }
  for (const auto& [name, j] : systems()) {  // pads open axes otherwise, too
    SCOPED_TRACE(name);
    check_changed(j, {}, {"cpu", 2}, {{"skin", 0.37}});
  }
}

TEST_F(Resume, AutoGoesOnWhereItWas) {
  for (const How& how : devices()) {
    Json j = systems().at("liquid");
    j["neighbors"] = {{"traversal", "auto"}};
    j["observers"] = json(R"([{"type": "checkpoint", "steps": 150}])");
    j["stages"][0]["steps"] = 600;
    const Ran whole = run(j, "auto", how, 150);
    for (const auto& [step, saved] : whole.at) {
      if (step == "600") continue;
      const Ran resumed = run(json(whole.record), "auto", how, 0, &saved);
      same_records(resumed.restored, saved);
    }
  }
}

TEST_F(Resume, ManyParticles) {
  for (const How& how : devices()) {
    // Lists measure densities by samples of large systems. Soft particles that move far: lists are
    // built in between.
    Json j =
        job(R"({"type": "random", "particles": {"A": 70000}, "density": 1.1, "min_distance": 0})",
            {json(
                R"({"type": "soft_dpd",
                "pairs": [{"types": ["A", "A"], "repulsion": 25, "range": 1}]})")},
            json(R"({"type": "velocity_verlet", "timestep": 0.0005})"), 33, 1e-4);
    j["observers"] = json(R"([{"type": "checkpoint"}])");
    j["neighbors"] = {{"traversal", how.device == "cpu" ? "clusters" : "standard"}};
    check(j, {how.device, 2}, 15, 1);
    j["stages"][0]["integrator"] =
        json(R"({"type": "nose_hoover", "timestep": 0.0005, "temperature": 1, "tau": 0.1,
                 "barostat": {"pressure": 4, "tau": 1, "stride": 5}})");
    check(j, {how.device, 2}, 15, 1);
  }
}

TEST_F(Resume, EveryForce) {
  for (const How& how : devices())
    for (const CatalogueRow* row : rows("force"))
      with_sample(*row, [&] { check(job_with_force(*row), how, 5); });
}

TEST_F(Resume, EveryIntegrator) {
  for (const How& how : devices())
    for (const CatalogueRow* row : rows("integrator"))
      with_sample(*row, [&] { check(job_with_integrator(*row), how, 7); });
}

Json small_liquid() {
  return job(R"({"type": "lattice", "structure": "fcc", "density": 0.6, "cells": [4, 4, 4]})",
             {json(lj)}, json(bussi), 24);
}

TEST_F(Resume, EveryIntegratorWithABarostat) {
  const auto sampled = [](const char* type) {
    return *sample(*components().registry.find("force", type));
  };
  for (const auto& [integrator, axes] :
       {std::pair{R"({"type": "velocity_verlet", "timestep": 0.002})", "flexible"},
        {R"({"type": "bussi", "timestep": 0.002, "temperature": 0.8, "tau": 0.1,
            "final_temperature": 1, "ramp_steps": 20})",
         "xy"},
        {R"({"type": "langevin", "timestep": 0.002, "temperature": 0.8, "friction": 1})", "x,y,z"},
        {R"({"type": "brownian", "timestep": 0.0002, "temperature": 0.8, "friction": 1})", "all"},
        {R"({"type": "langevin", "timestep": 0.002, "temperature": 0.8, "friction": 1,
            "final_temperature": 1, "ramp_steps": 20, "method": "velocity_verlet"})",
         "xy,z"},
        {R"({"type": "nose_hoover", "timestep": 0.002, "temperature": 0.8, "tau": 0.1,
            "final_temperature": 1, "ramp_steps": 20})",
         "xy,z"}}) {
    SCOPED_TRACE(integrator);
    Json with = json(integrator);
    with["barostat"] = json(R"({"pressure": 3, "tau": 0.2, "stride": 3, "final_pressure": 5,
                                "ramp_steps": 20})");
    with["barostat"]["axes"] = axes;
    if (with["type"] == "nose_hoover")
      with["barostat"].update({{"tau", 1}, {"pressure", 0.2}, {"final_pressure", 0.5}});
    if (with["type"] == "velocity_verlet")
      with["barostat"].update({{"temperature", 0.8}, {"final_temperature", 1.2}});
    const Json j = job(
        polymer,
        {json(lj), sampled("bond_harmonic"), sampled("angle_harmonic"), sampled("dihedral_opls")},
        with, 40);
    for (const How& how : devices()) check(j, how, 7, 4);
    Json short_run = small_liquid();
    short_run["stages"][0]["integrator"] = with;
    tamper(short_run, "stage/");
    tamper(short_run, "simulation/particles/given_box");
    tamper(short_run, "simulation/box_reserve");
  }
  Json relaxed = small_liquid();
  relaxed["stages"][0]["integrator"] = json(R"({"type": "fire", "force_tolerance": 1e-3,
      "cell": {"pressure": 2, "tolerance": 1e-3, "axes": "x,y,z"}})");
  relaxed["stages"][0]["steps"] = 150;  // it does not converge so soon
  for (const How& how : devices()) check(relaxed, how, 19, 4);
  relaxed["stages"][0]["steps"] = 24;
  tamper(relaxed, "stage/");
  // In a later stage the box stays where it was left, and lists go on as they did.
  Json stages = small_liquid();
  stages["stages"][0]["integrator"]["barostat"] =
      json(R"({"pressure": 8, "tau": 0.1, "stride": 3})");
  stages["stages"].push_back(
      json(R"({"type": "md", "steps": 60, "integrator": {"type": "velocity_verlet",
                                                         "timestep": 0.004}})"));
  for (const char* traversal : {"standard", "verlet_list"}) {
    stages["neighbors"]["traversal"] = traversal;
    for (const How& how : devices()) check(stages, how, 7, 4);
  }
}

/// The box turns within every stretch of the run.
TEST_F(Resume, EveryIntegratorInABoxThatDeforms) {
  const Json fluid = job(R"({"type": "random", "particles": {"A": 1500}, "density": 3,
                             "min_distance": 0})",
                         {json(R"({"type": "dpd", "temperature": 1,
                             "pairs": [{"types": ["A", "A"], "repulsion": 25, "gamma": 4.5}]})")},
                         json(bussi), 40);
  for (const CatalogueRow* row : rows("integrator")) {
    static const std::set<std::string> refused{"fire", "active_brownian", "run_and_tumble"};
    if (refused.contains(row->type)) continue;
    with_sample(*row, [&] {
      Json j = row->type == "dpd_split" || row->type == "groot_warren" ? fluid : small_liquid();
      const Json given = job_with_integrator(*row);
      if (given.contains("attributes")) j["attributes"] = given["attributes"];
      j["stages"][0]["integrator"] = given["stages"][0]["integrator"];
      j["stages"][0]["integrator"].erase("types");
      j["stages"][0]["integrator"].erase("axes");
      const bool slow = row->type == "brownian" || row->type == "active_ornstein_uhlenbeck";
      const double timestep = slow ? 1e-4 : 1e-3;
      j["stages"][0]["integrator"]["timestep"] = timestep;
      j["stages"][0]["steps"] = 90;
      j["stages"][0]["shear"] = {{"rate", 0.012 / timestep}, {"work", !slow}};
      for (const How& how : devices()) check(j, how, 7, 4);
    });
  }
  for (const char* deform :
       {R"({"density": 0.63, "work": true})", R"({"xy": 0.9, "z": 7.4, "form": "exponential"})",
        R"({"yz": -1.5, "form": "oscillating", "period": 3, "remap_velocities": false})"}) {
    SCOPED_TRACE(deform);
    Json j = small_liquid();
    j["stages"][0]["steps"] = 90;
    j["stages"][0]["deform"] = json(deform);
    j["stages"].push_back(json(R"({"type": "md", "steps": 30, "integrator": {"type":
        "velocity_verlet", "timestep": 0.002}})"));
    for (const How& how : devices()) check(j, how, 7, 4);
    Json short_run = small_liquid();
    short_run["stages"][0]["deform"] = json(deform);
    tamper(short_run, "stage/");
  }
}

TEST_F(Resume, EveryObserver) {
  for (const How& how : devices())
    for (const CatalogueRow* row : rows("observer"))
      with_sample(*row, [&] { check(job_with_observer(*row), how, 7); });
}

/// Samples of another box each.
TEST_F(Resume, ObserversWithABarostat) {
  for (const char* type :
       {"rdf", "profile", "bond_order", "cluster_size", "coordination", "orientational_correlation",
        "patch_bonds", "velocity_autocorrelation", "mean_square_displacement", "chain_dynamics",
        "stress_autocorrelation", "radial_profile", "pressure_profile"}) {
    const CatalogueRow* row = components().registry.find("observer", type);
    ASSERT_NE(row, nullptr) << type;
    with_sample(*row, [&] {
      Json j = job_with_observer(*row);
      j["stages"][0]["integrator"] = json(bussi);
      j["stages"][0]["integrator"]["barostat"] =
          json(R"({"pressure": 8, "tau": 0.1, "stride": 3})");
      for (const How& how : devices()) check(j, how, 7);
    });
  }
}

/// What was chosen from the box of the start, in the box that there is at the stop.
TEST_F(Resume, ObserversBehindABarostat) {
  for (const CatalogueRow* row : rows("observer"))
    with_sample(*row, [&] {
      // Not behind one; and a restraint holds to places.
      if (row->type == "structure_factor" || row->type == "restraint") return;
      Json j = job_with_observer(*row);
      Json before = j["stages"][0];
      before["steps"] = 30;
      before["integrator"] = json(bussi);
      before["integrator"]["barostat"] = json(R"({"pressure": 8, "tau": 0.1, "stride": 3})");
      j["stages"][0]["name"] = "second";
      j["stages"].insert(j["stages"].begin(), before);
      if (j["observers"].size() > 1) j["observers"][1]["stages"] = {"second"};
      for (const How& how : devices()) check(j, how, 7, 3);
    });
}

/// Stages that begin in a box that others have tilted, stopped in each of them. Shear needs one
/// without other tilts than its own: when it begins, and not when a stage is gone on with.
TEST_F(Resume, ShearAndOtherTiltsInTurn) {
  Json j = small_liquid();
  const Json shear = {{"rate", 4}};
  j["stages"][0].update({{"steps", 60}, {"shear", shear}});
  const Json plain = j["stages"][0]["integrator"];
  Json pressed = plain;
  pressed["barostat"] = json(R"({"pressure": 3, "tau": 0.2, "stride": 3, "axes": "flexible"})");
  j["stages"].push_back({{"type", "md"}, {"steps", 30}, {"integrator", pressed}});
  j["stages"].push_back(
      {{"type", "md"}, {"steps", 30}, {"integrator", plain}, {"deform", {{"xz", 0}, {"yz", 0}}}});
  j["stages"].push_back({{"type", "md"}, {"steps", 60}, {"integrator", plain}, {"shear", shear}});
  for (const How& how : devices()) check(j, how, 7, 6);
}

TEST_F(Resume, ObserversOfOneStage) {
  Json j = job(liquid, {json(lj)}, json(bussi), 20);
  j["stages"].push_back(
      {{"type", "md"}, {"name", "second"}, {"steps", 20}, {"integrator", json(verlet)}});
  for (std::size_t k = 0; k < 2; ++k) j["observers"][k]["stages"] = {"second"};
  check(j, {}, 5, 5);
  io::writer().call([&] {
    const io::File file = io::File::read((folder_ / "resumed" / "trajectory.h5").string());
    EXPECT_EQ(file.root().open("particles/all/position/step").read<std::int64_t>(),
              (std::vector<std::int64_t>{20, 25, 30, 35, 40}));
    const io::Node stages = file.root().open("parameters/perrin/stages");
    EXPECT_EQ(stages.open("name").read_texts(), (std::vector<std::string>{"md", "second"}));
    EXPECT_EQ(stages.open("step").read<std::int64_t>(), (std::vector<std::int64_t>{0, 20}));
  });
}

TEST_F(Resume, EveryStage) {
  for (const How& how : devices())
    for (const CatalogueRow* row : rows("stage"))
      with_sample(*row, [&] { check(job_with_stage(*row), how, 7, 3); });
}

TEST_F(Resume, ChangedRecordsAreRefused) {
  tamper(small_liquid(), "");
  for (const char* way : {"clusters", "verlet_list", "cells", "cells, axes", "auto"}) {
    SCOPED_TRACE(way);
    Json j = small_liquid();
    j["neighbors"] = neighbors_of(way);
    tamper(j, "simulation/neighbors");
  }
}

TEST_F(Resume, ChangedRecordsOfEveryIntegratorAreRefused) {
  for (const CatalogueRow* row : rows("integrator"))
    with_sample(*row, [&] {
      Json j = job_with_integrator(*row);
      j["system"] = small_liquid()["system"];
      j["stages"][0]["steps"] = 24;
      auto generators = choices_of(*row, "rng");
      if (generators.empty()) generators.push_back("");
      for (const auto& rng : generators) {
        SCOPED_TRACE(rng);
        if (rng != "") j["stages"][0]["integrator"]["rng"] = rng;
        tamper(j, "stage/");
      }
    });
}

TEST_F(Resume, ChangedRecordsOfEveryForceObserverAndStageAreRefused) {
  for (const CatalogueRow* row : rows("force"))
    with_sample(*row, [&] { tamper(job_with_force(*row), "force"); });
  for (const CatalogueRow* row : rows("observer"))
    with_sample(*row, [&] { tamper(job_with_observer(*row), "observer"); });
  for (const CatalogueRow* row : rows("stage"))
    with_sample(*row, [&] {
      // A job may have got other stages.
      if (row->type != "md")
        tamper(job_with_stage(*row), row->type == "monte_carlo" ? "stage/" : "");
      for (const auto& generator : choices_of(*row, "generator")) {
        SCOPED_TRACE(generator);
        // Those that are keyed afresh have no state.
        const std::set<std::string> keyed{"saru", "tea", "sarutea", "philox", "threefry"};
        if (keyed.count(generator) != 0) continue;
        Json j = job_with_stage(*row);
        j["stages"][0]["generator"] = generator;
        j["stages"][0]["streams"] = 16;
        tamper(j, "stage/generator");
      }
    });
}

TEST(Recorded, SettingsOfEveryTypeAreReadAgainAsTheyAre) {
  const Registry& registry = components().registry;
  ASSERT_GT(registry.rows().size(), 20u);
  for (const CatalogueRow* row : registry.rows()) {
    SCOPED_TRACE(row->kind + " " + row->type);
    std::vector<std::string> wrong;
    const auto parse = [&](const Json& value) {
      SettingsParser parser(registry, [&](const std::string& path, const std::string& what) {
        wrong.push_back(path + ": " + what);
      });
      return record_component(parser.parse_component(row->kind, value, "it"));
    };
    const Json once = parse(example(*row, registry));
    // As text, as it is in files.
    const Json again = parse(json(once.dump()));
    EXPECT_EQ(wrong, std::vector<std::string>{});
    EXPECT_EQ(once.dump(), again.dump());
  }
}

}  // namespace
}  // namespace perrin
