// Extended XYZ: the number of particles, a line of key=value pairs, one row per particle. Written
// as OVITO and ASE read it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include "engine/base/error.h"
#include "io/file_attributes.h"
#include "io/file_orientations.h"
#include "io/formats.h"
#include "io/particle_ids.h"
#include "io/text_file.h"
#include "io/text_lines.h"
#include "io/turned_box.h"

namespace perrin::io {
namespace {

struct Column {
  std::string name;
  char kind;  // S R I L
  std::size_t width, first;
};

const std::set<std::string> used_keys{"lattice", "properties", "origin",   "pbc",
                                      "step",    "time",       "dimension"};

/// Names of properties that mean something else than an attribute.
const std::set<std::string> used_names{"pos",
                                       "position",
                                       "positions",
                                       "species",
                                       "type",
                                       "element",
                                       "velo",
                                       "vel",
                                       "velocity",
                                       "velocities",
                                       "momenta",
                                       "momentum",
                                       "image",
                                       "images",
                                       "mass",
                                       "masses",
                                       "charge",
                                       "charges",
                                       "initial_charges",
                                       "diameter",
                                       "molecule",
                                       "molecule_index",
                                       "id",
                                       "ids",
                                       "orientation",
                                       "angular_momentum",
                                       "moment_of_inertia"};

/// Whether the second line is one of key=value pairs, and not any remark.
bool is_extended(const std::string& line) {
  std::string small = line;
  for (char& letter : small) letter = char(std::tolower(static_cast<unsigned char>(letter)));
  return small.find("lattice=") != small.npos || small.find("properties=") != small.npos;
}

/// Key=value pairs; a value may be quoted, a key without value means true.
std::map<std::string, std::string> parse_pairs(const std::string& line, const TextLines& text) {
  std::map<std::string, std::string> pairs;
  std::size_t at = 0;
  while ((at = line.find_first_not_of(" \t", at)) != std::string::npos) {
    const std::size_t end = std::min(line.find_first_of("= \t", at), line.size());
    std::string key = line.substr(at, end - at), value = "T";
    for (char& letter : key) letter = char(std::tolower(letter));
    at = end;
    if (at < line.size() && line[at] == '=') {
      ++at;
      const char quote = at < line.size() ? line[at] : ' ';
      if (quote == '"' || quote == '\'') {
        const std::size_t close = line.find(quote, at + 1);
        if (close == std::string::npos) text.fail("missing closing quotation mark");
        value = line.substr(at + 1, close - at - 1);
        at = close + 1;
      } else {
        const std::size_t stop = std::min(line.find_first_of(" \t", at), line.size());
        value = line.substr(at, stop - at);
        at = stop;
      }
    }
    const bool used = used_keys.contains(key);
    if (!pairs.emplace(key, value).second && used)
      text.fail(fmt::format("{} occurs twice", in_quotes(key)));
  }
  return pairs;
}

std::vector<std::string> split(const std::string& text, const char* separators) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(separators, at)) != std::string::npos) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end;
  }
  return parts;
}

std::vector<Column> parse_properties(const std::string& value, const TextLines& text) {
  const auto parts = split(value, ":");
  if (parts.empty() || parts.size() % 3 != 0)
    text.fail(fmt::format("expected Properties=name:kind:columns:…, got {}", in_quotes(value)));
  std::vector<Column> columns;
  std::size_t first = 0;
  for (std::size_t k = 0; k < parts.size(); k += 3) {
    const auto width = text.integer(parts[k + 2], "a number of columns in Properties");
    if (width < 1 || width > 1000)
      text.fail(
          fmt::format("expected 1 to 1000 columns of {}, got {}", in_quotes(parts[k]), width));
    for (const Column& column : columns)
      if (column.name == parts[k])
        text.fail(fmt::format("the property {} occurs twice", in_quotes(parts[k])));
    columns.push_back({parts[k], parts[k + 1][0], std::size_t(width), first});
    first += std::size_t(width);
  }
  return columns;
}

/// Where in a row the quantities are that Perrin knows; nullptr: nowhere.
struct Columns {
  Columns(std::vector<Column> columns, const TextLines& text) : all(std::move(columns)) {
    const auto find = [&](std::initializer_list<const char*> names,
                          std::size_t wanted) -> const Column* {
      for (const char* name : names)
        for (const Column& column : all) {
          if (column.name != name) continue;
          if (column.width != wanted)
            text.fail(
                fmt::format("property {} has {} columns, expected {}", name, column.width, wanted));
          return &column;
        }
      return nullptr;
    };
    // What others may call so, and means something else where it has other columns.
    const auto any = [&](const char* name, std::size_t wanted) -> const Column* {
      for (const Column& column : all)
        if (column.name == name && column.width == wanted) return &column;
      return nullptr;
    };
    position = find({"pos", "position", "positions"}, 3);
    species = find({"species", "type", "element"}, 1);
    velocity = find({"velo", "vel", "velocity", "velocities"}, 3);
    momentum = find({"momenta", "momentum"}, 3);
    image = find({"image", "images"}, 3);
    mass = find({"mass", "masses"}, 1);
    charge = find({"charge", "charges", "initial_charges"}, 1);
    diameter = find({"diameter"}, 1);
    molecule = find({"molecule", "molecule_index"}, 1);
    id = find({"id", "ids"}, 1);
    orientation = any("orientation", 4);
    angular_momentum = any("angular_momentum", 3);
    moment_of_inertia = any("moment_of_inertia", 3);
    if (position == nullptr) text.fail("Properties has no pos:R:3: expected positions");
    width = all.back().first + all.back().width;
  }
  Columns(const Columns&) = delete;

  /// Whether it is read.
  bool knows(const Column& column) const {
    for (const Column* known :
         {position, species, velocity, velocity == nullptr ? momentum : nullptr, image, mass,
          charge, diameter, molecule, id, orientation, angular_momentum, moment_of_inertia})
      if (known == &column) return true;
    // What is written for ASE beside velocities says the same.
    return &column == momentum;
  }

  /// Numbers of particles that Perrin does not know by name.
  static bool is_attribute(const Column& column) {
    return !used_names.contains(column.name) && column.width == 1 &&
           (column.kind == 'R' || column.kind == 'I');
  }

  std::vector<Column> all;
  const Column *position, *species, *velocity, *momentum, *image, *mass, *charge, *diameter,
      *molecule, *id, *orientation, *angular_momentum, *moment_of_inertia;
  std::size_t width;
};

class ExtendedXyzReader : public FrameReader {
 public:
  explicit ExtendedXyzReader(const std::string& path) : FrameReader(path), text_(path) {
    while (true) {
      const auto place = text_.place();
      if (!text_.next()) break;
      if (text_.words().empty()) continue;  // blank lines at the end
      const std::int64_t n = count();
      places_.push_back(place);
      text_.need("the line with Lattice and Properties");
      for (std::int64_t k = 0; k < n; ++k)
        text_.need(fmt::format("row {} of {} of frame {}", k + 1, n, places_.size() - 1));
    }
    if (places_.empty()) throw UserError(path + ":1: the file is empty, expected extended XYZ");
  }

  std::int64_t frames() const override { return std::int64_t(places_.size()); }

 protected:
  Frame get(std::int64_t index) override {
    text_.go(places_[std::size_t(index)]);
    text_.next();
    const auto n = std::size_t(count());
    text_.need("the line with Lattice and Properties");
    const bool extended = is_extended(text_.line());
    const auto pairs =
        extended ? parse_pairs(text_.line(), text_) : std::map<std::string, std::string>();
    const auto value = [&](const std::string& key) {
      const auto it = pairs.find(key);
      return it == pairs.end() ? std::string() : it->second;
    };
    Frame frame;
    Configuration& c = frame.configuration;
    const TurnedBox turned = read_box(value("lattice"), value("origin"), value("pbc"));
    c.box = turned.box;
    frame.has_box = !value("lattice").empty();
    frame.box_remedy = " (or add Lattice=\"…\" to the line after the number of particles)";
    frame.may_be_flat = true;
    std::vector<std::string> unread;
    for (const auto& [key, ignored] : pairs)
      if (!used_keys.contains(key)) unread.push_back(key);
    if (!unread.empty())
      c.warnings.push_back(
          fmt::format("keys of the second line are not read: {}", fmt::join(unread, ", ")));
    if (const auto dimension = value("dimension"); !dimension.empty()) {
      if (dimension != "2" && dimension != "3")
        text_.fail(fmt::format("expected Dimension=2 or 3, got {}", in_quotes(dimension)));
      c.box.dimension = dimension == "2" ? 2 : 3;
    }
    if (const auto step = value("step"); !step.empty()) {
      c.step = text_.integer(step, "Step");
      frame.has_step = true;
    }
    if (const auto time = value("time"); !time.empty()) frame.time = text_.real(time, "Time");
    const auto properties = value("properties");
    read_rows(
        Columns(parse_properties(properties.empty() ? "species:S:1:pos:R:3" : properties, text_),
                text_),
        n, frame);
    if (turned.turned) turn(turned, frame);
    return frame;
  }

 private:
  std::int64_t count() const {
    const auto words = text_.words();
    const std::int64_t n = text_.integer(words.empty() ? "" : words[0], "the number of particles");
    if (words.size() > 1 || n < 0) text_.fail("expected only the number of particles");
    return n;
  }

  /// Edges in any direction; the origin stays where it is.
  TurnedBox read_box(const std::string& lattice, const std::string& origin,
                     const std::string& periodic) const {
    const auto numbers = split(lattice.empty() ? "1 0 0 0 1 0 0 0 1" : lattice, " \t,");
    if (numbers.size() != 9)
      text_.fail(fmt::format("expected Lattice=\"…\" with 9 numbers, got {}", numbers.size()));
    std::array<Vec3<double>, 3> edges;
    for (std::size_t k = 0; k < 9; ++k)
      edges[k / 3][int(k % 3)] = text_.real(numbers[k], "a number in Lattice");
    const std::string where = fmt::format("{}:{}", path_, text_.number());
    const bool flat = dot(edges[2], edges[2]) == 0;  // no height, as two dimensions may be written
    TurnedBox turned =
        flat ? TurnedBox{box_from_edges(edges, where), false, {}} : turn_box(edges, where);
    Box& box = turned.box;
    box.origin = {0, 0, 0};
    if (!origin.empty()) {
      const auto at = split(origin, " \t,");
      if (at.size() != 3)
        text_.fail(fmt::format("expected Origin=\"…\" with 3 numbers, got {}", in_quotes(origin)));
      for (int axis = 0; axis < 3; ++axis)
        box.origin[axis] = text_.real(at[std::size_t(axis)], "a number in Origin");
    }
    if (!periodic.empty()) {
      const auto flags = split(periodic, " \t,");
      if (flags.size() != 3)
        text_.fail(
            fmt::format("expected pbc=\"…\" with 3 of T and F, got {}", in_quotes(periodic)));
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const char flag = flags[axis][0];
        if (flag != 'T' && flag != 't' && flag != '1' && flag != 'F' && flag != 'f' && flag != '0')
          text_.fail(fmt::format("expected T or F in pbc, got {}", in_quotes(flags[axis])));
        box.periodic[axis] = flag == 'T' || flag == 't' || flag == '1';
      }
    }
    return turned;
  }

  static void turn(const TurnedBox& turned, Frame& frame) {
    Configuration& c = frame.configuration;
    for (auto& r : c.position) r = turned(r - c.box.origin) + c.box.origin;
    for (auto& v : c.velocity) v = turned(v);
    for (auto& p : frame.momentum) p = turned(p);
    for (auto& q : c.orientation) q = turned(q);
    c.warnings.push_back(
        "the box is rotated, with coordinates and velocities: the first edge to the x axis, the "
        "second into the xy plane");
  }

  void read_rows(const Columns& at, std::size_t n, Frame& frame) {
    Configuration& c = frame.configuration;
    std::map<std::string, std::uint32_t, std::less<>> types;
    std::vector<std::string> unread;
    std::vector<Attribute> attributes;
    for (const Column& column : at.all)
      if (Columns::is_attribute(column))
        attributes.push_back({&column, {}, {}});
      else if (!at.knows(column))
        unread.push_back(column.name);
    if (!unread.empty())
      c.warnings.push_back(fmt::format("properties are not read: {}", fmt::join(unread, ", ")));
    if (at.species == nullptr)
      c.warnings.emplace_back("there is no property species: all particles are of type A");
    std::vector<std::int64_t> ids;
    std::vector<std::string_view> words;
    const auto real = [&](const Column* column, const char* what) {
      return text_.real(words[column->first], what);
    };
    const auto vector = [&](const Column* column, const char* what) {
      Vec3<double> v;
      for (int axis = 0; axis < 3; ++axis)
        v[axis] = text_.real(words[column->first + std::size_t(axis)], what);
      return v;
    };
    for (std::size_t k = 0; k < n; ++k) {
      text_.need("a particle");
      words = text_.words();
      if (words.size() != at.width)
        text_.fail(fmt::format("expected {} columns, got {}", at.width, words.size()));
      c.position.push_back(vector(at.position, "a coordinate"));
      const auto name = at.species != nullptr ? words[at.species->first] : std::string_view("A");
      auto type = types.find(name);
      if (type == types.end()) {
        type = types.emplace(std::string(name), std::uint32_t(c.types.size())).first;
        c.types.emplace_back(name);
      }
      c.type.push_back(type->second);
      if (at.velocity != nullptr) c.velocity.push_back(vector(at.velocity, "a velocity"));
      if (at.velocity == nullptr && at.momentum != nullptr)
        frame.momentum.push_back(vector(at.momentum, "a momentum"));
      if (at.image != nullptr) {
        Image image;
        for (int axis = 0; axis < 3; ++axis)
          image[axis] =
              text_.whole<std::int32_t>(words[at.image->first + std::size_t(axis)], "an image");
        c.image.push_back(image);
      }
      if (at.mass != nullptr) c.mass.push_back(real(at.mass, "a mass"));
      if (at.charge != nullptr) c.charge.push_back(real(at.charge, "a charge"));
      if (at.diameter != nullptr) c.diameter.push_back(real(at.diameter, "a diameter"));
      if (at.molecule != nullptr)
        c.topology.molecule.push_back(
            text_.whole<std::uint32_t>(words[at.molecule->first], "a molecule"));
      read_rotation(at, words, c);
      if (at.id != nullptr) ids.push_back(text_.integer(words[at.id->first], "a particle's id"));
      for (Attribute& attribute : attributes) read_attribute(attribute, words);
    }
    for (Attribute& attribute : attributes) {
      const std::string& name = attribute.column->name;
      const std::string what = fmt::format("the property {}", in_quotes(name));
      if (attribute.wrong.empty())
        take_attribute(c, name, what, std::move(attribute.values));
      else
        warn_unread(c, what, attribute.wrong);
    }
    if (at.id != nullptr) ids_.sort(std::move(ids), frame, text_);
  }

  /// Quaternions as x, y, z, w and angular momenta in space, as OVITO has both.
  void read_rotation(const Columns& at, const std::vector<std::string_view>& words,
                     Configuration& c) const {
    const auto numbers = [&](const Column* column, int n, const char* what) {
      std::array<double, 4> v{};
      for (std::size_t k = 0; k < std::size_t(n); ++k)
        v[k] = text_.real(words[column->first + k], what);
      return v;
    };
    if (at.orientation != nullptr) {
      const auto q = numbers(at.orientation, 4, "a component of a quaternion");
      if (q == std::array<double, 4>{})
        text_.fail("the orientation is (0, 0, 0, 0), expected a quaternion of length 1");
      c.orientation.push_back({q[0], q[1], q[2], q[3]});
    }
    if (at.angular_momentum != nullptr) {
      const auto l = numbers(at.angular_momentum, 3, "an angular momentum");
      Vec3<double> spin{l[0], l[1], l[2]};
      if (at.orientation != nullptr) spin = rotate_back(normalized(c.orientation.back()), spin);
      c.angular_momentum.push_back(spin);
    }
    if (at.moment_of_inertia != nullptr) {
      const auto moments = numbers(at.moment_of_inertia, 3, "a moment of inertia");
      c.moment_of_inertia.push_back({moments[0], moments[1], moments[2]});
    }
  }

  struct Attribute {
    const Column* column;
    std::vector<double> values;
    std::string wrong;  // what is no number
  };
  void read_attribute(Attribute& a, const std::vector<std::string_view>& words) const {
    if (!a.wrong.empty()) return;
    const std::string_view word = words[a.column->first];
    if (const auto value = TextLines::number_in(word))
      a.values.push_back(*value);
    else
      a.wrong = fmt::format("line {}: expected a number, got {}", text_.number(), in_quotes(word));
  }

  TextLines text_;
  ParticleIds ids_;
  std::vector<TextLines::Place> places_;
};

class ExtendedXyzWriter : public FrameWriter {
 public:
  explicit ExtendedXyzWriter(const std::string& path) : path_(path), out_(path) {}

  void write(const Frame& frame) override {
    const Configuration& c = frame.configuration;
    check_words(c.types, path_);
    const auto e = c.box.edges();
    const auto flag = [&](std::size_t axis) { return c.box.periodic[axis] ? 'T' : 'F'; };
    std::string properties = "species:S:1:pos:R:3";
    // Velocities for OVITO; for ASE momenta, which it has in their place.
    const bool moving = !c.velocity.empty(), momenta = moving && !c.mass.empty();
    if (moving) properties += ":velo:R:3";
    if (momenta) properties += ":momenta:R:3";
    if (!c.image.empty()) properties += ":image:I:3";
    if (!c.mass.empty()) properties += ":masses:R:1";
    if (!c.charge.empty()) properties += ":charge:R:1";
    if (!c.diameter.empty()) properties += ":diameter:R:1";
    if (!c.topology.molecule.empty()) properties += ":molecule:I:1";
    if (!c.id.empty()) properties += ":id:I:1";
    const bool turning = !c.angular_momentum.empty() && !c.orientation.empty();
    const bool massive = has_moments(c);
    if (!c.orientation.empty()) properties += ":orientation:R:4";
    if (turning) properties += ":angular_momentum:R:3";
    if (massive) properties += ":moment_of_inertia:R:3";
    std::vector<const std::vector<double>*> attributes;
    for (const auto& [name, values] : c.attributes) {
      if (used_names.contains(name)) continue;
      properties += fmt::format(":{}:R:1", name);
      attributes.push_back(&values);
    }
    out_.put(fmt::format(
        "{}\nLattice=\"{} {} {} {} {} {} {} {} {}\" Origin=\"{} {} {}\" pbc=\"{} {} {}\" "
        "Properties={} Step={} Time={}{}\n",
        c.position.size(), e[0].x, e[0].y, e[0].z, e[1].x, e[1].y, e[1].z, e[2].x, e[2].y, e[2].z,
        c.box.origin.x, c.box.origin.y, c.box.origin.z, flag(0), flag(1), flag(2), properties,
        c.step, frame.time, c.box.dimension == 2 ? " Dimension=2" : ""));
    for (std::size_t i = 0; i < c.position.size(); ++i) {
      const auto& r = c.position[i];
      std::string row = c.types[c.type[i]] + numbers(r);
      if (moving) row += numbers(c.velocity[i]);
      if (momenta) row += numbers(c.mass[i] * c.velocity[i]);
      if (!c.image.empty())
        row += fmt::format(" {} {} {}", c.image[i].x, c.image[i].y, c.image[i].z);
      if (!c.mass.empty()) row += fmt::format(" {}", c.mass[i]);
      if (!c.charge.empty()) row += fmt::format(" {}", c.charge[i]);
      if (!c.diameter.empty()) row += fmt::format(" {}", c.diameter[i]);
      if (!c.topology.molecule.empty()) row += fmt::format(" {}", c.topology.molecule[i]);
      if (!c.id.empty()) row += fmt::format(" {}", c.id[i]);
      if (!c.orientation.empty()) {
        const Quaternion& q = c.orientation[i];
        row += fmt::format(" {} {} {} {}", q.x, q.y, q.z, q.w);
      }
      if (turning) row += numbers(rotate(c.orientation[i], c.angular_momentum[i]));
      if (massive) row += numbers(c.moment_of_inertia[i]);
      for (const auto* values : attributes) row += fmt::format(" {}", (*values)[i]);
      out_.put(row + "\n");
    }
  }
  void finish() override { out_.close(); }

 private:
  static std::string numbers(const Vec3<double>& v) {
    return fmt::format(" {} {} {}", v.x, v.y, v.z);
  }

  std::string path_;
  TextFile out_;
};

}  // namespace

FileFormat xyz_format() {
  return {
      "xyz",
      {".xyz", ".extxyz"},
      false,
      false,
      [](std::string_view head) {
        return head.find("Lattice=") != head.npos || head.find("Properties=") != head.npos;
      },
      [](const std::string& path, const OpenOptions&) -> std::unique_ptr<FrameReader> {
        return std::make_unique<ExtendedXyzReader>(path);
      },
      [](const std::string& path, const Frame&, const WriteOptions&)
          -> std::unique_ptr<FrameWriter> { return std::make_unique<ExtendedXyzWriter>(path); },
      [](const Frame& frame) {
        const Topology& t = frame.configuration.topology;
        std::vector<std::string> list;
        if (!t.bonds.empty() || !t.angles.empty() || !t.dihedrals.empty() || !t.impropers.empty())
          list = {"bonds, angles and dihedrals are left out"};
        for (const auto& [name, values] : frame.configuration.attributes)
          if (used_names.contains(name))
            list.push_back(fmt::format(
                "the attribute {} is left out: extended XYZ has a property of this name", name));
        return list;
      }};
}

}  // namespace perrin::io
