// Reads LAMMPS data files: one configuration.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <numbers>
#include <optional>
#include <set>
#include <utility>

#include "engine/base/error.h"
#include "io/file_attributes.h"
#include "io/file_orientations.h"
#include "io/formats.h"
#include "io/lammps_header.h"
#include "io/lammps_molecules.h"
#include "io/lammps_styles.h"
#include "io/lammps_units.h"
#include "io/particle_ids.h"
#include "io/particle_order.h"
#include "io/text_lines.h"

namespace perrin::io {
namespace {

/// What stands behind the '#' of a line, without spaces around it.
std::string comment_of(const std::string& line) {
  const std::size_t hash = line.find('#');
  if (hash == std::string::npos) return "";
  const std::size_t begin = line.find_first_not_of(" \t", hash + 1);
  if (begin == std::string::npos) return "";
  return line.substr(begin, line.find_last_not_of(" \t") + 1 - begin);
}

/// Counts bonds, angles or dihedrals that come twice.
template <std::size_t n>
class Repeats {
 public:
  void operator()(const std::array<std::uint32_t, n>& members, std::int64_t line) {
    const auto [it, is_new] = lines_.emplace(members, line);
    if (is_new) return;
    if (count_++ == 0) first_ = {it->second, line};
  }
  void say(const char* what, std::vector<std::string>& warnings) const {
    if (count_ > 0)
      warnings.push_back(
          fmt::format("{} of the {}s {} repeated (the first in line {}, as in line {}): every row "
                      "counts, as in LAMMPS",
                      count_, what, count_ == 1 ? "is" : "are", first_.second, first_.first));
  }

 private:
  std::map<std::array<std::uint32_t, n>, std::int64_t> lines_;
  std::int64_t count_ = 0;
  std::pair<std::int64_t, std::int64_t> first_;
};

class LammpsReader : public FrameReader {
 public:
  LammpsReader(const std::string& path, const OpenOptions& options)
      : FrameReader(path), text_(path), wanted_style_(options.atom_style) {}
  std::int64_t frames() const override { return 1; }

 protected:
  Frame get(std::int64_t) override {
    text_.go({std::streampos(0), 0});
    c_ = {};
    atoms_.clear(), sections_.clear(), unread_.clear(), density_.clear();
    ellipsoid_.clear(), spin_.clear();
    section_.clear(), named_types_ = has_masses_ = false;
    head_ = read_lammps_header(text_, path_);
    take_header();
    if (may_be_section(text_.words(true))) enter_section();
    while (!section_.empty()) read_section();
    for (const auto& [name, key] :
         {std::pair("Atoms", "atoms"), std::pair("Bonds", "bonds"), std::pair("Angles", "angles"),
          std::pair("Dihedrals", "dihedrals"), std::pair("Impropers", "impropers")})
      if (head_.count(key) > 0 && !sections_.contains(name))
        throw UserError(fmt::format("{}: no section \"{}\": expected {} {}", path_, name,
                                    head_.count(key), key));
    finish();
    Frame frame;
    const std::string style = units_in_title(head_.title, path_ + ":1");
    if (!style.empty()) frame.units = lammps_units(style);
    frame.has_step = step_in_title();
    frame.repeats = true;
    frame.may_be_flat = true;
    frame.configuration = std::move(c_);
    return frame;
  }

 private:
  void enter_section() {
    section_ = fmt::format("{}", fmt::join(text_.words(true), " "));
    section_comment_ = comment_of(text_.line());
    if (!sections_.insert(section_).second)
      text_.fail(fmt::format("the section {} occurs twice", in_quotes(section_)));
    const bool needs_atoms = section_ == "Velocities" || section_ == "Bonds" ||
                             section_ == "Angles" || section_ == "Dihedrals" ||
                             section_ == "Impropers" || section_ == "Ellipsoids";
    if (needs_atoms && !sections_.contains("Atoms"))
      text_.fail(fmt::format("the section {} precedes Atoms", section_));
  }

  void take_header() {
    c_.box = head_.box.box;
    if (head_.box.turned)
      c_.warnings.push_back(
          "the box is rotated, with coordinates and velocities: the first edge to the x axis, the "
          "second into the xy plane, as in LAMMPS");
    if (!head_.unknown.empty())
      c_.warnings.push_back(fmt::format("the header's {} {} not read",
                                        fmt::join(head_.unknown, ", "),
                                        head_.unknown.size() == 1 ? "is" : "are"));
    const auto fill = [&](const char* kind, std::vector<std::string>& names) {
      const std::int64_t n = head_.count(std::string(kind) + " types");
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
  }

  /// "…, timestep = 500, units = real", as write_data has it, or as Perrin's own files.
  bool step_in_title() {
    const bool own = head_.title.starts_with(lammps_title);
    const std::string before = own ? lammps_title : "timestep = ";
    const std::size_t at = head_.title.find(before);
    if (at == std::string::npos) return false;
    const std::size_t begin = at + before.size();
    const std::size_t end =
        std::min(head_.title.find_first_not_of("0123456789", begin), head_.title.size());
    if (end == begin || end - begin > 18) return false;
    c_.step = std::stoll(head_.title.substr(begin, end - begin));
    return true;
  }

  /// Calls row(words) for the `n` rows of this section, and enters the next one.
  template <class F>
  void rows(std::int64_t n, F&& row) {
    const std::string name = section_;
    for (std::int64_t k = 0; k < n;) {
      text_.need(fmt::format("row {} of {} of {}", k + 1, n, name));
      const auto words = text_.words(true);
      if (words.empty()) continue;
      if (is_lammps_section(words))
        text_.fail(fmt::format("expected {} rows of {}, found {} and the section {}", n, name, k,
                               text_.line()));
      row(words);
      ++k;
    }
    section_.clear();
    while (text_.next()) {
      const auto words = text_.words(true);
      if (words.empty()) continue;
      if (!may_be_section(words))
        text_.fail(fmt::format("more rows of {} than the header gives ({})", name, n));
      enter_section();
      return;
    }
  }

  /// Up to the next section: a name between blank lines, since rows may begin with labels.
  void skip_section() {
    unread_.push_back(section_);
    section_.clear();
    bool blank = false;
    while (text_.next()) {
      const auto words = text_.words(true);
      const bool known = is_lammps_section(words);
      if (known || (blank && may_be_section(words) && before_blank())) return enter_section();
      blank = words.empty();
    }
  }

  /// Whether the next line is blank; stays at this one.
  bool before_blank() {
    const auto here = text_.place();
    const std::string line = text_.line();
    const bool blank = !text_.next() || text_.words(true).empty();
    text_.go(here, line);
    return blank;
  }

  void need_columns(const std::vector<std::string_view>& words, std::size_t n) const {
    if (words.size() < n)
      text_.fail(fmt::format("expected {} columns in {}, got {}", n, section_, words.size()));
  }

  void first_time(std::vector<bool>& seen, std::size_t k, const std::string& what) const {
    if (seen[k]) text_.fail(fmt::format("{} occurs twice in {}", what, section_));
    seen[k] = true;
  }

  /// A number from 1, or a label.
  std::uint32_t type(std::string_view word, const std::vector<std::string>& names,
                     const char* what) const {
    if (std::isdigit(static_cast<unsigned char>(word[0])) == 0 && word[0] != '-') {
      if (const auto it = std::ranges::find(names, word); it != names.end())
        return std::uint32_t(it - names.begin());
      text_.fail(fmt::format("{} {} is neither a number nor one of the labels before ({})", what,
                             in_quotes(word), fmt::join(names, ", ")));
    }
    const std::int64_t k = text_.integer(word, what);
    if (k < 1 || k > std::int64_t(names.size()))
      text_.fail(fmt::format("{} {}, expected 1 to {}", what, k, names.size()));
    return std::uint32_t(k - 1);
  }

  void read_labels(std::vector<std::string>& names) {
    std::vector<bool> seen(names.size(), false);
    std::set<std::string> labels;
    rows(std::int64_t(names.size()), [&](const auto& words) {
      need_columns(words, 2);
      const std::int64_t k = text_.integer(words[0], "a type");
      if (k < 1 || k > std::int64_t(names.size()))
        text_.fail(fmt::format("type {}, expected 1 to {}", k, names.size()));
      first_time(seen, std::size_t(k - 1), fmt::format("type {}", k));
      names[std::size_t(k - 1)] = std::string(words[1]);
      if (!labels.insert(names[std::size_t(k - 1)]).second)
        text_.fail(fmt::format("the label {} occurs twice", in_quotes(words[1])));
    });
  }

  void read_section() {
    Topology& t = c_.topology;
    if (section_ == "Atom Type Labels") {
      named_types_ = true;
      return read_labels(c_.types);
    }
    if (section_ == "Bond Type Labels") return read_labels(t.bond_types);
    if (section_ == "Angle Type Labels") return read_labels(t.angle_types);
    if (section_ == "Dihedral Type Labels") return read_labels(t.dihedral_types);
    if (section_ == "Improper Type Labels") return read_labels(t.improper_types);
    if (section_ == "Masses") return read_masses();
    if (section_ == "Atoms") return read_atoms();
    if (section_ == "Velocities") return read_velocities();
    if (section_ == "Ellipsoids" && !ellipsoid_.empty()) return read_ellipsoids();
    if (section_ == "Bonds") {
      Repeats<3> repeats;
      rows(head_.count("bonds"), [&](const auto& words) {
        need_columns(words, 4);
        t.bonds.push_back(
            {atom(words[2]), atom(words[3]), type(words[1], t.bond_types, "bond type")});
        const auto& bond = t.bonds.back();
        repeats({std::min(bond.a, bond.b), std::max(bond.a, bond.b), bond.type}, text_.number());
      });
      return repeats.say("bond", c_.warnings);
    }
    if (section_ == "Angles") {
      Repeats<4> repeats;
      rows(head_.count("angles"), [&](const auto& words) {
        need_columns(words, 5);
        t.angles.push_back({atom(words[2]), atom(words[3]), atom(words[4]),
                            type(words[1], t.angle_types, "angle type")});
        const auto& angle = t.angles.back();
        repeats({std::min(angle.a, angle.c), angle.b, std::max(angle.a, angle.c), angle.type},
                text_.number());
      });
      return repeats.say("angle", c_.warnings);
    }
    if (section_ == "Dihedrals") return read_torsions("dihedral", t.dihedral_types, t.dihedrals);
    if (section_ == "Impropers") return read_torsions("improper", t.improper_types, t.impropers);
    skip_section();
  }

  void read_torsions(const char* what, const std::vector<std::string>& types,
                     std::vector<Topology::Dihedral>& list) {
    Repeats<5> repeats;
    const std::string kind = std::string(what) + " type";
    rows(head_.count(std::string(what) + "s"), [&](const auto& words) {
      need_columns(words, 6);
      list.push_back({atom(words[2]), atom(words[3]), atom(words[4]), atom(words[5]),
                      type(words[1], types, kind.c_str())});
      Topology::Dihedral g = list.back();
      if (g.a > g.d) std::swap(g.a, g.d), std::swap(g.b, g.c);
      repeats({g.a, g.b, g.c, g.d, g.type}, text_.number());
    });
    repeats.say(what, c_.warnings);
  }

  std::uint32_t atom(std::string_view word) const {
    const std::int64_t id = text_.integer(word, "a particle's id");
    const auto it = atoms_.find(id);
    if (it == atoms_.end())
      text_.fail(fmt::format("{} names particle {}, which is not in Atoms", section_, id));
    return it->second;
  }

  /// "1 1.0 # A" is the usual way to name a type; a sentence behind the mass is no name.
  void read_masses() {
    has_masses_ = true;
    std::vector<bool> seen(c_.types.size(), false);
    std::vector<std::string> names(c_.types.size());
    rows(std::int64_t(c_.types.size()), [&](const auto& words) {
      need_columns(words, 2);
      const std::uint32_t k = type(words[0], c_.types, "type");
      first_time(seen, k, fmt::format("type {}", words[0]));
      masses_[k] = text_.real(words[1], "a mass");
      const std::string name = comment_of(text_.line());
      if (name.find_first_of(" \t#") == std::string::npos) names[k] = name;
    });
    if (named_types_) return;
    std::vector<std::string> twice;
    for (std::size_t k = 0; k < names.size(); ++k) {
      const auto same =
          std::ranges::count(names, names[k]) + std::ranges::count(c_.types, names[k]);
      if (names[k].empty() || names[k] == c_.types[k]) continue;
      if (same == 1)
        c_.types[k] = names[k];
      else if (std::ranges::count(twice, names[k]) == 0)
        twice.push_back(names[k]);
    }
    if (!twice.empty())
      c_.warnings.push_back(
          fmt::format("several types have the name {} in the comments of Masses: their numbers are "
                      "used as names",
                      fmt::join(twice, ", ")));
  }

  void read_velocities() {
    std::vector<bool> seen(c_.position.size(), false);
    c_.velocity.assign(c_.position.size(), {});
    // Of atom_style ellipsoid; other styles have other quantities there.
    const bool turning = !ellipsoid_.empty() && c_.diameter.empty();
    bool more = false;
    rows(head_.count("atoms"), [&](const auto& words) {
      need_columns(words, 4);
      const std::size_t i = atom(words[0]);
      first_time(seen, i, fmt::format("particle {}", words[0]));
      for (int axis = 0; axis < 3; ++axis)
        c_.velocity[i][axis] = text_.real(words[std::size_t(axis) + 1], "a velocity");
      if (head_.box.turned) c_.velocity[i] = head_.box(c_.velocity[i]);
      if (turning && words.size() == 7) {
        spin_.resize(c_.position.size());
        for (int axis = 0; axis < 3; ++axis)
          spin_[i][axis] = text_.real(words[std::size_t(axis) + 4], "an angular momentum");
        if (head_.box.turned) spin_[i] = head_.box(spin_[i]);
        return;
      }
      for (std::size_t k = 4; k < words.size(); ++k)
        more = text_.real(words[k], "a number") != 0 || more;
    });
    if (more)
      c_.warnings.push_back(
          "the columns of Velocities after the third (angular velocities or momenta) are not read");
  }

  /// Shapes are the whole axes. As in LAMMPS they give the mass, by the density, and the moments of
  /// inertia.
  void read_ellipsoids() {
    std::vector<bool> seen(c_.position.size(), false);
    rows(head_.count("ellipsoids"), [&](const auto& words) {
      need_columns(words, 8);
      if (words.size() > 8)
        text_.fail(
            fmt::format("{} columns in Ellipsoids, expected 8 (id, shapex, shapey, shapez, "
                        "quatw, quati, quatj, quatk): superellipsoids are not read",
                        words.size()));
      const std::size_t i = atom(words[0]);
      first_time(seen, i, fmt::format("particle {}", words[0]));
      if (!ellipsoid_[i])
        text_.fail(fmt::format("particle {} is no ellipsoid in Atoms (ellipsoidflag 0)", words[0]));
      Vec3<double> axes;
      for (int axis = 0; axis < 3; ++axis) {
        axes[axis] = 0.5 * text_.real(words[std::size_t(axis) + 1], "a shape");
        if (!(axes[axis] > 0))
          text_.fail(fmt::format("the shape {}, expected a positive number",
                                 words[std::size_t(axis) + 1]));
      }
      std::array<double, 4> q{};
      for (std::size_t k = 0; k < 4; ++k) q[k] = text_.real(words[k + 4], "a quaternion");
      const double length = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
      if (!(length > 1e-12 && length < 1e12))
        text_.fail(fmt::format("the quaternion ({}, {}, {}, {}), expected one of length 1",
                               words[4], words[5], words[6], words[7]));
      c_.orientation[i] = normalized(Quaternion{q[1], q[2], q[3], q[0]});
      if (head_.box.turned) c_.orientation[i] = head_.box(c_.orientation[i]);
      density_[i] *= volume_of_ellipsoid(axes);  // the mass
      c_.moment_of_inertia[i] = moments_of_ellipsoid(density_[i], axes);
    });
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (ellipsoid_[i] && !seen[i])
        throw UserError(
            fmt::format("{}: particle {} is an ellipsoid in Atoms (ellipsoidflag 1), but "
                        "is not in Ellipsoids",
                        path_, id_of(i)));
  }
  std::int64_t id_of(std::size_t row) const {
    return std::ranges::find_if(atoms_, [&](const auto& a) { return a.second == row; })->first;
  }

  /// That of the user, of the comment behind "Atoms", of the first line, or the only one that fits.
  AtomStyle find_style() {
    const auto readable = [&](AtomStyle style, const std::string& where) {
      if (style.name == "hybrid")  // as write_data has it
        text_.fail(fmt::format(
            "{}: the styles of hybrid are missing: name them (\"hybrid sphere charge\") after "
            "\"Atoms #\", by \"atom_style\" of the system, or by --atom-style of perrin convert",
            where));
      if (!style.readable)
        text_.fail(fmt::format("the atom style {} ({}) is not read: expected {}",
                               in_quotes(style.name), where, readable_styles()));
      return style;
    };
    AtomStyle named = named_style(section_comment_);
    std::string where = "after \"Atoms\"";
    if (named.name.empty())
      for (const char* key : {"atom_style", "atom style"})
        if (const std::size_t at = head_.title.find(key); at != std::string::npos) {
          named = named_style(std::string_view(head_.title).substr(at + std::string(key).size()));
          where = "in line 1";
        }
    if (!wanted_style_.empty()) {
      const AtomStyle wanted = named_style(wanted_style_);
      if (wanted.name.empty())
        throw UserError(fmt::format("{}: unknown atom style {} (\"atom_style\"): expected {}",
                                    path_, in_quotes(wanted_style_), readable_styles()));
      if (!named.name.empty() && named.columns != wanted.columns)
        c_.warnings.push_back(
            fmt::format("the file names the atom style {} ({}), which \"atom_style\" overrides: "
                        "its columns are read as those of {}",
                        in_quotes(named.name), where, in_quotes(wanted.name)));
      return readable(wanted, "\"atom_style\"");
    }
    if (!named.name.empty()) {
      if (head_.count("bonds") > 0 && !named.bonds)
        text_.fail(
            fmt::format("particles of the atom style {} ({}) have no bonds in LAMMPS, but the "
                        "header counts {}: name the style of the columns by \"atom_style\" of the "
                        "system or --atom-style of perrin convert",
                        in_quotes(named.name), where, head_.count("bonds")));
      return readable(std::move(named), where);
    }
    return guess_style();
  }

  /// From the rows that follow; stays at this line.
  AtomStyle guess_style() {
    const auto here = text_.place();
    const std::string line = text_.line();
    std::optional<StyleGuess> guess;
    std::size_t columns = 0;
    for (std::int64_t k = 0, n = head_.count("atoms"); k < n && text_.next();) {
      const auto words = text_.words(true);
      if (words.empty()) continue;
      if (!guess)
        columns = words.size(), guess.emplace(columns, head_.count("bonds") > 0, c_.types);
      if (words.size() != columns) break;  // read_atoms() comes to it
      guess->row(words);
      ++k;
    }
    text_.go(here, line);
    if (!guess) return named_style("atomic");  // no rows: rows() says so
    constexpr const char* remedy =
        "name it after \"Atoms #\" in the file, by \"atom_style\" of the system, or by "
        "--atom-style of perrin convert";
    const auto& fitting = guess->fitting();
    if (fitting.empty())
      text_.fail(fmt::format("the {} columns of Atoms fit no single atom style of LAMMPS{}: {}",
                             columns, head_.count("bonds") > 0 ? " that has bonds" : "", remedy));
    if (fitting.size() > 1) {
      std::vector<std::string> names;
      for (const AtomStyle& style : fitting) names.push_back(style.name);
      text_.fail(fmt::format("the {} columns of Atoms fit several atom styles ({}): {}", columns,
                             fmt::join(names, "; "), remedy));
    }
    const AtomStyle& only = fitting.front();
    if (!only.readable)
      text_.fail(
          fmt::format("the {} columns of Atoms fit only the atom style {}, which is not read: "
                      "expected {}; if it is another, {}",
                      columns, in_quotes(only.name), readable_styles(), remedy));
    if (columns != 5)
      c_.warnings.push_back(fmt::format(
          "Atoms names no style: its columns are read as those of {} ({}{}), the only style of "
          "LAMMPS that they fit; \"atom_style\" (--atom-style) names another",
          in_quotes(only.name), only.list(), columns > only.columns.size() ? ", and images" : ""));
    return only;
  }

  void read_atoms() {
    const AtomStyle style = find_style();
    std::vector<std::string> unread;
    for (const std::string& column : style.columns)
      if (std::ranges::count(std::array<const char*, 10>{"id", "molecule", "type", "q", "diameter",
                                                         "density", "ellipsoidflag", "x", "y", "z"},
                             column) == 0)
        unread.push_back(column);
    if (!unread.empty())
      c_.warnings.push_back(fmt::format("columns of the atom style {} are not read: {}",
                                        in_quotes(style.name), fmt::join(unread, ", ")));
    const std::size_t plain = style.columns.size();
    const int x = style.at("x"), type_at = style.at("type"), charge = style.at("q");
    const int molecule = style.at("molecule"), diameter = style.at("diameter");
    const int density = style.at("density"), ellipsoid = style.at("ellipsoidflag");
    std::size_t columns = 0;
    rows(head_.count("atoms"), [&](const auto& words) {
      if (columns == 0) columns = words.size();
      if (words.size() != columns || (columns != plain && columns != plain + 3))
        text_.fail(fmt::format(
            "expected {} columns of the atom style {} ({}), or {} with images, on all rows; got {}",
            plain, in_quotes(style.name), style.list(), plain + 3, words.size()));
      const auto word = [&](int at) { return words[std::size_t(at)]; };
      const std::int64_t id = text_.integer(words[0], "a particle's id");
      if (!atoms_.emplace(id, std::uint32_t(c_.position.size())).second)
        text_.fail(fmt::format("particle {} occurs twice", id));
      Vec3<double> r;
      Image image;
      for (int axis = 0; axis < 3; ++axis) {
        r[axis] = text_.real(word(x + axis), "a coordinate");
        if (columns > plain)
          image[axis] = text_.whole<std::int32_t>(word(int(plain) + axis), "an image flag");
      }
      if (head_.box.turned) r = head_.box(r - c_.box.origin) + c_.box.origin;
      c_.position.push_back(r);
      if (columns > plain) c_.image.push_back(image);
      c_.type.push_back(type(word(type_at), c_.types, "type"));
      if (charge > 0) c_.charge.push_back(text_.real(word(charge), "a charge"));
      if (molecule > 0)
        c_.topology.molecule.push_back(
            text_.whole<std::uint32_t>(word(molecule), "a molecule's id"));
      if (diameter > 0) c_.diameter.push_back(text_.real(word(diameter), "a diameter"));
      if (density > 0) density_.push_back(text_.real(word(density), "a density"));
      if (ellipsoid > 0) ellipsoid_.push_back(flag(word(ellipsoid)));
    });
    if (std::ranges::count(ellipsoid_, 1) == 0) return ellipsoid_.clear();
    c_.orientation.resize(c_.position.size());
    c_.moment_of_inertia.resize(c_.position.size());
  }
  std::uint8_t flag(std::string_view word) const {
    if (word != "0" && word != "1")
      text_.fail(fmt::format("expected an ellipsoidflag of 0 or 1, got {}", in_quotes(word)));
    return word == "1";
  }

  /// Particles in the order of their ids, masses of each.
  void finish() {
    const std::size_t n = c_.position.size();
    if (!ellipsoid_.empty() && !sections_.contains("Ellipsoids"))
      throw UserError(fmt::format(
          "{}: no section \"Ellipsoids\": particle {} is an ellipsoid in "
          "Atoms (ellipsoidflag 1)",
          path_, id_of(std::size_t(std::ranges::find(ellipsoid_, 1) - ellipsoid_.begin()))));
    for (std::size_t i = 0; i < spin_.size(); ++i)
      c_.angular_momentum.push_back(rotate_back(c_.orientation[i], spin_[i]));
    if (!density_.empty()) {  // of a sphere; the mass of a point, or of an ellipsoid by now
      c_.mass = density_;
      for (std::size_t i = 0; i < c_.diameter.size(); ++i)
        if (const double d = c_.diameter[i]; d > 0) c_.mass[i] *= std::numbers::pi / 6 * d * d * d;
    } else if (has_masses_) {
      for (const std::uint32_t type : c_.type) c_.mass.push_back(masses_[type]);
    }
    std::vector<std::uint32_t> order, place(n);
    for (const auto& [id, row] : atoms_) {
      place[row] = std::uint32_t(order.size());
      order.push_back(row);
    }
    reorder_particles(c_, order);
    std::vector<std::int64_t> ids;
    for (const auto& [id, row] : atoms_) ids.push_back(id);
    keep_ids(c_, ids);
    for (auto& bond : c_.topology.bonds) bond.a = place[bond.a], bond.b = place[bond.b];
    for (auto& g : c_.topology.angles) g.a = place[g.a], g.b = place[g.b], g.c = place[g.c];
    for (auto* list : {&c_.topology.dihedrals, &c_.topology.impropers})
      for (auto& g : *list) g.a = place[g.a], g.b = place[g.b], g.c = place[g.c], g.d = place[g.d];
    number_loose_particles(c_, path_);
    if (!unread_.empty())
      c_.warnings.push_back(fmt::format("the section{} {} {} not read",
                                        unread_.size() == 1 ? "" : "s", fmt::join(unread_, ", "),
                                        unread_.size() == 1 ? "is" : "are"));
  }

  TextLines text_;
  std::string wanted_style_;
  LammpsHeader head_;
  Configuration c_;
  std::set<std::string> sections_;               // those seen so far
  std::vector<std::string> unread_;              // of these
  std::map<std::int64_t, std::uint32_t> atoms_;  // id → row
  std::vector<double> masses_, density_;
  std::vector<std::uint8_t> ellipsoid_;  // flags, by row; empty: there are no ellipsoids
  std::vector<Vec3<double>> spin_;       // angular momenta in space, by row
  bool has_masses_ = false, named_types_ = false;
  std::string section_, section_comment_;
};

void add_lost_orientations(const Configuration& c, std::vector<std::string>& list) {
  if (c.orientation.empty()) {
    if (has_moments(c))
      list.emplace_back("moments of inertia are left out: the particles have no orientations");
    return;
  }
  const Ellipsoids ellipsoids(c);
  if (ellipsoids.axes.empty()) {
    list.push_back(fmt::format(
        "orientations, and all that turns, are left out: LAMMPS has those of ellipsoids "
        "with their moments of inertia, {}",
        ellipsoids.why_not.empty() ? "the particles have none" : ellipsoids.why_not));
    return;
  }
  if (c.charge.empty() && c.topology.molecule.empty() && c.topology.bonds.empty() &&
      !are_labels(c.types))
    list.emplace_back(
        "names of types are left out: those of ellipsoids are labels, which do not begin with a "
        "digit");
  if (ellipsoids.points > 0)
    list.push_back(
        fmt::format("the orientations of {} particles without moments of inertia are left out",
                    ellipsoids.points));
  if (c.velocity.empty() && !c.angular_momentum.empty())
    list.emplace_back("angular momenta are left out: LAMMPS has them beside velocities alone");
}

std::vector<std::string> left_out(const Frame& frame) {
  const Configuration& c = frame.configuration;
  const Topology& t = c.topology;
  std::vector<std::string> list;
  if (c.box.dimension == 2)
    list.push_back("the dimension is left out: put \"dimension 2\" into the input of LAMMPS");
  std::string boundary;
  for (const bool periodic : c.box.periodic) boundary += periodic ? " p" : " f";
  if (boundary != " p p p")
    list.push_back("axes that are not periodic are left out: put \"boundary" + boundary +
                   "\" into the input of LAMMPS");
  if (!c.diameter.empty()) list.push_back("diameters are left out");
  add_lost_orientations(c, list);
  if (!c.id.empty()) list.push_back("ids of particles are left out: LAMMPS counts from 1");
  if (const std::string lost = lost_attributes(c); !lost.empty()) list.push_back(lost);
  if (!t.bonds.empty() || !t.angles.empty() || !t.dihedrals.empty() || !t.impropers.empty())
    list.push_back("names of types of bonds, angles and dihedrals are left out");
  const auto far = std::ranges::find_if(c.image, [](const Image& image) {
    return std::max({image.x, image.y, image.z}) > 511 ||
           std::min({image.x, image.y, image.z}) < -512;
  });
  if (far != c.image.end())
    list.push_back(
        fmt::format("particle {} has the image ({}, {}, {}): LAMMPS stores 10 bits (-512 to 511) "
                    "unless built with LAMMPS_BIGBIG, and silently misreads other values",
                    far - c.image.begin(), far->x, far->y, far->z));
  return list;
}

}  // namespace

FileFormat lammps_format() {
  return {"lammps",
          {".data", ".lmp", ".lammps"},
          true,
          false,
          [](std::string_view head) { return head.find(" atoms") != head.npos; },
          [](const std::string& path, const OpenOptions& options) -> std::unique_ptr<FrameReader> {
            return std::make_unique<LammpsReader>(path, options);
          },
          write_lammps_data,
          left_out};
}

}  // namespace perrin::io
