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
  d.required("number", s.number, Positive{}, "number of molecules");
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
  d.optional("repulsion", s.repulsion, NonNegative{}, "soft_dpd: force at r = 0");
  d.optional("cutoff", s.cutoff, Positive{},
             "cut-off of this pair of types; overrides the common one");
  d.optional("core", s.core, NonNegative{}, "hard-core distance between sites");
}

struct FilesSettings {
  std::string model = "model.txt", particles = "particles.csv", atoms = "atoms.csv";
};
template <class D>
void describe(D& d, FilesSettings& s) {
  d.optional("model", s.model, Any{}, "sizes, temperature, box, steps and types");
  d.optional("particles", s.particles, Any{},
             "one molecule per line: first atom, number of atoms, centre, 3×3 orientation");
  d.optional("atoms", s.atoms, Any{}, "one site per line: type, coordinates, local coordinates");
}

struct TuneSettings {
  double acceptance = 0.5;
  std::int64_t interval = 20;
};
template <class D>
void describe(D& d, TuneSettings& s) {
  d.optional("acceptance", s.acceptance, Between{0.05, 0.95},
             "target acceptance ratio during equilibration; afterwards the sizes are fixed");
  d.optional("interval", s.interval, Positive{}, "interval between adjustments (cycles)");
}

/// The state at the end, in the form that `files` are read in.
struct FinalSettings {
  std::string model = "final_model.txt", particles = "final_particles.csv",
              atoms = "final_atoms.csv";
  std::string origin = "corner";
};
template <class D>
void describe(D& d, FinalSettings& s) {
  d.optional("model", s.model, Any{}, "sizes, temperature, box, steps and types");
  d.optional("particles", s.particles, Any{}, "centre and orientation of each molecule");
  d.optional("atoms", s.atoms, Any{}, "type, coordinates and local coordinates of each site");
  d.optional("origin", s.origin, OneOf{"corner", "centre"},
             "origin of the coordinates: the corner of the box, so that centres are in 0 to L, or "
             "its centre, so that they are in -L/2 to L/2; both are read");
}

struct VolumeSettings {
  double pressure = 0, step = 0.02;
  std::int64_t interval = 1;
};
template <class D>
void describe(D& d, VolumeSettings& s) {
  d.required("pressure", s.pressure, Any{}, "pressure (energy per volume)");
  d.optional("step", s.step, Positive{}, "largest change of ln V in a move");
  d.optional("interval", s.interval, Positive{}, "interval between volume moves (cycles)");
}

struct RdfSettings {
  std::optional<int> bins;
  std::optional<double> width;
  double range = 0;
  std::int64_t interval = 10, rows = 0;
  bool own_molecule = false;
  std::string divisor = "pairs";
  std::string file = "rdf.h5", csv;
};
template <class D>
void describe(D& d, RdfSettings& s) {
  d.optional("bins", s.bins, Between{1, 100000}, "number of bins; default: 200");
  d.optional("width", s.width, Positive{},
             "width of a bin (length), instead of bins; as many whole bins as the range has");
  d.optional("range", s.range, NonNegative{},
             "largest distance; 0: half of the shortest edge (with volume 0.9 of it), with "
             "checkerboard at most 3 cut-offs. For large systems use at most 0.4 of an edge: pairs "
             "are then found with a cell list");
  d.optional("interval", s.interval, Positive{}, "sampling interval (cycles)");
  d.optional("rows", s.rows, NonNegative{},
             "number of cycles averaged in one row of the file; 0: one row for the whole run");
  d.optional("own_molecule", s.own_molecule, Any{},
             "include pairs within a molecule, and normalise by N_a N_b instead of the pairs of "
             "different molecules");
  d.optional(
      "divisor", s.divisor, OneOf{"pairs", "all"},
      "number of pairs that g(r) is normalised by. pairs: those of different molecules (with "
      "own_molecule N_a N_b, every like pair twice); all: N_a N_b of unlike types, N_a (N_a "
      "- 1) / 2 of like ones");
  d.optional("file", s.file, Any{}, "H5MD observables r and g_A-B");
  d.optional("csv", s.csv, Any{}, "text file for the average: \"distribution.csv\"");
}

struct FramesSettings {
  std::string file = "trajectory.h5";
  std::int64_t interval = 100;
};
template <class D>
void describe(D& d, FramesSettings& s) {
  d.optional("file", s.file, Any{}, "H5MD, relative to the output directory");
  d.optional("interval", s.interval, Positive{}, "output interval (cycles)");
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
             "sequential: one CPU thread, the reference; reduction: one move at a time, with its "
             "energy summed by all threads; pipelined: whole cycles in parallel; these three give "
             "the same Markov chain. checkerboard: domains in parallel, for a large system of "
             "atoms with a cut-off");
  d.optional("precision", s.precision, OneOf{"single", "double"},
             "precision of pair energies; sums are always in double precision");
  d.optional("cycles", s.cycles, NonNegative{},
             "number of cycles after equilibration; a cycle has as many trial moves as there are "
             "molecules; required without files");
  d.optional("equilibration", s.equilibration, NonNegative{}, "number of cycles of equilibration");
  d.optional("temperature", s.temperature, Positive{},
             "temperature, as k_B T; in K if the job has named units");
  d.optional("temperatures", s.temperatures, Positive{},
             "temperature of each replica, instead of temperature and replicas");
  d.optional("replicas", s.replicas, Between{1, 1 << 20}, "independent copies of the system");
  d.optional("exchange", s.exchange, NonNegative{},
             "interval between attempts to exchange neighbouring temperatures (cycles); 0: never");
  d.optional("molecules", s.molecules, Any{}, "molecules by name: sites and number");
  d.optional("files", s.files, Any{},
             "three input files instead of molecules, pairs and box, in Å, kJ/mol, K and radians");
  d.optional("potential", s.potential,
             OneOf{"lennard_jones", "wca", "yukawa", "morse", "gaussian_core", "soft_dpd"},
             "pair potential of two sites");
  d.optional(
      "mixing", s.mixing, OneOf{"none", "lorentz_berthelot", "geometric"},
      "mixing rule for sigma and epsilon of unlike types that are not listed; core radii add");
  d.optional("pairs", s.pairs, Any{}, "parameters for each pair of types");
  d.optional("cutoff", s.cutoff, Positive{},
             "cut-off distance (length); absent: all pairs, by their minimum images");
  d.optional("tail", s.tail, Any{}, "add the long-range (tail) correction (lennard_jones)");
  d.optional("box", s.box, Positive{}, "edge lengths of the periodic box (length)");
  d.optional("start", s.start, OneOf{"lattice", "random"}, "initial positions of the molecules");
  d.optional("translation", s.translation, NonNegative{},
             "largest displacement of a trial move along each axis (length)");
  d.optional("rotation", s.rotation, Between{0, 3.1415926535897931},
             "largest angle of a trial move (radians); required if a molecule has several sites");
  d.optional(
      "order", s.order, OneOf{"sequential", "random"},
      "order of trial moves: sequential over the molecules, or of randomly chosen molecules");
  d.optional("tune", s.tune, Any{}, "adjust both step sizes during equilibration");
  d.optional("volume", s.volume, Any{}, "volume moves (constant pressure)");
  d.optional("trials", s.checkerboard.trials, Between{1, 1000},
             "checkerboard: trial moves of each atom in a sweep");
  d.optional("margin", s.checkerboard.margin, NonNegative{},
             "checkerboard: skin of the lists beyond the cut-off (length), affects only the speed; "
             "0: chosen by Perrin");
  d.optional("file", s.file, Any{}, "H5MD observables, relative to the output directory");
  d.optional("stride", s.stride, Positive{}, "output interval (cycles); default: 10, with files 1");
  d.optional("recompute", s.recompute, Positive{},
             "interval between recomputations of the energy (cycles); the drift is reported");
  d.optional("pressure", s.pressure, Any{}, "also compute the pressure for every row");
  d.optional("rdf", s.rdf, Any{}, "radial distribution functions of all pairs of site types");
  d.optional("trajectory", s.trajectory, Any{}, "write the sites of the first replica");
  d.optional("final_state", s.final_state, Any{},
             "write the final state of the first replica in the three formats of `files`");
  d.optional("name", s.name, Any{}, "name of the stage in output");
}

}  // namespace perrin::metropolis
