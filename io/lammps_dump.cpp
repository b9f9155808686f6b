// Reads dump files of LAMMPS as text, of the styles atom and custom: all frames
// (https://docs.lammps.org/dump.html).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "engine/base/error.h"
#include "engine/system/attribute.h"
#include "io/file_attributes.h"
#include "io/formats.h"
#include "io/lammps_dump_head.h"
#include "io/lammps_molecules.h"
#include "io/lammps_units.h"
#include "io/particle_ids.h"
#include "io/text_lines.h"

namespace perrin::io {
namespace {

/// Columns of LAMMPS that are no attributes of a particle, whether they are read or not.
const std::set<std::string> columns_of_lammps{
    "id",       "mol",    "proc",   "procp1", "type",    "typelabel", "element",
    "mass",     "x",      "y",      "z",      "xs",      "ys",        "zs",
    "xu",       "yu",     "zu",     "xsu",    "ysu",     "zsu",       "ix",
    "iy",       "iz",     "vx",     "vy",     "vz",      "fx",        "fy",
    "fz",       "q",      "mux",    "muy",    "muz",     "mu",        "radius",
    "diameter", "omegax", "omegay", "omegaz", "angmomx", "angmomy",   "angmomz",
    "tqx",      "tqy",    "tqz",    "quatw",  "quati",   "quatj",     "quatk"};

/// Where in a row the quantities are that Perrin knows; -1, or -1 first: nowhere.
class DumpColumns {
 public:
  DumpColumns(const std::vector<std::string>& names, const TextLines& text) : names_(names) {
    std::set<std::string> seen;
    for (const std::string& name : names)
      if (!seen.insert(name).second)
        text.fail(fmt::format("the column {} occurs twice", in_quotes(name)));
    id = at("id"), mass = at("mass"), charge = at("q"), molecule = at("mol");
    type = at("type") >= 0 ? at("type") : at("typelabel");
    element = at("element");
    radius = at("radius");
    diameter = radius >= 0 ? -1 : at("diameter");
    image = group<3>({"ix", "iy", "iz"}), velocity = group<3>({"vx", "vy", "vz"});
    quaternion = group<4>({"quati", "quatj", "quatk", "quatw"});
    if (quaternion[0] >= 0) angular_momentum = group<3>({"angmomx", "angmomy", "angmomz"});
    find_positions(text);
    find_others();
  }

  int at(const std::string& name) const {
    const auto it = std::ranges::find(names_, name);
    return it == names_.end() ? -1 : int(it - names_.begin());
  }

  int id, type, element, mass, charge, molecule, radius, diameter;
  std::array<int, 3> position, image, velocity, angular_momentum{-1, -1, -1};
  std::array<int, 4> quaternion;
  bool scaled = false;          // positions are fractions of the edges
  std::vector<int> attributes;  // numbers that Perrin does not know by name
  std::vector<std::string> not_read;

 private:
  /// Sorts out the columns that are left.
  void find_others() {
    std::set<int> read{id, type, element, mass, charge, molecule, radius, diameter};
    for (const auto* three : {&position, &image, &velocity, &angular_momentum})
      read.insert(three->begin(), three->end());
    read.insert(quaternion.begin(), quaternion.end());
    for (int k = 0; k < int(names_.size()); ++k) {
      const std::string& name = names_[std::size_t(k)];
      if (read.contains(k) || said_otherwise_.contains(name)) continue;
      if (!columns_of_lammps.contains(name) && is_attribute_name(name))
        attributes.push_back(k);
      else
        not_read.push_back(name);
    }
  }

  template <std::size_t n>
  std::array<int, n> group(const std::array<const char*, n>& names) const {
    std::array<int, n> found;
    for (std::size_t k = 0; k < n; ++k) found[k] = at(names[k]);
    if (std::ranges::count(found, -1) > 0) found.fill(-1);
    return found;
  }

  /// Of several ways to say where particles are one is read: wrapped positions with images, else
  /// unwrapped ones, which say the images, too, else wrapped ones alone.
  void find_positions(const TextLines& text) {
    const std::array<std::array<const char*, 3>, 4> kinds{
        {{"x", "y", "z"}, {"xs", "ys", "zs"}, {"xu", "yu", "zu"}, {"xsu", "ysu", "zsu"}}};
    const bool images = image[0] >= 0;
    int best = -1;
    for (const int kind : images ? std::array{0, 1, 2, 3} : std::array{2, 3, 0, 1}) {
      const auto found = group<3>(kinds[std::size_t(kind)]);
      if (found[0] < 0) continue;
      said_otherwise_.insert(kinds[std::size_t(kind)].begin(), kinds[std::size_t(kind)].end());
      if (best < 0) best = kind, position = found;
    }
    if (best < 0)
      text.fail("ITEM: ATOMS has no positions: expected x y z, xs ys zs, xu yu zu or xsu ysu zsu");
    scaled = best % 2 == 1;
    if (best < 2 || !images) return;
    said_otherwise_.insert({"ix", "iy", "iz"});
    image.fill(-1);
  }

  const std::vector<std::string>& names_;
  std::set<std::string> said_otherwise_;  // by the positions that are read
};

/// Types by their words in a file: numbers first, in their order, then labels.
class DumpTypes {
 public:
  std::uint32_t operator()(std::string_view word) {
    auto it = index_.find(word);
    if (it == index_.end())
      it = index_.emplace(std::string(word), std::uint32_t(index_.size())).first;
    return it->second;
  }

  /// Gives the particles of `c`, which have the indices returned, their sorted types.
  void finish(Configuration& c) const {
    std::vector<std::pair<std::string, std::uint32_t>> sorted(index_.begin(), index_.end());
    std::ranges::stable_sort(sorted, {}, [](const auto& entry) { return key(entry.first); });
    std::vector<std::uint32_t> place(sorted.size());
    for (const auto& [word, index] : sorted) {
      place[index] = std::uint32_t(c.types.size());
      c.types.push_back(word);
    }
    for (auto& type : c.type) type = place[type];
  }

 private:
  static std::pair<bool, std::int64_t> key(const std::string& word) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    const bool label = error != std::errc() || end != word.data() + word.size();
    return {label, label ? 0 : number};
  }
  std::map<std::string, std::uint32_t, std::less<>> index_;
};

class LammpsDumpReader : public FrameReader {
 public:
  explicit LammpsDumpReader(const std::string& path) : FrameReader(path), text_(path) {
    while (true) {
      const auto place = text_.place();
      const auto head = read_dump_head(text_, path_);
      if (!head) break;
      if (places_.empty()) units_ = head->units;
      for (std::int64_t k = 0; k < head->particles; ++k) {
        text_.need(fmt::format("row {} of {} of frame {}", k + 1, head->particles, places_.size()));
        if (text_.line().starts_with("ITEM:"))
          text_.fail(fmt::format("expected {} rows of frame {}, found {}", head->particles,
                                 places_.size(), k));
      }
      places_.push_back(place);
    }
    if (places_.empty()) throw UserError(path + ":1: the file is empty, expected a LAMMPS dump");
  }

  std::int64_t frames() const override { return std::int64_t(places_.size()); }

 protected:
  Frame get(std::int64_t index) override {
    text_.go(places_[std::size_t(index)]);
    const auto head = read_dump_head(text_, path_);
    if (!head) text_.fail("the file has become shorter");
    Frame frame;
    Configuration& c = frame.configuration;
    c.step = head->step, frame.has_step = true;
    frame.time = head->time;
    frame.may_be_flat = true;
    if (!units_.empty()) frame.units = lammps_units(units_);  // the first frame says it alone
    c.box = head->box.box;
    if (!head->has_boundary)
      c.warnings.emplace_back("ITEM: BOX BOUNDS does not say which axes are periodic: all are");
    if (head->box.turned)
      c.warnings.emplace_back(
          "the box is rotated, with coordinates and velocities: the first edge to the x axis, the "
          "second into the xy plane");
    read_rows(*head, frame);
    number_loose_particles(c, path_);
    grow_box(head->shrunk, c);
    return frame;
  }

 private:
  void read_rows(const DumpHead& head, Frame& frame) {
    Configuration& c = frame.configuration;
    const DumpColumns at(head.columns, text_);
    DumpTypes types;
    std::vector<std::int64_t> ids;
    std::vector<std::string> elements;
    numbers_.assign(at.attributes.size(), {});
    wrong_.assign(at.attributes.size(), {});
    for (std::int64_t k = 0; k < head.particles; ++k) {
      text_.need("a particle");
      words_ = text_.words();
      if (words_.size() != head.columns.size())
        text_.fail(fmt::format("expected {} columns ({}), got {}", head.columns.size(),
                               fmt::join(head.columns, " "), words_.size()));
      if (at.id >= 0) ids.push_back(text_.integer(word(at.id), "a particle's id"));
      const int kind = at.type >= 0 ? at.type : at.element;
      c.type.push_back(types(kind >= 0 ? word(kind) : std::string_view("1")));
      if (at.type >= 0 && at.element >= 0) take_element(word(at.element), c.type.back(), elements);
      take_motion(at, head, c);
      take_quantities(at, head, c);
    }
    name_types(types, elements, c);
    if (at.type < 0 && at.element < 0)
      c.warnings.emplace_back("there is no column type: all particles are of type 1");
    finish_attributes(at, head, c);
    if (at.id >= 0)
      ids_.sort(std::move(ids), frame, text_);
    else
      c.warnings.emplace_back("there is no column id: particles are in the order of the rows");
  }

  std::string_view word(int column) const { return words_[std::size_t(column)]; }
  double real(int column, const char* what) const { return text_.real(word(column), what); }
  Vec3<double> vector(const std::array<int, 3>& columns, const char* what) const {
    return {real(columns[0], what), real(columns[1], what), real(columns[2], what)};
  }

  /// Places, images and velocities.
  void take_motion(const DumpColumns& at, const DumpHead& head, Configuration& c) const {
    const TurnedBox& box = head.box;
    Vec3<double> r = vector(at.position, "a coordinate");
    if (at.scaled)
      r = box.box.point(r);
    else if (box.turned)
      r = box(r - box.box.origin) + box.box.origin;
    c.position.push_back(r);
    if (at.image[0] >= 0) {
      Image image;
      for (int axis = 0; axis < 3; ++axis)
        image[axis] = text_.whole<std::int32_t>(word(at.image[std::size_t(axis)]), "an image flag");
      c.image.push_back(image);
    }
    if (at.velocity[0] >= 0) {
      const Vec3<double> v = vector(at.velocity, "a velocity");
      c.velocity.push_back(box.turned ? box(v) : v);
    }
  }

  void take_quantities(const DumpColumns& at, const DumpHead& head, Configuration& c) {
    if (at.mass >= 0) c.mass.push_back(real(at.mass, "a mass"));
    if (at.charge >= 0) c.charge.push_back(real(at.charge, "a charge"));
    if (at.radius >= 0) c.diameter.push_back(2 * real(at.radius, "a radius"));
    if (at.diameter >= 0) c.diameter.push_back(real(at.diameter, "a diameter"));
    if (at.molecule >= 0)
      c.topology.molecule.push_back(
          text_.whole<std::uint32_t>(word(at.molecule), "a molecule's id"));
    if (at.quaternion[0] >= 0) take_rotation(at, head.box, c);
    for (std::size_t k = 0; k < at.attributes.size(); ++k) {
      if (!wrong_[k].empty()) continue;
      const std::string_view text = word(at.attributes[k]);
      if (const auto value = TextLines::number_in(text))
        numbers_[k].push_back(*value);
      else
        wrong_[k] =
            fmt::format("line {}: expected a number, got {}", text_.number(), in_quotes(text));
    }
  }

  /// Angular momenta of LAMMPS are in space.
  void take_rotation(const DumpColumns& at, const TurnedBox& box, Configuration& c) const {
    std::array<double, 4> q;
    for (std::size_t k = 0; k < 4; ++k)
      q[k] = real(at.quaternion[k], "a component of a quaternion");
    const double length = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    if (!(length > 1e-12 && length < 1e12))
      text_.fail(
          fmt::format("the orientation is ({}, {}, {}, {}), expected a quaternion of length 1",
                      q[0], q[1], q[2], q[3]));
    Quaternion turned = normalized(Quaternion{q[0], q[1], q[2], q[3]});
    if (box.turned) turned = box(turned);
    c.orientation.push_back(turned);
    if (at.angular_momentum[0] < 0) return;
    const Vec3<double> spin = vector(at.angular_momentum, "an angular momentum");
    c.angular_momentum.push_back(rotate_back(turned, box.turned ? box(spin) : spin));
  }

  /// `elements`: of each type so far; "?" where a type has several.
  static void take_element(std::string_view word, std::uint32_t type,
                           std::vector<std::string>& elements) {
    if (type >= elements.size()) elements.resize(type + 1);
    if (elements[type].empty()) elements[type] = word;
    if (elements[type] != word) elements[type] = "?";
  }

  /// A type has the name of its element, where no other type has it.
  static void name_types(const DumpTypes& types, std::vector<std::string> elements,
                         Configuration& c) {
    std::vector<std::pair<std::uint32_t, std::string>> of_type;  // a particle's, its element
    for (std::size_t i = 0; i < c.type.size() && !elements.empty(); ++i)
      if (std::string& element = elements[c.type[i]]; !element.empty())
        of_type.emplace_back(std::uint32_t(i), std::exchange(element, ""));
    types.finish(c);
    std::vector<std::string> twice;
    const std::vector<std::string> numbers = c.types;
    for (const auto& [particle, element] : of_type) {
      const auto same =
          std::ranges::count(of_type, element, [](const auto& e) { return e.second; });
      const bool other =
          numbers[c.type[particle]] != element && std::ranges::count(numbers, element) > 0;
      if (same == 1 && !other && element != "?")
        c.types[c.type[particle]] = element;
      else if (std::ranges::count(twice, element) == 0)
        twice.push_back(element);
    }
    if (!twice.empty())
      c.warnings.push_back(fmt::format(
          "the element{} {} not of one type alone: numbers are used as names of these types",
          twice.size() == 1 ? "" : "s",
          fmt::format("{} {}", fmt::join(twice, ", "), twice.size() == 1 ? "is" : "are")));
  }

  void finish_attributes(const DumpColumns& at, const DumpHead& head, Configuration& c) {
    for (std::size_t k = 0; k < at.attributes.size(); ++k) {
      const std::string& name = head.columns[std::size_t(at.attributes[k])];
      const std::string what = fmt::format("the column {}", in_quotes(name));
      if (wrong_[k].empty())
        take_attribute(c, name, what, std::move(numbers_[k]));
      else
        warn_unread(c, what, wrong_[k]);
    }
    if (!at.not_read.empty())
      c.warnings.push_back(fmt::format("columns are not read: {}", fmt::join(at.not_read, ", ")));
  }

  /// A face that LAMMPS keeps at the outermost particle ("s", "m") lies there, though places have
  /// been rounded to six digits, or particles have moved since it was put there.
  static void grow_box(const std::array<bool, 3>& shrunk, Configuration& c) {
    Box& box = c.box;
    if (!box.orthogonal()) return;
    for (int axis = 0; axis < 3; ++axis) {
      if (!shrunk[std::size_t(axis)] || box.periodic[std::size_t(axis)]) continue;
      double low = box.origin[axis], high = low + box.length[axis];
      const double width = high - low;
      for (const auto& r : c.position) low = std::min(low, r[axis]), high = std::max(high, r[axis]);
      if (high - low <= width) continue;
      box.origin[axis] = low, box.length[axis] = high - low;
      c.warnings.push_back(
          fmt::format("the box is made larger along {} where particles lie outside: LAMMPS puts "
                      "its faces there",
                      "xyz"[axis]));
    }
  }

  TextLines text_;
  std::string units_;  // as the first frame says
  std::vector<TextLines::Place> places_;
  ParticleIds ids_;
  // Of the row that is being read, and of attributes by their columns.
  std::vector<std::string_view> words_;
  std::vector<std::vector<double>> numbers_;
  std::vector<std::string> wrong_;
};

}  // namespace

FileFormat lammps_dump_format() {
  return {"lammpsdump",
          {".lammpstrj", ".dump", ".lammpsdump"},
          false,
          false,
          [](std::string_view head) { return head.starts_with("ITEM: "); },
          [](const std::string& path, const OpenOptions&) -> std::unique_ptr<FrameReader> {
            return std::make_unique<LammpsDumpReader>(path);
          },
          nullptr,
          nullptr};
}

}  // namespace perrin::io
