// The sources of initial particles that come with Perrin, and their settings.
#pragma once

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/run/setup.h"
#include "engine/run/source.h"
#include "engine/settings/settings.h"
#include "io/formats.h"

namespace perrin {

class Registry;

/// "lattice": particles on the sites of a crystal.
struct LatticeSettings {
  std::string structure = "fcc";
  std::optional<double> density, lattice_constant;
  std::optional<std::array<std::int32_t, 3>> cells;
  std::optional<std::int64_t> particles;
  std::map<std::string, double> types{{"A", 1.0}}, masses;
  std::array<bool, 3> periodic{true, true, true};
};

template <class D>
void describe(D& d, LatticeSettings& s) {
  d.example("{\"density\": 0.8442, \"cells\": [10, 10, 10]}");
  d.optional("structure", s.structure, OneOf{"fcc", "bcc", "sc", "square", "hexagonal"},
             "square and hexagonal make a two-dimensional system");
  d.optional("density", s.density, Positive{}, "particles per volume (area in 2D)");
  d.optional(
      "lattice_constant", s.lattice_constant, Positive{},
      "edge of the conventional cell, instead of density; hexagonal: the distance of neighbours");
  d.optional("cells", s.cells, Positive{}, "conventional cells along x, y, z");
  d.optional("particles", s.particles, Positive{},
             "how many, instead of cells: the smallest lattice that holds them, sites left over "
             "stay empty");
  d.optional("types", s.types, Positive{}, "share of each type, in any unit; assigned at random");
  d.optional("masses", s.masses, Positive{}, "by type; 1 where not given");
  d.optional("periodic", s.periodic, Any{}, "along x, y, z");
}

/// "random": particles anywhere, no two nearer than a distance.
struct RandomSettings {
  std::map<std::string, std::int64_t> particles;
  std::map<std::string, double> densities, masses;
  std::optional<double> density;
  std::optional<Vec3<double>> box;
  double min_distance = 0.8;
  std::int32_t dimension = 3;
  std::array<bool, 3> periodic{true, true, true};
};

template <class D>
void describe(D& d, RandomSettings& s) {
  d.example("{\"particles\": {\"A\": 1000}, \"density\": 0.3}");
  d.optional("particles", s.particles, Positive{}, "how many of each type");
  d.optional("densities", s.densities, Positive{},
             "particles per volume of each type, in the given box, instead of particles");
  d.optional("density", s.density, Positive{}, "of all particles: makes a cubic box");
  d.optional("box", s.box, Positive{}, "lengths of the edges, instead of density");
  d.optional("min_distance", s.min_distance, NonNegative{}, "between any two particles");
  d.optional("dimension", s.dimension, Between{2, 3}, "2 or 3");
  d.optional("masses", s.masses, Positive{}, "by type; 1 where not given");
  d.optional("periodic", s.periodic, Any{}, "along x, y, z");
}

/// "chains": bead-spring polymers.
struct ChainsSettings {
  std::int64_t chains = 0;
  Json pattern;
  double bond_length = 0.97, min_distance = 0;
  std::optional<double> density;
  std::optional<Vec3<double>> box;
  std::string bond_type = "bond", angle_type, dihedral_type;
  std::map<std::string, double> masses;
  std::int32_t dimension = 3;
  std::array<bool, 3> periodic{true, true, true};
};

template <class D>
void describe(D& d, ChainsSettings& s) {
  d.example("{\"chains\": 100, \"pattern\": \"A3B7\", \"density\": 3}");
  d.required("chains", s.chains, Positive{}, "how many");
  d.required("pattern", s.pattern, Any{},
             "blocks of types along a chain: \"A3B7\", or [[\"A\", 3], [\"B\", 7]]");
  d.optional("bond_length", s.bond_length, Positive{}, "between neighbours along a chain");
  d.optional("density", s.density, Positive{}, "beads per volume: makes a cubic box");
  d.optional("box", s.box, Positive{}, "lengths of the edges, instead of density");
  d.optional("min_distance", s.min_distance, NonNegative{},
             "between any two beads (self-avoiding walks); 0: random walks");
  d.optional("bond_type", s.bond_type, Any{}, "name of the bonds' type");
  d.optional("angle_type", s.angle_type, Any{},
             "name of the type of the angles along a chain; empty: no angles");
  d.optional("dihedral_type", s.dihedral_type, Any{},
             "name of the type of the dihedrals along a chain; empty: no dihedrals");
  d.optional("masses", s.masses, Positive{}, "by type; 1 where not given");
  d.optional("dimension", s.dimension, Between{2, 3}, "2 or 3");
  d.optional("periodic", s.periodic, Any{}, "along x, y, z");
}

/// "file": a frame of a file.
struct FileSettings {
  std::string path, format = "auto";
  std::int64_t frame = -1;
  std::map<std::string, std::string> types;
  std::map<std::string, double> masses;
  std::optional<std::array<bool, 3>> periodic;
  std::string units = "file";
  bool velocities = true, images = true, keep_step = false;
  Json group = Json::array();
  std::string atom_style;
  std::optional<std::int32_t> dimension;
  std::vector<double> box;
};

template <class D>
void describe(D& d, FileSettings& s) {
  d.example("{\"path\": \"trajectory.h5\"}");
  d.required("path", s.path, Any{}, "relative to the job file");
  d.optional("format", s.format, OneOf(io::format_choices()),
             "auto: by the extension, else by the contents");
  d.optional("frame", s.frame, Any{}, "from 0; negative: from the end");
  d.optional(
      "group", s.group, Any{},
      "H5MD: a group of particles under /particles, or a list of groups, joined in this order; "
      "otherwise \"all\", \"trajectory\" or \"system\" where there is one, else every group");
  d.optional("types", s.types, Any{}, "new names of types, by the names in the file");
  d.optional("periodic", s.periodic, Any{}, "along x, y, z, instead of what the file says");
  d.optional("masses", s.masses, Positive{},
             "by the names of types in the file, instead of what the file says");
  d.optional("atom_style", s.atom_style, Any{},
             "LAMMPS data: what the columns of Atoms are, instead of what the file says: full, "
             "\"hybrid sphere bond\"");
  d.optional("dimension", s.dimension, Between{2, 3}, "2 or 3, instead of what the file says");
  d.optional("box", s.box, Any{},
             "Lx, Ly, Lz, or these and the tilts xy, xz, yz, in the file's unit of length, with "
             "the corner at 0; instead of what the file says (plain XYZ says nothing)");
  d.optional("units", s.units,
             OneOf{"file", "job", "lj", "real", "metal", "si", "cgs", "electron", "micro", "nano"},
             "file: numbers are converted from the units that the file names (H5MD; line 1 of "
             "LAMMPS data), and are the job's where it names none; job: they are the job's; else "
             "the file's units, by the name of LAMMPS (not for H5MD)");
  d.optional("velocities", s.velocities, Any{}, "take the velocities of the file, if it has any");
  d.optional("images", s.images, Any{}, "take the image counters of the file, if it has any");
  d.optional("keep_step", s.keep_step, Any{},
             "go on counting steps and time from those of the frame, instead of from 0");
}

std::unique_ptr<Source> make_lattice(const LatticeSettings& settings, Setup& setup);
std::unique_ptr<Source> make_random(const RandomSettings& settings, Setup& setup);
std::unique_ptr<Source> make_chains(const ChainsSettings& settings, Setup& setup);
std::unique_ptr<Source> make_file_source(const FileSettings& settings, Setup& setup);

/// Reports under `key` more particles than 32 bits can number or this machine's memory can hold.
bool check_count(double n, const char* key, Setup& setup);
/// Masses by particle from masses by type; empty where all are 1. Reports unknown types at
/// "masses".
std::vector<double> masses_of(const std::map<std::string, double>& by_type,
                              const std::vector<std::string>& types,
                              const std::vector<std::uint32_t>& type);
void check_masses(const std::map<std::string, double>& by_type,
                  const std::vector<std::string>& types, Setup& setup);
/// From exactly one of density and box; reports a mistake otherwise and returns a unit box.
Box box_for(const std::optional<double>& density, const std::optional<Vec3<double>>& edges,
            std::int64_t n, int dimension, const std::array<bool, 3>& periodic, Setup& setup);

}  // namespace perrin
