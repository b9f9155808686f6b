// The parts whose molecules keep their shape: "file", "molecules", "spheres", "rods"; and "source",
// a whole configuration.
#pragma once

#include <nlohmann/json.hpp>

#include "io/parts/rigid.h"
#include "io/sources.h"

namespace perrin::parts {

/// "file": what the source "file" reads, but for what a molecule has not.
struct FilePartSettings : RigidSettings {
  FileSettings file;
};
template <class D>
void describe(D& d, FilePartSettings& s) {
  d.example("{\"path\": \"trajectory.h5\", \"number\": 1}");
  FileSettings& f = s.file;
  d.required("path", f.path, Any{}, "file, relative to the job file");
  describe(d, static_cast<RigidSettings&>(s));
  d.optional("format", f.format, OneOf(io::format_choices()),
             "auto: by the extension, otherwise by the contents");
  d.optional("frame", f.frame, Any{}, "frame number from 0; negative: from the end");
  d.optional("group", f.group, Any{},
             "H5MD: a group of particles under /particles, or a list of groups");
  d.optional("types", f.types, Any{}, "renames types: new name of each name in the file");
  d.optional("masses", f.masses, Positive{},
             "mass of each type (by its name in the file); overrides the file");
  d.optional("atom_style", f.atom_style, Any{},
             "LAMMPS data: atom style of the columns of Atoms; overrides the file");
  d.optional("dimension", f.dimension, Between{2, 3}, "dimension, 2 or 3; overrides the file");
  d.optional("units", f.units,
             OneOf{"file", "job", "lj", "real", "metal", "si", "cgs", "electron", "micro", "nano"},
             "as in the system \"file\"");
  d.optional("box", f.box, Any{},
             "Lx, Ly, Lz of the file, or these and the tilts xy, xz, yz; molecules are made whole "
             "across its faces (plain XYZ has no box)");
}

struct InlineParticle {
  std::string type = "A";
  Vec3<double> position;
  double mass = 1, charge = 0;
};
template <class D>
void describe(D& d, InlineParticle& s) {
  d.required("type", s.type, Any{}, "particle type");
  d.required("position", s.position, Any{}, "position in the molecule");
  d.optional("mass", s.mass, Positive{}, "mass");
  d.optional("charge", s.charge, Any{}, "charge");
}

/// "molecules": a molecule that the job describes.
struct MoleculesSettings : RigidSettings {
  using Lists = std::map<std::string, std::vector<std::vector<std::uint32_t>>>;
  std::vector<InlineParticle> particles;
  Lists bonds, angles, dihedrals, impropers;
};
template <class D>
void describe(D& d, MoleculesSettings& s) {
  d.example(
      "{\"number\": 10, \"particles\": [{\"type\": \"A\", \"position\": [0, 0, 0]}, "
      "{\"type\": \"B\", \"position\": [0.9, 0, 0]}], \"bonds\": {\"bond\": [[0, 1]]}}");
  d.required("particles", s.particles, Any{}, "particles of the molecule");
  describe(d, static_cast<RigidSettings&>(s));
  d.optional("bonds", s.bonds, Any{},
             "by bond type: pairs of particles, numbered from 0 as in the list");
  d.optional("angles", s.angles, Any{}, "by angle type: three particles, the second the vertex");
  d.optional("dihedrals", s.dihedrals, Any{}, "by dihedral type: four particles");
  d.optional("impropers", s.impropers, Any{}, "by improper type: four particles");
}

struct SpheresSettings : RigidSettings {
  double radius = 1;
  std::optional<std::int64_t> beads;
  std::optional<double> spacing;
  std::string bead = "A", core, bond_type = "bond";
  bool filled = false;
};
template <class D>
void describe(D& d, SpheresSettings& s) {
  d.example("{\"number\": 2, \"radius\": 2, \"spacing\": 1, \"core\": \"C\"}");
  d.required("radius", s.radius, Positive{}, "radius of the surface on which the beads are");
  describe(d, static_cast<RigidSettings&>(s));
  d.optional("beads", s.beads, Positive{}, "beads on the surface");
  d.optional("spacing", s.spacing, Positive{},
             "about the distance of neighbouring beads, instead of beads");
  d.optional("bead", s.bead, Any{}, "type of the beads");
  d.optional("filled", s.filled, Any{}, "shells within the surface as well, down to the centre");
  d.optional("core", s.core, Any{},
             "type of a bead at the centre, to which those on the surface are bonded; empty: none");
  d.optional("bond_type", s.bond_type, Any{}, "type of these bonds; as long as the radius");
}

struct RodsSettings : RigidSettings {
  Json pattern;
  double spacing = 0.97;
  std::string bond_type = "bond", angle_type;
};
template <class D>
void describe(D& d, RodsSettings& s) {
  d.example("{\"number\": 10, \"pattern\": \"A8\"}");
  d.required("pattern", s.pattern, Any{}, "blocks of types along a rod: \"A3B7\"");
  describe(d, static_cast<RigidSettings&>(s));
  d.optional("spacing", s.spacing, Positive{}, "distance of neighbouring beads");
  d.optional("bond_type", s.bond_type, Any{}, "bond type along a rod; empty: no bonds");
  d.optional("angle_type", s.angle_type, Any{}, "angle type along a rod; empty: no angles");
}

struct SourcePartSettings {
  Part<Source> system;
};
template <class D>
void describe(D& d, SourcePartSettings& s) {
  d.example(
      "{\"system\": {\"type\": \"random\", \"particles\": {\"A\": 100}, \"box\": [8, 8, 8]}}");
  d.required("system", s.system, Any{},
             "any system, a plug-in's too: its particles stay where it puts them, its box is left "
             "out");
}

std::unique_ptr<StartPart> make_file_part(const FilePartSettings& settings, Setup& setup);
std::unique_ptr<StartPart> make_molecules(const MoleculesSettings& settings, Setup& setup);
std::unique_ptr<StartPart> make_spheres(const SpheresSettings& settings, Setup& setup);
std::unique_ptr<StartPart> make_rods(const RodsSettings& settings, Setup& setup);
std::unique_ptr<StartPart> make_source_part(const SourcePartSettings& settings, Setup& setup);

}  // namespace perrin::parts
