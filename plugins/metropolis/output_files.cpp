#include <fmt/format.h>

#include <cmath>

#include "input_files.h"
#include "io/new_file.h"
#include "io/text_file.h"
#include "mixing.h"
#include "moves.h"

namespace perrin::metropolis {
namespace {

const Units& units_of_files() {
  static const Units units = make_units({"angstrom", "kJ/mol", "u"});
  return units;
}

bool alike(double a, double b) { return std::abs(a - b) <= 1e-9 * (std::abs(a) + std::abs(b)); }

void write(const std::string& path, const std::string& text, bool overwrite) {
  io::NewFile place(path);
  io::TextFile file(place.aside());
  file.put(text);
  file.close();
  place.put_in_place(overwrite);
}

std::string model_text(const System& system, const FileRun& run) {
  const Model& model = system.model();
  const Vec3<double>& box = model.box;
  const bool cube = box.x == box.y && box.y == box.z;
  std::string text = fmt::format(
      "n_particles = {}\nn_atoms = {}\nn_atom_types = {}\nn_mc_passes = {}\ntemp = {}\n"
      "box = {}\nmcmove_tran = {}\nmcmove_rot = {}\n",
      system.molecules(), system.sites(), model.types.size(), run.cycles,
      run.kT / units_of_files().k_boltzmann,
      cube ? fmt::format("{}", box.x) : fmt::format("{} {} {}", box.x, box.y, box.z),
      run.sizes.translation, run.sizes.rotation);
  for (std::uint32_t a = 0; a < model.types.size(); ++a) {
    const PairParameters& like = model.pair(a, a);
    text += fmt::format("atom[{0}].sigma = {1}\natom[{0}].epsilon = {2}\natom[{0}].min_r = {3}\n",
                        a, like.a, like.b, like.core / 2);
  }
  return text;
}

std::string triple(const Vec3<double>& r) { return fmt::format("{},{},{}", r.x, r.y, r.z); }

}  // namespace

std::string not_for_files(const Model& model, const std::string& mixing, const Units& units) {
  if (units.length != units_of_files().length || units.energy != units_of_files().energy)
    return "the files are in Å and kJ/mol: the job's units must be these";
  for (std::uint32_t a = 0; a < model.types.size(); ++a)
    for (std::uint32_t b = 0; b < model.types.size(); ++b) {
      const PairParameters& pair = model.pair(a, b);
      if (pair.kind != PairKind::lennard_jones)
        return "the files can hold only parameters of lennard_jones";
      if (a == b) continue;
      const PairParameters mixed = mix(model.pair(a, a), model.pair(b, b), mixing);
      if (!alike(pair.a, mixed.a) || !alike(pair.b, mixed.b) || !alike(pair.core, mixed.core))
        return fmt::format(
            "the files cannot hold parameters of unlike types, but {}-{} does not follow from "
            "mixing",
            model.types[a], model.types[b]);
    }
  return {};
}

void write_files(const InputFiles& files, const System& system, const FileRun& run,
                 bool overwrite) {
  const Model& model = system.model();
  const std::vector<Position> centres = system.centres();
  const std::vector<Quaternion> orientations = system.orientations();
  std::string particles, atoms;
  std::int64_t first = 0;
  for (std::size_t m = 0; m < model.molecule.size(); ++m) {
    const auto& sites = model.templates[model.molecule[m]].sites;
    // The image of a centre that lies in 0 … L, or in -L/2 … L/2: the same point to who reads it.
    const auto along = [&](std::uint32_t x, double edge) {
      return (run.centred ? double(std::int32_t(x)) : double(x)) * edge * 0x1p-32;
    };
    const Vec3<double> c{along(centres[m].x, model.box.x), along(centres[m].y, model.box.y),
                         along(centres[m].z, model.box.z)};
    const Quaternion& q = orientations[m];
    const Vec3<double> x = rotate(q, {1, 0, 0}), y = rotate(q, {0, 1, 0}), z = rotate(q, {0, 0, 1});
    particles +=
        fmt::format("{},{},{},{},{},{}\n", first, sites.size(), triple(c), triple({x.x, y.x, z.x}),
                    triple({x.y, y.y, z.y}), triple({x.z, y.z, z.z}));
    for (const auto& site : sites)
      atoms +=
          fmt::format("{},{},{}\n", site.type, triple(c + rotate(q, site.at)), triple(site.at));
    first += std::int64_t(sites.size());
  }
  write(files.model, model_text(system, run), overwrite);
  write(files.particles, particles, overwrite);
  write(files.atoms, atoms, overwrite);
}

}  // namespace perrin::metropolis
