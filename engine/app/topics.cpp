#include "engine/app/topics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/settings/units.h"

namespace perrin {
namespace {

std::string units_text() {
  const Units example = make_units({"nm", "kJ/mol", "u"});
  return fmt::format(
      R"(units: what the numbers of a job are measured in
  "units": "lj" (default)
      reduced units: length, energy and mass are numbers in any units of yours, time is
      length (mass/energy)^(1/2), and a temperature is k_B T, an energy
  "units": {{"length": "nm", "energy": "kJ/mol", "mass": "u"}}
      length  {}
      energy  {}
      mass    {}
      Every number of the job is in these and in what follows from them: time in
      length (mass/energy)^(1/2), which is {} here, velocity in length/time, force in
      energy/length, pressure in energy/length^3, friction in mass/time. A temperature is in
      kelvin. Output files name their units.
  Numbers beyond single precision are refused, with the unit to choose instead.
)",
      fmt::join(length_units(), ", "), fmt::join(energy_units(), ", "),
      fmt::join(mass_units(), ", "), example.time);
}

const char* const coordinates_text =
    R"(coordinates: where the origin is, and what leaves the box
  In a job, places count from the middle of the box where Perrin makes the system: along x from
  -L/2 to L/2. A system from a file keeps the origin that the file gives. This goes for
  harmonic_trap (center), lj_wall (position) and the coordinates of profiles.
  H5MD files have positions in 0 to L, as their readers expect, and box_origin beside them: the
  place in the job is position + box_origin. XTC files are the same without box_origin. With image
  counters the path without wrapping is position + image * L; "positions": "unwrapped" of the
  observers trajectory, gsd and xtc, and perrin convert --unwrap, write it. GSD counts from the
  middle of the box; LAMMPS data and extended XYZ keep the job's places, unless perrin convert
  --origin corner or middle says otherwise.
  The box is spanned by a along x, b in the xy plane, and c. Along axes that are not periodic a
  particle that leaves is an error. Two-dimensional systems lie in the xy plane.
  For them a list of a number for each axis may have two entries.
)";

const char* const formula_text =
    R"(formula: how the energies of pair_formula, bond_formula, … are written
  4*epsilon*((sigma/r)^12 - (sigma/r)^6) + q
  Names that are neither variables nor functions are parameters; the job gives them where other
  forces have theirs. Forces are the exact derivatives. In any units of the job.
      variables   r (pairs, bonds); theta (angles, radians, stretched is pi); phi (dihedrals,
                  -pi to pi, trans is pi); x, y, z, t (external; with t, the time since the
                  beginning of the job, in double precision; energies are those of the instant)
      operators   + - * / ^ (also **; 2^3^2 is 2^(3^2)), comparisons < <= > >= (1 or 0)
      functions   sqrt exp log sin cos tan asin acos atan sinh cosh tanh erf erfc abs sign
                  step(x) (1 from 0 on)  min(a, b)  max(a, b)  pow(a, b)
                  if(condition, then, else)
      number      pi
      definitions behind the formula: "4*epsilon*(x^12 - x^6); x = sigma/r"
  The first use of a formula compiles it (some 10 s) with the compiler that built Perrin; later
  ones take it from $PERRIN_CACHE, else $XDG_CACHE_HOME/perrin, else ~/.cache/perrin, a folder that
  nobody else may write into. What is damaged there is compiled again. Where there is no compiler
  ($PERRIN_COMPILER names another) tables take its place, but not of x, y, z, t. A compiler that
  has not ended after 300 s ($PERRIN_COMPILER_SECONDS) is killed, which is an error.
  Whole powers of r cost least; even ones need no root. exp and other powers of r cost more, log
  and the other functions most on a CPU. In single precision exp(x) ends at 10^30 above and 10^-38
  below.
)";

const char* const processes_text =
    R"(processes: several of them on one job, with the bits of one
  mpirun -np 2 perrin run job.json
  srun --mpi=pmix -N 4 --gpus-per-task 1 perrin run job.json
  The job needs no word about it. On a host with GPUs each process takes one; on the CPU each takes
  its share of the cores that it may use. The first process prints and writes; all must see the
  job, the files that it names and checkpoints, and have the same Perrin, job and plug-ins, which is
  looked at before the start. A signal to any of them stops all with a checkpoint, which any number
  of processes can resume; an error in one ends all.
  In an md stage each has a share of the particles: so many that all work equally long, by measured
  time, or equal numbers with "processes": {"balance": "equal"} in the job. "grid": [2, 2, 1] there
  orders the particles of GPUs by blocks of the box, so that four processes have one each.
  Fewer share where each would have fewer than 128 particles, on GPUs 75 000 ("particles" there).
  GPUs that do not see each other's memory, such as those of several hosts, are served by MPI.
  A stage whose work is not dealt out is done by every process as a whole, and a warning says so.
)";

}  // namespace

std::vector<std::string> topic_names() { return {"units", "coordinates", "formula", "processes"}; }

std::string topic_text(const std::string& name) {
  if (name == "units") return units_text();
  if (name == "coordinates") return coordinates_text;
  if (name == "processes") return processes_text;
  return name == "formula" ? formula_text : "";
}

}  // namespace perrin
