// Writes LAMMPS data files: one configuration.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "engine/base/error.h"
#include "io/formats.h"
#include "io/text_file.h"

namespace perrin::io {
namespace {

class LammpsWriter : public FrameWriter {
 public:
  explicit LammpsWriter(const std::string& path) : path_(path), out_(path) {}

  void write(const Frame& frame) override {
    if (std::exchange(written_, true))
      throw UserError(path_ + ": a LAMMPS data file holds one frame; choose it with --frame");
    const Configuration& c = frame.configuration;
    check_words(c.types, path_);
    const Topology& t = c.topology;
    const auto line = [&](const std::string& text) { out_.put(text + "\n"); };
    line(fmt::format("LAMMPS data file by Perrin, step {}\n", c.step));
    line(fmt::format("{} atoms\n{} atom types", c.position.size(), c.types.size()));
    if (!t.bonds.empty())
      line(fmt::format("{} bonds\n{} bond types", t.bonds.size(), t.bond_types.size()));
    if (!t.angles.empty())
      line(fmt::format("{} angles\n{} angle types", t.angles.size(), t.angle_types.size()));
    if (!t.dihedrals.empty())
      line(fmt::format("{} dihedrals\n{} dihedral types", t.dihedrals.size(),
                       t.dihedral_types.size()));
    if (!t.impropers.empty())
      line(fmt::format("{} impropers\n{} improper types", t.impropers.size(),
                       t.improper_types.size()));
    line("");
    for (int axis = 0; axis < 3; ++axis)
      line(fmt::format("{} {} {}lo {}hi", c.box.origin[axis],
                       c.box.origin[axis] + c.box.length[axis], "xyz"[axis], "xyz"[axis]));
    if (!c.box.orthogonal()) line(fmt::format("{} {} {} xy xz yz", c.box.xy, c.box.xz, c.box.yz));
    write_masses(c);
    write_atoms(c);
    if (!c.velocity.empty()) {
      line("\nVelocities\n");
      for (std::size_t i = 0; i < c.velocity.size(); ++i)
        line(fmt::format("{} {} {} {}", i + 1, c.velocity[i].x, c.velocity[i].y, c.velocity[i].z));
    }
    if (!t.bonds.empty()) line("\nBonds\n");
    for (std::size_t k = 0; k < t.bonds.size(); ++k)
      line(fmt::format("{} {} {} {}", k + 1, t.bonds[k].type + 1, t.bonds[k].a + 1,
                       t.bonds[k].b + 1));
    if (!t.angles.empty()) line("\nAngles\n");
    for (std::size_t k = 0; k < t.angles.size(); ++k)
      line(fmt::format("{} {} {} {} {}", k + 1, t.angles[k].type + 1, t.angles[k].a + 1,
                       t.angles[k].b + 1, t.angles[k].c + 1));
    write_torsions("Dihedrals", t.dihedrals);
    write_torsions("Impropers", t.impropers);
  }
  void finish() override { out_.close(); }

 private:
  void write_torsions(const char* section, const std::vector<Topology::Dihedral>& list) {
    if (!list.empty()) out_.put(fmt::format("\n{}\n\n", section));
    for (std::size_t k = 0; k < list.size(); ++k)
      out_.put(fmt::format("{} {} {} {} {} {}\n", k + 1, list[k].type + 1, list[k].a + 1,
                           list[k].b + 1, list[k].c + 1, list[k].d + 1));
  }

  /// The format has masses by type; types with several masses cannot be written.
  void write_masses(const Configuration& c) {
    std::vector<double> mass(c.types.size(), 0.0);
    for (std::size_t i = 0; i < c.type.size(); ++i) {
      const double m = c.mass.empty() ? 1.0 : c.mass[i];
      double& known = mass[c.type[i]];
      if (known != 0 && std::abs(known - m) > 1e-6 * m)
        throw UserError(
            fmt::format("{}: particles of type {} have masses {} and {}: a LAMMPS data file stores "
                        "one per type",
                        path_, c.types[c.type[i]], known, m));
      if (known == 0) known = m;
    }
    out_.put("\nMasses\n\n");
    for (std::size_t k = 0; k < mass.size(); ++k)
      out_.put(fmt::format("{} {} # {}\n", k + 1, mass[k] == 0 ? 1.0 : mass[k], c.types[k]));
  }

  void write_atoms(const Configuration& c) {
    const bool molecules = !c.topology.molecule.empty() || !c.topology.bonds.empty();
    const bool charges = !c.charge.empty();
    out_.put(fmt::format("\nAtoms # {}\n\n", molecules && charges ? "full"
                                             : molecules          ? "molecular"
                                             : charges            ? "charge"
                                                                  : "atomic"));
    const auto& number = c.topology.molecule;
    // 0 would be no molecule to LAMMPS.
    const std::uint64_t from = std::ranges::count(number, 0u) > 0 ? 1 : 0;
    for (std::size_t i = 0; i < c.position.size(); ++i) {
      std::string row = std::to_string(i + 1);
      if (molecules) row += fmt::format(" {}", number.empty() ? 0 : number[i] + from);
      row += fmt::format(" {}", c.type[i] + 1);
      if (charges) row += fmt::format(" {}", c.charge[i]);
      const auto& r = c.position[i];
      row += fmt::format(" {} {} {}", r.x, r.y, r.z);
      if (!c.image.empty())
        row += fmt::format(" {} {} {}", c.image[i].x, c.image[i].y, c.image[i].z);
      out_.put(row + "\n");
    }
  }

  std::string path_;
  TextFile out_;
  bool written_ = false;
};

}  // namespace

std::unique_ptr<FrameWriter> write_lammps_data(const std::string& path, const Frame&,
                                               const WriteOptions&) {
  return std::make_unique<LammpsWriter>(path);
}

}  // namespace perrin::io
