// The sources of initial particles that come with Perrin, and their settings.
#pragma once

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/components/setup.h"
#include "engine/components/source.h"
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
  d.optional("lattice_constant", s.lattice_constant, Positive{},
             "edge of the conventional cell, instead of density; hexagonal: the nearest-neighbour "
             "distance");
  d.optional("cells", s.cells, Positive{}, "conventional cells along x, y, z");
  d.optional("particles", s.particles, Positive{},
             "number of particles, instead of cells: fills the smallest sufficient lattice; excess "
             "sites stay empty");
  d.optional("types", s.types, Positive{}, "relative amount of each type; assigned at random");
  d.optional("masses", s.masses, Positive{}, "mass of each type; default: 1");
  d.optional("periodic", s.periodic, Any{}, "periodic boundaries along x, y, z");
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
  d.optional("particles", s.particles, Positive{}, "number of particles of each type");
  d.optional("densities", s.densities, Positive{},
             "number density of each type, in the given box, instead of particles");
  d.optional("density", s.density, Positive{}, "number density of all particles, in a cubic box");
  d.optional("box", s.box, Positive{}, "edge lengths of the box, instead of density");
  d.optional("min_distance", s.min_distance, NonNegative{},
             "minimum distance between any two particles");
  d.optional("dimension", s.dimension, Between{2, 3}, "dimension, 2 or 3");
  d.optional("masses", s.masses, Positive{}, "mass of each type; default: 1");
  d.optional("periodic", s.periodic, Any{}, "periodic boundaries along x, y, z");
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
  d.required("chains", s.chains, Positive{}, "number of chains");
  d.required("pattern", s.pattern, Any{},
             "blocks of types along a chain: \"A3B7\", or [[\"A\", 3], [\"B\", 7]]");
  d.optional("bond_length", s.bond_length, Positive{}, "bond length along a chain");
  d.optional("density", s.density, Positive{}, "number density of beads, in a cubic box");
  d.optional("box", s.box, Positive{}, "edge lengths of the box, instead of density");
  d.optional("min_distance", s.min_distance, NonNegative{},
             "minimum distance between any two beads (self-avoiding walks); 0: random walks");
  d.optional("bond_type", s.bond_type, Any{}, "bond type along a chain");
  d.optional("angle_type", s.angle_type, Any{}, "angle type along a chain; empty: no angles");
  d.optional("dihedral_type", s.dihedral_type, Any{},
             "dihedral type along a chain; empty: no dihedrals");
  d.optional("masses", s.masses, Positive{}, "mass of each type; default: 1");
  d.optional("dimension", s.dimension, Between{2, 3}, "dimension, 2 or 3");
  d.optional("periodic", s.periodic, Any{}, "periodic boundaries along x, y, z");
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
  d.required("path", s.path, Any{}, "file, relative to the job file");
  d.optional("format", s.format, OneOf(io::format_choices()),
             "auto: by the extension, otherwise by the contents");
  d.optional("frame", s.frame, Any{}, "frame number from 0; negative: from the end");
  d.optional(
      "group", s.group, Any{},
      "H5MD: a group of particles under /particles, or a list of groups, joined in this order; "
      "default: \"all\", \"trajectory\" or \"system\" if there is one, otherwise every group");
  d.optional("types", s.types, Any{}, "renames types: new name of each name in the file");
  d.optional("periodic", s.periodic, Any{},
             "periodic boundaries along x, y, z; overrides the file");
  d.optional("masses", s.masses, Positive{},
             "mass of each type (by its name in the file); overrides the file");
  d.optional("atom_style", s.atom_style, Any{},
             "LAMMPS data: atom style of the columns of Atoms; overrides the file: full, \"hybrid "
             "sphere bond\"");
  d.optional("dimension", s.dimension, Between{2, 3}, "dimension, 2 or 3; overrides the file");
  d.optional("box", s.box, Any{},
             "Lx, Ly, Lz, or these and the tilts xy, xz, yz, in the file's unit of length, with "
             "the lower corner at 0; overrides the file (plain XYZ and some DCD have no box)");
  d.optional("units", s.units,
             OneOf{"file", "job", "lj", "real", "metal", "si", "cgs", "electron", "micro", "nano"},
             "file: convert from the units that the file names (H5MD; line 1 of LAMMPS data; ITEM: "
             "UNITS of a dump), or take the job's if it names none (DCD: Angstrom); job: take the "
             "job's; otherwise the file's units by their name in LAMMPS (not for H5MD and DCD)");
  d.optional("velocities", s.velocities, Any{}, "read the velocities of the file, if it has any");
  d.optional("images", s.images, Any{}, "read the image counters of the file, if it has any");
  d.optional("keep_step", s.keep_step, Any{},
             "continue from the step and time of the frame instead of from 0");
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
