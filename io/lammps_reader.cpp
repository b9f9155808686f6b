// Reads LAMMPS data files: one configuration.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "engine/core/error.h"
#include "io/formats.h"
#include "io/particle_order.h"
#include "io/text_lines.h"

namespace perrin::io {
namespace {

/// Where the columns of a row of "Atoms" are; -1: absent. id is always the first.
struct AtomStyle {
  int molecule, type, charge, position;
};

std::optional<AtomStyle> style_of_name(const std::string& name) {
  if (name == "atomic") return AtomStyle{-1, 1, -1, 2};
  if (name == "charge") return AtomStyle{-1, 1, 2, 3};
  if (name == "bond" || name == "angle" || name == "molecular") return AtomStyle{1, 2, -1, 3};
  if (name == "full") return AtomStyle{1, 2, 3, 4};
  return std::nullopt;
}

std::string comment_of(const std::string& line) {
  const std::size_t hash = line.find('#');
  if (hash == std::string::npos) return "";
  const std::size_t begin = line.find_first_not_of(" \t", hash + 1);
  if (begin == std::string::npos) return "";
  return line.substr(begin, std::min(line.find_first_of(" \t", begin), line.size()) - begin);
}

/// Says so where a bond, angle or dihedral comes twice.
template <std::size_t n>
class Twice {
 public:
  void operator()(const std::array<std::uint32_t, n>& members, const TextLines& text,
                  const char* what) {
    const auto [it, is_new] = lines_.emplace(members, text.number());
    if (!is_new) text.fail(fmt::format("this {} is there already, in line {}", what, it->second));
  }

 private:
  std::map<std::array<std::uint32_t, n>, std::int64_t> lines_;
};

class LammpsReader : public FrameReader {
 public:
  explicit LammpsReader(const std::string& path) : FrameReader(path), text_(path) {}
  std::int64_t frames() const override { return 1; }

 protected:
  Frame get(std::int64_t) override {
    text_.go({std::streampos(0), 0});
    text_.need("a LAMMPS data file");  // the first line says nothing
    c_ = {};
    atoms_.clear();
    sections_.clear();
    read_header();
    while (!section_.empty()) read_section();
    for (const auto& [name, key] :
         {std::pair("Atoms", "atoms"), std::pair("Bonds", "bonds"), std::pair("Angles", "angles"),
          std::pair("Dihedrals", "dihedrals"), std::pair("Impropers", "impropers")})
      if (count(key) > 0 && !sections_.contains(name))
        throw UserError(
            fmt::format("{}: no section \"{}\": expected {} {}", path_, name, count(key), key));
    finish();
    Frame frame;
    frame.configuration = std::move(c_);
    return frame;
  }

 private:
  std::int64_t count(const std::string& key) const {
    const auto it = counts_.find(key);
    return it == counts_.end() ? 0 : it->second;
  }

  static bool is_section(const std::vector<std::string_view>& words) {
    return !words.empty() && std::isupper(static_cast<unsigned char>(words[0][0])) != 0;
  }

  void enter_section() {
    section_.clear();
    for (const auto word : text_.words(true)) {
      if (!section_.empty()) section_ += ' ';
      section_ += word;
    }
    section_comment_ = comment_of(text_.line());
    if (!sections_.insert(section_).second)
      text_.fail(fmt::format("the section {} is there twice", quoted(section_)));
    const bool needs_atoms = section_ == "Velocities" || section_ == "Bonds" ||
                             section_ == "Angles" || section_ == "Dihedrals" ||
                             section_ == "Impropers";
    if (needs_atoms && !sections_.contains("Atoms"))
      text_.fail(fmt::format("the section {} stands before Atoms", section_));
  }

  void read_header() {
    counts_.clear();
    section_.clear();
    std::array<std::optional<std::array<double, 2>>, 3> bounds;
    while (text_.next()) {
      const auto words = text_.words(true);
      if (words.empty()) continue;
      if (is_section(words)) {
        enter_section();
        break;
      }
      read_header_line(words, bounds);
    }
    Box& box = c_.box;
    for (int axis = 0; axis < 3; ++axis) {
      const auto& bound = bounds[std::size_t(axis)];
      if (!bound)
        text_.fail(
            fmt::format("the header has no line \"{0}lo {0}hi\": expected the box", "xyz"[axis]));
      box.origin[axis] = (*bound)[0];
      box.length[axis] = (*bound)[1] - (*bound)[0];
    }
    const auto fill = [&](const char* kind, std::vector<std::string>& names) {
      const std::int64_t n = count(std::string(kind) + " types");
      if (std::uint64_t(n) > text_.file_size())
        text_.fail(fmt::format("{} {} types in a file of {} bytes", n, kind, text_.file_size()));
      for (std::int64_t k = 1; k <= n; ++k) names.push_back(std::to_string(k));
    };
    fill("atom", c_.types);
    fill("bond", c_.topology.bond_types);
    fill("angle", c_.topology.angle_types);
    fill("dihedral", c_.topology.dihedral_types);
    fill("improper", c_.topology.improper_types);
    masses_.assign(c_.types.size(), 0.0);
    has_masses_ = false;
  }

  void read_header_line(const std::vector<std::string_view>& words,
                        std::array<std::optional<std::array<double, 2>>, 3>& bounds) {
    const auto is = [&](std::initializer_list<const char*> names) {
      return words.size() == 2 * names.size() &&
             std::equal(names.begin(), names.end(), words.end() - std::ptrdiff_t(names.size()));
    };
    const char* names[3][2] = {{"xlo", "xhi"}, {"ylo", "yhi"}, {"zlo", "zhi"}};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (!is({names[axis][0], names[axis][1]})) continue;
      if (bounds[axis])
        text_.fail(fmt::format("\"{} {}\" is there twice", names[axis][0], names[axis][1]));
      bounds[axis] = {text_.real(words[0], "a box bound"), text_.real(words[1], "a box bound")};
      if (!((*bounds[axis])[1] > (*bounds[axis])[0]))
        text_.fail("the upper bound of the box must be above the lower one");
      return;
    }
    if (is({"xy", "xz", "yz"})) {
      c_.box.xy = text_.real(words[0], "a tilt factor");
      c_.box.xz = text_.real(words[1], "a tilt factor");
      c_.box.yz = text_.real(words[2], "a tilt factor");
      return;
    }
    std::string key;  // "100 atoms", "2 atom types"
    if (words.size() == 2) key = words[1];
    if (words.size() == 3 && words[2] == "types") key = std::string(words[1]) + " types";
    if (key.empty()) return;
    const std::int64_t n = text_.integer(words[0], "a count");
    if (n < 0) text_.fail(fmt::format("expected a count from 0, got {}", n));
    if (!counts_.emplace(key, n).second)
      text_.fail(fmt::format("the number of {} is there twice", quoted(key)));
  }

  /// Calls row(words) for the `n` rows of this section, and enters the next one.
  template <class F>
  void rows(std::int64_t n, F&& row) {
    const std::string name = section_;
    for (std::int64_t k = 0; k < n;) {
      text_.need(fmt::format("row {} of {} of {}", k + 1, n, name));
      const auto words = text_.words(true);
      if (words.empty()) continue;
      if (is_section(words) && k == 0 && n > 0 && !std::isdigit(words[0][0]))
        text_.fail(fmt::format("expected {} rows of {}, found the next section", n, name));
      if (is_section(words)) text_.fail(fmt::format("expected {} rows of {}, got {}", n, name, k));
      row(words);
      ++k;
    }
    section_.clear();
    while (text_.next()) {
      const auto words = text_.words(true);
      if (words.empty()) continue;
      if (!is_section(words))
        text_.fail(fmt::format("more rows of {} than the header says ({})", name, n));
      enter_section();
      return;
    }
  }

  void skip_section() {
    section_.clear();
    while (text_.next())
      if (is_section(text_.words(true))) return enter_section();
  }

  void need_columns(const std::vector<std::string_view>& words, std::size_t n) const {
    if (words.size() < n)
      text_.fail(fmt::format("expected {} columns in {}, got {}", n, section_, words.size()));
  }

  void first_time(std::vector<bool>& seen, std::size_t k, const std::string& what) const {
    if (seen[k]) text_.fail(fmt::format("{} is there twice in {}", what, section_));
    seen[k] = true;
  }

  /// A number from 1, or a label.
  std::uint32_t type(std::string_view word, const std::vector<std::string>& names,
                     const char* what) const {
    if (std::isdigit(static_cast<unsigned char>(word[0])) == 0)
      if (const auto it = std::ranges::find(names, word); it != names.end())
        return std::uint32_t(it - names.begin());
    const std::int64_t k = text_.integer(word, what);
    if (k < 1 || k > std::int64_t(names.size()))
      text_.fail(fmt::format("{} {}, expected 1 to {}", what, k, names.size()));
    return std::uint32_t(k - 1);
  }

  void read_labels(std::vector<std::string>& names) {
    std::vector<bool> seen(names.size(), false);
    rows(std::int64_t(names.size()), [&](const auto& words) {
      need_columns(words, 2);
      const std::int64_t k = text_.integer(words[0], "a type");
      if (k < 1 || k > std::int64_t(names.size()))
        text_.fail(fmt::format("type {}, expected 1 to {}", k, names.size()));
      first_time(seen, std::size_t(k - 1), fmt::format("type {}", k));
      names[std::size_t(k - 1)] = std::string(words[1]);
    });
  }

  void read_section() {
    Topology& t = c_.topology;
    if (section_ == "Atom Type Labels") return read_labels(c_.types);
    if (section_ == "Bond Type Labels") return read_labels(t.bond_types);
    if (section_ == "Angle Type Labels") return read_labels(t.angle_types);
    if (section_ == "Dihedral Type Labels") return read_labels(t.dihedral_types);
    if (section_ == "Improper Type Labels") return read_labels(t.improper_types);
    if (section_ == "Masses") return read_masses();
    if (section_ == "Atoms") return read_atoms();
    if (section_ == "Velocities") {
      std::vector<bool> seen(c_.position.size(), false);
      c_.velocity.assign(c_.position.size(), {});
      return rows(count("atoms"), [&](const auto& words) {
        need_columns(words, 4);
        const std::size_t i = atom(words[0]);
        first_time(seen, i, fmt::format("particle {}", words[0]));
        for (int axis = 0; axis < 3; ++axis)
          c_.velocity[i][axis] = text_.real(words[std::size_t(axis) + 1], "a velocity");
      });
    }
    if (section_ == "Bonds") {
      Twice<3> twice;
      return rows(count("bonds"), [&](const auto& words) {
        need_columns(words, 4);
        t.bonds.push_back(
            {atom(words[2]), atom(words[3]), type(words[1], t.bond_types, "bond type")});
        const auto& bond = t.bonds.back();
        twice({std::min(bond.a, bond.b), std::max(bond.a, bond.b), bond.type}, text_, "bond");
      });
    }
    if (section_ == "Angles") {
      Twice<4> twice;
      return rows(count("angles"), [&](const auto& words) {
        need_columns(words, 5);
        t.angles.push_back({atom(words[2]), atom(words[3]), atom(words[4]),
                            type(words[1], t.angle_types, "angle type")});
        const auto& angle = t.angles.back();
        twice({std::min(angle.a, angle.c), angle.b, std::max(angle.a, angle.c), angle.type}, text_,
              "angle");
      });
    }
    if (section_ == "Dihedrals") return read_torsions("dihedral", t.dihedral_types, t.dihedrals);
    if (section_ == "Impropers") return read_torsions("improper", t.improper_types, t.impropers);
    skip_section();
  }

  void read_torsions(const std::string& what, const std::vector<std::string>& types,
                     std::vector<Topology::Dihedral>& list) {
    Twice<5> twice;
    const std::string type_of_it = what + " type";
    rows(count(what + "s"), [&](const auto& words) {
      need_columns(words, 6);
      list.push_back({atom(words[2]), atom(words[3]), atom(words[4]), atom(words[5]),
                      type(words[1], types, type_of_it.c_str())});
      Topology::Dihedral g = list.back();
      if (g.a > g.d) std::swap(g.a, g.d), std::swap(g.b, g.c);
      twice({g.a, g.b, g.c, g.d, g.type}, text_, what.c_str());
    });
  }

  std::uint32_t atom(std::string_view word) const {
    const std::int64_t id = text_.integer(word, "a particle's id");
    const auto it = atoms_.find(id);
    if (it == atoms_.end())
      text_.fail(fmt::format("{} names particle {}, which is not in Atoms", section_, id));
    return it->second;
  }

  void read_masses() {
    has_masses_ = true;
    std::vector<bool> seen(c_.types.size(), false);
    std::set<std::string> names(c_.types.begin(), c_.types.end());
    rows(std::int64_t(c_.types.size()), [&](const auto& words) {
      need_columns(words, 2);
      const std::uint32_t k = type(words[0], c_.types, "type");
      first_time(seen, k, fmt::format("type {}", words[0]));
      masses_[k] = text_.real(words[1], "a mass");
      // "1 1.0 # A": the usual way to name a type.
      const std::string name = comment_of(text_.line());
      if (!name.empty() && names.insert(name).second) c_.types[k] = name;
    });
  }

  AtomStyle style_of_row(std::size_t columns) const {
    if (!section_comment_.empty()) {
      if (const auto style = style_of_name(section_comment_)) return *style;
      text_.fail(fmt::format(
          "atom style {} is not known: expected atomic, charge, bond, angle, molecular or full",
          quoted(section_comment_)));
    }
    if (columns == 5 || columns == 8) return *style_of_name("atomic");
    if (columns == 7 || columns == 10) return *style_of_name("full");
    text_.fail(
        fmt::format("{} columns in Atoms fit several styles: expected \"Atoms # charge\", "
                    "\"Atoms # molecular\" or the like",
                    columns));
  }

  void read_atoms() {
    std::optional<AtomStyle> style;
    std::size_t columns = 0;
    const std::int64_t n = count("atoms");
    rows(n, [&](const auto& words) {
      if (!style) {
        style = style_of_row(words.size());
        columns = words.size();
      }
      const std::size_t plain = std::size_t(style->position) + 3;
      if (words.size() != columns || (columns != plain && columns != plain + 3))
        text_.fail(fmt::format("expected {} columns (or {} with images, on all rows), got {}",
                               plain, plain + 3, words.size()));
      const std::int64_t id = text_.integer(words[0], "a particle's id");
      if (!atoms_.emplace(id, std::uint32_t(c_.position.size())).second)
        text_.fail(fmt::format("particle {} is there twice", id));
      Vec3<double> r;
      Image image;
      for (int axis = 0; axis < 3; ++axis) {
        r[axis] =
            text_.real(words[std::size_t(style->position) + std::size_t(axis)], "a coordinate");
        if (columns > plain)
          image[axis] =
              text_.whole<std::int32_t>(words[plain + std::size_t(axis)], "an image flag");
      }
      c_.position.push_back(r);
      if (columns > plain) c_.image.push_back(image);
      c_.type.push_back(type(words[std::size_t(style->type)], c_.types, "type"));
      if (style->charge > 0)
        c_.charge.push_back(text_.real(words[std::size_t(style->charge)], "a charge"));
      if (style->molecule > 0)
        c_.topology.molecule.push_back(
            text_.whole<std::uint32_t>(words[std::size_t(style->molecule)], "a molecule's id"));
    });
  }

  /// Particles in the order of their ids, masses of each.
  void finish() {
    const std::size_t n = c_.position.size();
    std::vector<std::uint32_t> order, place(n);
    for (const auto& [id, row] : atoms_) {
      place[row] = std::uint32_t(order.size());
      order.push_back(row);
    }
    reorder_particles(c_, order);
    for (auto& bond : c_.topology.bonds) bond.a = place[bond.a], bond.b = place[bond.b];
    for (auto& g : c_.topology.angles) g.a = place[g.a], g.b = place[g.b], g.c = place[g.c];
    for (auto* list : {&c_.topology.dihedrals, &c_.topology.impropers})
      for (auto& g : *list) g.a = place[g.a], g.b = place[g.b], g.c = place[g.c], g.d = place[g.d];
    if (has_masses_)
      for (const std::uint32_t type : c_.type) c_.mass.push_back(masses_[type]);
  }

  TextLines text_;
  Configuration c_;
  std::map<std::string, std::int64_t> counts_;
  std::set<std::string> sections_;               // those seen so far
  std::map<std::int64_t, std::uint32_t> atoms_;  // id → row
  std::vector<double> masses_;
  bool has_masses_ = false;
  std::string section_, section_comment_;
};

std::vector<std::string> left_out(const Frame& frame) {
  const Configuration& c = frame.configuration;
  const Topology& t = c.topology;
  std::vector<std::string> list;
  if (c.box.dimension == 2)
    list.push_back("two dimensions are left out: say \"dimension 2\" in the input of LAMMPS");
  std::string boundary;
  for (const bool periodic : c.box.periodic) boundary += periodic ? " p" : " f";
  if (boundary != " p p p")
    list.push_back("axes that are not periodic are left out: say \"boundary" + boundary +
                   "\" in the input of LAMMPS");
  if (!c.diameter.empty()) list.push_back("diameters are left out");
  if (!t.bonds.empty() || !t.angles.empty() || !t.dihedrals.empty() || !t.impropers.empty())
    list.push_back("names of types of bonds, angles and dihedrals are left out");
  return list;
}

}  // namespace

FileFormat lammps_format() {
  return {"lammps",
          {".data", ".lmp", ".lammps"},
          true,
          false,
          [](std::string_view head) { return head.find(" atoms") != head.npos; },
          [](const std::string& path, const OpenOptions&) -> std::unique_ptr<FrameReader> {
            return std::make_unique<LammpsReader>(path);
          },
          write_lammps_data,
          left_out};
}

}  // namespace perrin::io
