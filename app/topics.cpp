#include "app/topics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/settings/units.h"

namespace perrin {
namespace {

std::string units_text() {
  const Units example = make_units({"nm", "kJ/mol", "u"});
  return fmt::format(
      R"(units: the units of all numbers in a job
  "units": "lj" (default)
      reduced units: length, energy and mass are in arbitrary units, time is in
      length (mass/energy)^(1/2), and a temperature is k_B T, an energy
  "units": {{"length": "nm", "energy": "kJ/mol", "mass": "u"}}
      length  {}
      energy  {}
      mass    {}
      Every number of the job is in these units or in units derived from them: time in
      length (mass/energy)^(1/2), which is {} here, velocity in length/time, force in
      energy/length, pressure in energy/length^3, friction in mass/time. A temperature is in
      kelvin. Output files name their units.
  A number out of the range of single precision is an error that names the unit to choose.
)",
      fmt::join(length_units(), ", "), fmt::join(energy_units(), ", "),
      fmt::join(mass_units(), ", "), example.time);
}

const char* const coordinates_text =
    R"(coordinates: origin, box vectors, wrapped and unwrapped positions
  If Perrin generates the system, the origin of a job's coordinates is the middle of the box: x runs
  from -L/2 to L/2. A system from a file keeps the origin of the file. This applies to
  harmonic_trap (center), lj_wall (position) and profiles.
  H5MD files hold positions from 0 to L, as their readers expect, and box_origin: the coordinate in
  the job is position + box_origin. XTC, DCD, PDB and GRO files are the same without box_origin. The
  unwrapped position is position + image * L, with the image counters; "positions": "unwrapped" of
  the observers trajectory, gsd and xtc writes it, and so does perrin convert --unwrap. The origin
  of GSD files is the middle of the box; LAMMPS data and extended XYZ keep the job's coordinates,
  unless perrin convert is given --origin corner or middle.
  The box vectors are a along x, b in the xy plane, and c. If a particle leaves the box along an
  axis that is not periodic, the run ends with an error. Two-dimensional systems lie in the xy
  plane: their lists of one number per axis may have two entries.
)";

const char* const formula_text =
    R"(formula: syntax of energies (pair_formula, bond_formula, many_body_formula, …) and of numbers
  Every number of a job may be a formula of numbers, as text: "cutoff": "2^(1/6) * 3.4".
  4*epsilon*((sigma/r)^12 - (sigma/r)^6) + q
  Names that are neither variables nor functions are parameters; the job gives their values in the
  place of other forces' parameters. Forces are the exact derivatives. Numbers are in the job's
  units.
      variables   r (pairs, bonds); theta (angles, radians, straight is pi); phi (dihedrals,
                  -pi to pi, trans is pi); rho (the energy of many_body_formula, whose density
                  and pair are of r); x, y, z, t (external; with t, the time since the
                  beginning of the job, in double precision; the energy is evaluated at the
                  current time); E (cross-sections and spectra of neutron_slab, an energy);
                  x, y, z (perrin rng --density, --figure)
      operators   + - * / ^ (also **; 2^3^2 is 2^(3^2)), comparisons < <= > >= (1 or 0)
      functions   sqrt exp log sin cos tan asin acos atan sinh cosh tanh erf erfc abs sign
                  step(x) (1 from 0 on)  min(a, b)  max(a, b)  pow(a, b)
                  if(condition, then, else)
                  where they get what is no number (NaN), as log(-1), none of them is one; a run
                  ends there, and says where. So is sqrt(x)^2 where x is negative; what is
                  multiplied by the number 0, or subtracted from itself, is 0
      number      pi
      definitions follow the formula: "4*epsilon*(x^12 - x^6); x = sigma/r"
      attributes  numbers of each particle ("attributes" of the job; charge, diameter, mass), where
                  no entry gives that name as a parameter: NAME_1 and NAME_2 of pairs, bonds, and
                  density and pair of many_body_formula; NAME_1 to NAME_3 of angles, to NAME_4 of
                  dihedrals; NAME in external_formula and the energy of many_body_formula. At most
                  four, in many_body_formula three. They need a compiler
  The first use of a formula compiles it (about 10 s) with the compiler that built Perrin
  ($PERRIN_COMPILER names another): for the GPU of this machine and the CPU, for the CPU alone where
  there is no GPU. $PERRIN_GPU_ARCHITECTURE=90 (a compute capability without its point) compiles for
  a GPU that is elsewhere. Later runs load it from $PERRIN_CACHE; if that is not set, from
  $XDG_CACHE_HOME/perrin or ~/.cache/perrin. Other users must not be able to write to this folder. A
  damaged entry is compiled again. Without a compiler a formula is tabulated; this is
  not possible for many_body_formula and formulas of x, y, z, t. A compiler that has not ended
  after 300 s ($PERRIN_COMPILER_SECONDS) is killed, which is an error.
  Integer powers of r are fastest, and even ones need no square root. exp and other powers of r cost
  more; log and the other functions cost most on a CPU. In single precision the range of exp(x) is
  10^-38 to 10^30.
)";

const char* const processes_text =
    R"(processes: one job on several processes (MPI ranks), bitwise identical to one process
  mpirun -np 2 perrin run job.json
  srun --mpi=pmix -N 4 --gpus-per-task 1 perrin run job.json
  The job needs no setting for this. On a host with GPUs each process uses one GPU; on the CPU the
  processes of a host divide its cores. The first process prints and writes files; every process
  must be able to read the job, its input files and checkpoints, and must have the same Perrin,
  job and plug-ins, which is checked before the start. A signal to any process stops all with a
  checkpoint, which any number of processes can resume; an error in one process ends all.
  An md stage distributes the particles over the processes. Measured times balance the load;
  "processes": {"balance": "equal"} in the job gives every process the same number instead.
  "grid": [2, 2, 1] in "processes" orders the particles of GPUs by blocks of the box, so that each
  of four processes has one block.
  If a process had fewer than 128 particles (75 000 on a GPU; "particles" in "processes" sets
  another number), fewer processes share the work.
  GPUs without peer access, of several hosts for example, exchange data by MPI.
  If a stage is not parallelised over processes, every process does all of its work, and a warning
  says so.
)";

const char* const ensemble_text =
    R"(ensemble: several systems of one job
  "ensemble": {"count": 16, "vary": {"stages[0].integrator.temperature": {"linear": [0.7, 1.4]}}}
      runs 16 jobs that differ in what "vary" says, each in a folder of its own (00 … 15) in the
      output directory, as many at a time as there are threads. Each system has the bits that its
      job has alone.
  vary        settings by their paths, as --set has them, and for each system a value: a list,
              {"linear": [first, last]} or {"geometric": [first, last]}. Numbers of particles,
              boxes, forces and stages may vary. Seeds are those of the job plus 0, 1, 2, … unless
              "seed" varies, too
  exchange    {"every": 100}: at multiples of 100 steps neighbours in the order of the systems
              exchange their particles by Metropolis' rule (replica exchange), velocities scaled by
              the root of the ratio of temperatures. The systems need heat baths, the same
              particles and the same box; they differ in temperatures or in forces. "stages" names
              the stages in which this is done. exchange.csv says which replica each system has.
              {"type": "gibbs", "every": 1, "transfers": 100, "volume": {"step": 0.05}}: systems 0
              and 1, 2 and 3, … exchange single particles, rigid bodies and volume (Gibbs ensemble);
              both have a stage monte_carlo and a reservoir with room for the particles of the other
  ensemble.json has the job and the values; system.json in each folder says how it ended: complete,
  or failed and why. One that fails leaves the others alone; the program then ends with status 3.
  Signals and --time-limit stop all systems with checkpoints; perrin resume FOLDER goes on, with
  --steps and --set for all systems. Under mpirun the systems are dealt out over the processes.
)";

}  // namespace

std::vector<std::string> topic_names() {
  return {"units", "coordinates", "formula", "processes", "ensemble"};
}

std::string topic_text(const std::string& name) {
  if (name == "units") return units_text();
  if (name == "coordinates") return coordinates_text;
  if (name == "processes") return processes_text;
  if (name == "ensemble") return ensemble_text;
  return name == "formula" ? formula_text : "";
}

}  // namespace perrin
