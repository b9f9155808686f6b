// The settings of a stage "metropolis".
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/settings/settings.h"
#include "engine_options.h"

namespace perrin::metropolis {

struct SiteSettings {
  std::string type;
  Vec3<double> at{};
};
template <class D>
void describe(D& d, SiteSettings& s) {
  d.required("type", s.type, Any{}, "name of the site's type");
  d.optional("at", s.at, Any{}, "coordinates in the molecule (length)");
}

struct MoleculesSettings {
  std::vector<SiteSettings> sites;
  std::int64_t number = 0;
};
template <class D>
void describe(D& d, MoleculesSettings& s) {
  d.required("sites", s.sites, Any{}, "the sites of the rigid molecule; an atom is one site");
  d.required("number", s.number, Positive{}, "how many of them");
}

struct PairsSettings {
  std::array<std::string, 2> types;
  std::optional<double> sigma, epsilon, amplitude, kappa, depth, steepness, distance, repulsion;
  std::optional<double> cutoff, core;
};
template <class D>
void describe(D& d, PairsSettings& s) {
  d.required("types", s.types, Any{}, "the two site types, e.g. [\"A\", \"B\"]");
  d.optional("sigma", s.sigma, Positive{}, "lennard_jones, wca, gaussian_core: length");
  d.optional("epsilon", s.epsilon, NonNegative{}, "lennard_jones, wca, gaussian_core: energy");
  d.optional("amplitude", s.amplitude, Any{}, "yukawa: energy times length");
  d.optional("kappa", s.kappa, NonNegative{}, "yukawa: inverse screening length");
  d.optional("depth", s.depth, NonNegative{}, "morse: depth of the well");
  d.optional("steepness", s.steepness, Positive{}, "morse: inverse width of the well");
  d.optional("distance", s.distance, Positive{}, "morse: distance of the minimum");
  d.optional("repulsion", s.repulsion, NonNegative{}, "soft_dpd: force at no distance");
  d.optional("cutoff", s.cutoff, Positive{}, "of this pair of types, instead of the common one");
  d.optional("core", s.core, NonNegative{}, "sites are never closer than this");
}

struct FilesSettings {
  std::string model = "model.txt", particles = "particles.csv", atoms = "atoms.csv";
};
template <class D>
void describe(D& d, FilesSettings& s) {
  d.optional("model", s.model, Any{}, "sizes, temperature, box, steps and types");
  d.optional("particles", s.particles, Any{},
             "a molecule per line: first atom, number of atoms, centre, 3×3 orientation");
  d.optional("atoms", s.atoms, Any{}, "a site per line: type, coordinates, local coordinates");
}

struct TuneSettings {
  double acceptance = 0.5;
  std::int64_t interval = 20;
};
template <class D>
void describe(D& d, TuneSettings& s) {
  d.optional("acceptance", s.acceptance, Between{0.05, 0.95},
             "share of accepted moves to aim at during equilibration; then the sizes are frozen");
  d.optional("interval", s.interval, Positive{}, "cycles from one adjustment to the next");
}

/// The state at the end, in the form that `files` are read in.
struct FinalSettings {
  std::string model = "final_model.txt", particles = "final_particles.csv",
              atoms = "final_atoms.csv";
};
template <class D>
void describe(D& d, FinalSettings& s) {
  d.optional("model", s.model, Any{}, "sizes, temperature, box, steps and types");
  d.optional("particles", s.particles, Any{}, "centre and orientation of each molecule");
  d.optional("atoms", s.atoms, Any{}, "type, coordinates and local coordinates of each site");
}

struct VolumeSettings {
  double pressure = 0, step = 0.02;
  std::int64_t interval = 1;
};
template <class D>
void describe(D& d, VolumeSettings& s) {
  d.required("pressure", s.pressure, Any{}, "energy / volume");
  d.optional("step", s.step, Positive{}, "ln V changes by at most this in a move");
  d.optional("interval", s.interval, Positive{}, "cycles from one volume move to the next");
}

struct RdfSettings {
  int bins = 200;
  double range = 0;
  std::int64_t interval = 10, rows = 0;
  bool own_molecule = false;
  std::string file = "rdf.h5", csv;
};
template <class D>
void describe(D& d, RdfSettings& s) {
  d.optional("bins", s.bins, Between{1, 100000}, "number of bins");
  d.optional("range", s.range, NonNegative{},
             "largest distance; 0: half of the shortest edge (with volume 0.9 of it), with "
             "checkerboard at "
             "most 3 cut-offs. "
             "Large systems want a small one: up to 0.4 of an edge, pairs are found by cells");
  d.optional("interval", s.interval, Positive{},
             "cycles from one configuration counted to the next");
  d.optional("rows", s.rows, NonNegative{},
             "cycles averaged into one row of the file; 0: one row for the whole run");
  d.optional("own_molecule", s.own_molecule, Any{},
             "count sites of one molecule too, and divide by N_a N_b instead of by the pairs of "
             "different molecules");
  d.optional("file", s.file, Any{}, "H5MD observables r and g_A-B");
  d.optional("csv", s.csv, Any{}, "also write the average as text here: \"distribution.csv\"");
}

struct FramesSettings {
  std::string file = "trajectory.h5";
  std::int64_t interval = 100;
};
template <class D>
void describe(D& d, FramesSettings& s) {
  d.optional("file", s.file, Any{}, "H5MD, relative to the output directory");
  d.optional("interval", s.interval, Positive{}, "cycles from one frame to the next");
}

struct MetropolisSettings {
  std::string engine = "pipelined";
  std::string precision = "single";
  std::optional<std::int64_t> cycles;
  std::int64_t equilibration = 0;
  std::optional<double> temperature;
  std::vector<double> temperatures;
  std::int64_t replicas = 1, exchange = 0;
  // The model, either here or in three files.
  std::map<std::string, MoleculesSettings> molecules;
  std::optional<FilesSettings> files;
  std::string potential = "lennard_jones", mixing = "lorentz_berthelot";
  std::vector<PairsSettings> pairs;
  std::optional<double> cutoff;
  bool tail = false;
  std::optional<Vec3<double>> box;
  std::string start = "lattice";
  // Moves.
  std::optional<double> translation, rotation;
  std::string order = "sequential";
  std::optional<TuneSettings> tune;
  std::optional<VolumeSettings> volume;
  CheckerboardOptions checkerboard;
  // What is written.
  std::string file = "metropolis.h5";
  std::optional<std::int64_t> stride;
  std::int64_t recompute = 1000;
  bool pressure = false;
  std::optional<RdfSettings> rdf;
  std::optional<FramesSettings> trajectory;
  std::optional<FinalSettings> final_state;
  std::string name = "metropolis";
};

template <class D>
void describe(D& d, MetropolisSettings& s) {
  d.optional("engine", s.engine, OneOf{"sequential", "reduction", "pipelined", "checkerboard"},
             "sequential: one CPU thread, the reference; reduction: a move at a time, its energy "
             "by all threads; pipelined: whole cycles at once; these three follow the same chain. "
             "checkerboard: domains of a large system of atoms with a cut-off at once");
  d.optional("precision", s.precision, OneOf{"single", "double"},
             "of pair energies; sums are double in any case");
  d.optional(
      "cycles", s.cycles, NonNegative{},
      "cycles after equilibration; a cycle is as many trial moves as molecules; required but "
      "with files");
  d.optional("equilibration", s.equilibration, NonNegative{}, "cycles before");
  d.optional("temperature", s.temperature, Positive{}, "k_B T, or K where the job has units");
  d.optional("temperatures", s.temperatures, Positive{},
             "of each replica, instead of one temperature and replicas");
  d.optional("replicas", s.replicas, Between{1, 1 << 20}, "independent copies of the system");
  d.optional("exchange", s.exchange, NonNegative{},
             "cycles from one attempt to exchange neighbouring temperatures to the next; 0: never");
  d.optional("molecules", s.molecules, Any{}, "by name: sites and number");
  d.optional("files", s.files, Any{},
             "instead of molecules, pairs, box: three files, in Å, kJ/mol, K and radians");
  d.optional("potential", s.potential,
             OneOf{"lennard_jones", "wca", "yukawa", "morse", "gaussian_core", "soft_dpd"},
             "energy of two sites");
  d.optional("mixing", s.mixing, OneOf{"none", "lorentz_berthelot", "geometric"},
             "sigma and epsilon of unlike types that are not listed; cores: radii add");
  d.optional("pairs", s.pairs, Any{}, "parameters for each pair of types");
  d.optional("cutoff", s.cutoff, Positive{},
             "no energy beyond (length); absent: all pairs, each by its minimum image");
  d.optional("tail", s.tail, Any{}, "add what a cut-off leaves out (lennard_jones)");
  d.optional("box", s.box, Positive{}, "edges of the periodic box (length)");
  d.optional("start", s.start, OneOf{"lattice", "random"}, "where the molecules start");
  d.optional("translation", s.translation, NonNegative{},
             "largest displacement of a trial move along each axis (length)");
  d.optional(
      "rotation", s.rotation, Between{0, 3.1415926535897931},
      "largest angle of a trial move (radians); required where a molecule has several sites");
  d.optional("order", s.order, OneOf{"sequential", "random"},
             "in which molecules are moved: one after the other, or chosen at random");
  d.optional("tune", s.tune, Any{}, "adjust both sizes during equilibration");
  d.optional("volume", s.volume, Any{}, "volume moves: constant pressure instead of volume");
  d.optional("trials", s.checkerboard.trials, Between{1, 1000},
             "checkerboard: of each atom in a sweep");
  d.optional(
      "margin", s.checkerboard.margin, NonNegative{},
      "checkerboard: how far beyond the cut-off lists reach (length), speed only; 0: chosen");
  d.optional("file", s.file, Any{}, "H5MD observables, relative to the output directory");
  d.optional("stride", s.stride, Positive{},
             "cycles from one row of the file to the next; absent: 10, with files 1");
  d.optional("recompute", s.recompute, Positive{},
             "cycles from one energy computed from scratch to the next; the drift is reported");
  d.optional("pressure", s.pressure, Any{}, "also compute the pressure at every row");
  d.optional("rdf", s.rdf, Any{}, "radial distribution functions of all pairs of site types");
  d.optional("trajectory", s.trajectory, Any{}, "write the sites of the first replica");
  d.optional("final_state", s.final_state, Any{},
             "write the first replica's state at the end as three files, as `files` are");
  d.optional("name", s.name, Any{}, "name of the stage on the console");
}

}  // namespace perrin::metropolis
