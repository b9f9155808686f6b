// Extended XYZ: the number of particles, a line of key=value pairs, one row per particle. Written
// as OVITO and ASE read it.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <map>

#include "engine/error.h"
#include "io/formats.h"
#include "io/text_file.h"
#include "io/text_lines.h"

namespace perrin::io {
namespace {

struct Column {
  std::string name;
  char kind;  // S R I L
  std::size_t width, first;
};

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
        if (close == std::string::npos) text.fail("a quotation mark is not closed");
        value = line.substr(at + 1, close - at - 1);
        at = close + 1;
      } else {
        const std::size_t stop = std::min(line.find_first_of(" \t", at), line.size());
        value = line.substr(at, stop - at);
        at = stop;
      }
    }
    pairs[key] = value;
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
    text.fail(fmt::format("expected Properties=name:kind:columns:…, got \"{}\"", value));
  std::vector<Column> columns;
  std::size_t first = 0;
  for (std::size_t k = 0; k < parts.size(); k += 3) {
    const auto width = text.integer(parts[k + 2], "a number of columns in Properties");
    if (width < 1 || width > 1000) text.fail("a property has at least one column");
    columns.push_back({parts[k], parts[k + 1][0], std::size_t(width), first});
    first += std::size_t(width);
  }
  return columns;
}

class ExtendedXyzReader : public FrameReader {
 public:
  explicit ExtendedXyzReader(const std::string& path) : path_(path), text_(path) {
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

  Frame read(std::int64_t index) override {
    text_.go(places_[std::size_t(index)]);
    text_.next();
    const auto n = std::size_t(count());
    text_.need("the line with Lattice and Properties");
    const auto pairs = parse_pairs(text_.line(), text_);
    const auto value = [&](const std::string& key) {
      const auto it = pairs.find(key);
      return it == pairs.end() ? std::string() : it->second;
    };
    Frame frame;
    Configuration& c = frame.configuration;
    c.box = read_box(value("lattice"), value("origin"), value("pbc"));
    if (value("dimension") == "2") c.box.dimension = 2;
    if (const auto step = value("step"); !step.empty()) c.step = text_.integer(step, "Step");
    if (const auto time = value("time"); !time.empty()) frame.time = text_.real(time, "Time");
    const auto properties = value("properties");
    read_rows(parse_properties(properties.empty() ? "species:S:1:pos:R:3" : properties, text_), n,
              c);
    check_frame(c, fmt::format("{}, frame {}", path_, index));
    return frame;
  }

 private:
  std::int64_t count() const {
    const auto words = text_.words();
    const std::int64_t n = text_.integer(words.empty() ? "" : words[0], "the number of particles");
    if (words.size() > 1 || n < 0) text_.fail("expected the number of particles and nothing else");
    return n;
  }

  Box read_box(const std::string& lattice, const std::string& origin,
               const std::string& periodic) const {
    const auto numbers = split(lattice, " \t,");
    if (numbers.size() != 9)
      text_.fail(fmt::format("expected Lattice=\"…\" with 9 numbers, got {}", numbers.size()));
    std::array<Vec3<double>, 3> edges;
    for (std::size_t k = 0; k < 9; ++k)
      edges[k / 3][int(k % 3)] = text_.real(numbers[k], "a number in Lattice");
    Box box = box_from_edges(edges, fmt::format("{}:{}", path_, text_.number()));
    box.origin = {0, 0, 0};
    if (const auto at = split(origin, " \t,"); at.size() == 3)
      for (int axis = 0; axis < 3; ++axis)
        box.origin[axis] = text_.real(at[std::size_t(axis)], "a number in Origin");
    if (const auto flags = split(periodic, " \t,"); flags.size() == 3)
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const char flag = flags[axis][0];
        if (flag != 'T' && flag != 't' && flag != '1' && flag != 'F' && flag != 'f' && flag != '0')
          text_.fail(fmt::format("expected T or F in pbc, got \"{}\"", flags[axis]));
        box.periodic[axis] = flag == 'T' || flag == 't' || flag == '1';
      }
    return box;
  }

  void read_rows(const std::vector<Column>& columns, std::size_t n, Configuration& c) {
    const std::size_t width = columns.back().first + columns.back().width;
    const auto find = [&](std::initializer_list<const char*> names,
                          std::size_t wanted) -> const Column* {
      for (const char* name : names)
        for (const Column& column : columns) {
          if (column.name != name) continue;
          if (column.width != wanted)
            text_.fail(
                fmt::format("property {} has {} columns, expected {}", name, column.width, wanted));
          return &column;
        }
      return nullptr;
    };
    const Column* position = find({"pos", "position", "positions"}, 3);
    const Column* species = find({"species", "type", "element"}, 1);
    const Column* velocity = find({"velo", "vel", "velocity", "velocities"}, 3);
    const Column* image = find({"image", "images"}, 3);
    const Column* mass = find({"mass", "masses"}, 1);
    const Column* charge = find({"charge", "charges", "initial_charges"}, 1);
    const Column* diameter = find({"diameter"}, 1);
    const Column* molecule = find({"molecule", "molecule_index"}, 1);
    if (position == nullptr) text_.fail("Properties has no pos:R:3: expected positions");
    std::vector<std::string_view> words;
    for (std::size_t k = 0; k < n; ++k) {
      text_.need("a particle");
      words = text_.words();
      if (words.size() < width)
        text_.fail(fmt::format("expected {} columns, got {}", width, words.size()));
      const auto real = [&](const Column& column, std::size_t at, const char* what) {
        return text_.real(words[column.first + at], what);
      };
      const auto vector = [&](const Column& column, const char* what) {
        return Vec3<double>{real(column, 0, what), real(column, 1, what), real(column, 2, what)};
      };
      c.position.push_back(vector(*position, "a coordinate"));
      c.type.push_back(
          index_of(c.types, species != nullptr ? std::string(words[species->first]) : "A"));
      if (velocity != nullptr) c.velocity.push_back(vector(*velocity, "a velocity"));
      if (image != nullptr) {
        Image crossings;
        for (int axis = 0; axis < 3; ++axis)
          crossings[axis] =
              std::int32_t(text_.integer(words[image->first + std::size_t(axis)], "an image"));
        c.image.push_back(crossings);
      }
      if (mass != nullptr) c.mass.push_back(real(*mass, 0, "a mass"));
      if (charge != nullptr) c.charge.push_back(real(*charge, 0, "a charge"));
      if (diameter != nullptr) c.diameter.push_back(real(*diameter, 0, "a diameter"));
      if (molecule != nullptr)
        c.topology.molecule.push_back(
            std::uint32_t(text_.integer(words[molecule->first], "a molecule")));
    }
  }

  std::string path_;
  TextLines text_;
  std::vector<TextLines::Place> places_;
};

class ExtendedXyzWriter : public FrameWriter {
 public:
  explicit ExtendedXyzWriter(const std::string& path) : out_(path) {}

  void write(const Frame& frame) override {
    const Configuration& c = frame.configuration;
    const auto e = c.box.edges();
    const auto flag = [&](std::size_t axis) { return c.box.periodic[axis] ? 'T' : 'F'; };
    std::string properties = "species:S:1:pos:R:3";
    if (!c.velocity.empty()) properties += ":velo:R:3";
    if (!c.image.empty()) properties += ":image:I:3";
    if (!c.mass.empty()) properties += ":mass:R:1";
    if (!c.charge.empty()) properties += ":charge:R:1";
    if (!c.diameter.empty()) properties += ":diameter:R:1";
    if (!c.topology.molecule.empty()) properties += ":molecule:I:1";
    out_.put(fmt::format(
        "{}\nLattice=\"{} {} {} {} {} {} {} {} {}\" Origin=\"{} {} {}\" pbc=\"{} {} {}\" "
        "Properties={} Step={} Time={}{}\n",
        c.position.size(), e[0].x, e[0].y, e[0].z, e[1].x, e[1].y, e[1].z, e[2].x, e[2].y, e[2].z,
        c.box.origin.x, c.box.origin.y, c.box.origin.z, flag(0), flag(1), flag(2), properties,
        c.step, frame.time, c.box.dimension == 2 ? " Dimension=2" : ""));
    for (std::size_t i = 0; i < c.position.size(); ++i) {
      const auto& r = c.position[i];
      std::string row = fmt::format("{} {} {} {}", c.types[c.type[i]], r.x, r.y, r.z);
      if (!c.velocity.empty()) {
        const auto& v = c.velocity[i];
        row += fmt::format(" {} {} {}", v.x, v.y, v.z);
      }
      if (!c.image.empty())
        row += fmt::format(" {} {} {}", c.image[i].x, c.image[i].y, c.image[i].z);
      if (!c.mass.empty()) row += fmt::format(" {}", c.mass[i]);
      if (!c.charge.empty()) row += fmt::format(" {}", c.charge[i]);
      if (!c.diameter.empty()) row += fmt::format(" {}", c.diameter[i]);
      if (!c.topology.molecule.empty()) row += fmt::format(" {}", c.topology.molecule[i]);
      out_.put(row + "\n");
    }
  }
  void finish() override { out_.close(); }

 private:
  TextFile out_;
};

}  // namespace

std::unique_ptr<FrameReader> open_extended_xyz(const std::string& path) {
  return std::make_unique<ExtendedXyzReader>(path);
}
std::unique_ptr<FrameWriter> write_extended_xyz(const std::string& path) {
  return std::make_unique<ExtendedXyzWriter>(path);
}

}  // namespace perrin::io
