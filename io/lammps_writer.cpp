// Writes LAMMPS data files: one configuration.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "engine/base/error.h"
#include "io/file_orientations.h"
#include "io/formats.h"
#include "io/lammps_header.h"
#include "io/lammps_styles.h"
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
    line(fmt::format("{}{}\n", lammps_title, c.step));
    line(fmt::format("{} atoms\n{} atom types", c.position.size(), c.types.size()));
    // Particles that turn are ellipsoids with their masses and moments of inertia.
    const Ellipsoids ellipsoids(c);
    const auto& axes = ellipsoids.axes;
    if (!axes.empty()) line(fmt::format("{} ellipsoids", axes.size() - ellipsoids.points));
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
    if (axes.empty())
      write_masses(c, true);
    else if (plain_ellipsoids(c))
      write_labels(c);
    else
      write_masses(c, false);
    write_atoms(c, axes);
    const bool turning = !axes.empty() && !c.angular_momentum.empty();
    if (!c.velocity.empty()) {
      line("\nVelocities\n");
      for (std::size_t i = 0; i < c.velocity.size(); ++i)
        line(fmt::format("{}{}{}", i + 1, numbers(c.velocity[i]),
                         turning ? numbers(rotate(c.orientation[i], c.angular_momentum[i])) : ""));
    }
    if (!axes.empty()) line("\nEllipsoids\n");
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (axes[i] == Vec3<double>{}) continue;
      const Quaternion& q = c.orientation[i];
      line(fmt::format("{}{} {} {} {} {}", i + 1, numbers(2.0 * axes[i]), q.w, q.x, q.y, q.z));
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

  static std::string numbers(const Vec3<double>& v) {
    return fmt::format(" {} {} {}", v.x, v.y, v.z);
  }

  static bool has_molecules(const Configuration& c) {
    return !c.topology.molecule.empty() || !c.topology.bonds.empty();
  }
  /// Whether the atom style is ellipsoid alone, which has no masses of types.
  static bool plain_ellipsoids(const Configuration& c) {
    return !has_molecules(c) && c.charge.empty();
  }

  /// Names of types, where there are no masses beside which they stand.
  void write_labels(const Configuration& c) {
    if (!are_labels(c.types)) return;
    out_.put("\nAtom Type Labels\n\n");
    for (std::size_t k = 0; k < c.types.size(); ++k)
      out_.put(fmt::format("{} {}\n", k + 1, c.types[k]));
  }

  /// The format has masses by type; types with several masses cannot be written, but for ellipsoids
  /// (not `only`), which have masses of their own.
  void write_masses(const Configuration& c, bool only) {
    std::vector<double> mass(c.types.size(), 0.0);
    for (std::size_t i = 0; i < c.type.size(); ++i) {
      const double m = c.mass.empty() ? 1.0 : c.mass[i];
      double& known = mass[c.type[i]];
      if (only && known != 0 && std::abs(known - m) > 1e-6 * m)
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

  /// `axes`: of ellipsoids; empty: of points.
  void write_atoms(const Configuration& c, const std::vector<Vec3<double>>& axes) {
    const bool molecules = has_molecules(c), charges = !c.charge.empty();
    std::string style = molecules && charges ? "full"
                        : molecules          ? "molecular"
                        : charges            ? "charge"
                                             : "atomic";
    if (!axes.empty()) style = plain_ellipsoids(c) ? "ellipsoid" : "hybrid ellipsoid " + style;
    out_.put(fmt::format("\nAtoms # {}\n\n", style));
    const auto& number = c.topology.molecule;
    // 0 would be no molecule to LAMMPS.
    const std::uint64_t from = std::ranges::count(number, 0u) > 0 ? 1 : 0;
    for (std::size_t i = 0; i < c.position.size(); ++i) {
      std::string row = std::to_string(i + 1);
      const std::string molecule =
          molecules ? fmt::format(" {}", number.empty() ? 0 : number[i] + from) : "";
      const std::string charge = charges ? fmt::format(" {}", c.charge[i]) : "";
      if (axes.empty()) {
        row += fmt::format("{} {}{}{}", molecule, c.type[i] + 1, charge, numbers(c.position[i]));
      } else {
        const double mass = c.mass.empty() ? 1 : c.mass[i], volume = volume_of_ellipsoid(axes[i]);
        const std::string density =
            fmt::format(" {} {}", volume > 0 ? 1 : 0, volume > 0 ? mass / volume : mass);
        // A hybrid has the columns of all styles first.
        if (plain_ellipsoids(c))
          row += fmt::format(" {}{}{}", c.type[i] + 1, density, numbers(c.position[i]));
        else
          row += fmt::format(" {}{}{}{}{}", c.type[i] + 1, numbers(c.position[i]), density,
                             molecule, charge);
      }
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
