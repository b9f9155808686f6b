#include "input_files.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "io/text_lines.h"
#include "mixing.h"
#include "moves.h"

namespace perrin::metropolis {
namespace {

using io::TextLines;

/// The numbers of a line, whatever separates them.
std::vector<std::string_view> fields(const std::string& line) {
  std::vector<std::string_view> list;
  const std::string_view all(line);
  constexpr const char* separators = " \t\r,;";
  for (std::size_t at = all.find_first_not_of(separators); at != std::string_view::npos;) {
    const std::size_t end = std::min(all.find_first_of(separators, at), all.size());
    list.push_back(all.substr(at, end - at));
    at = all.find_first_not_of(separators, end);
  }
  return list;
}

bool starts_number(std::string_view word) {
  return word.find_first_of("0123456789") == 0 ||
         (word.size() > 1 && (word[0] == '-' || word[0] == '+' || word[0] == '.'));
}

/// The next line with numbers: empty lines, comments and a header are passed over.
bool next_row(TextLines& lines, std::vector<std::string_view>& row) {
  while (lines.next()) {
    row = fields(lines.line());
    if (row.empty() || row[0][0] == '#' || !starts_number(row[0])) {
      if (!row.empty() && row[0][0] != '#' && lines.number() > 1)
        lines.fail(fmt::format("expected a line of numbers, got \"{}\"", lines.line()));
      continue;
    }
    return true;
  }
  return false;
}

struct AtomType {
  double sigma = 0, epsilon = -1, min_r = 0;
};

struct ModelFile {
  std::int64_t particles = -1, atoms = -1;
  std::optional<std::int64_t> passes;
  double temperature = 0;
  std::optional<double> translation, rotation;
  Vec3<double> box{};
  std::vector<AtomType> types;
};

/// "atom[3].sigma" → 3, "sigma".
bool atom_key(const std::string& key, std::size_t& index, std::string& what) {
  const std::size_t close = key.find("].");
  if (key.rfind("atom[", 0) != 0 || close == std::string::npos || close == 5) return false;
  const std::string digits = key.substr(5, close - 5);
  if (digits.size() > 6 || digits.find_first_not_of("0123456789") != std::string::npos)
    return false;
  index = std::stoul(digits);
  what = key.substr(close + 2);
  return true;
}

/// Reads the lines of model.txt.
class ModelReader {
 public:
  explicit ModelReader(const std::string& path) : path_(path), lines_(path) {}

  ModelFile read() {
    while (lines_.next()) {
      std::string text = lines_.line();
      for (const char* mark : {"#", "//"}) text = text.substr(0, text.find(mark));
      for (char& c : text)
        if (c == '=') c = ' ';
      words_ = fields(text);
      if (!words_.empty()) take(std::string(words_[0]));
    }
    check();
    return std::move(m_);
  }

 private:
  double real(double least, bool open) {
    const double x = lines_.real(words_[1], std::string(words_[0]));
    if (x < least || (open && x == least))
      lines_.fail(fmt::format("{}: must be {} {:g}, got {}", words_[0], open ? "above" : "at least",
                              least, words_[1]));
    return x;
  }
  double positive() { return real(0, true); }
  double not_negative() { return real(0, false); }
  std::int64_t count(std::int64_t least) {
    const std::int64_t n = lines_.integer(words_[1], std::string(words_[0]));
    if (n < least) lines_.fail(fmt::format("{}: must be at least {}, got {}", words_[0], least, n));
    return n;
  }

  void take(const std::string& key) {
    if (words_.size() < 2) lines_.fail(fmt::format("{}: a value is missing", key));
    if (!seen_.emplace(key, lines_.number()).second)
      lines_.fail(fmt::format("{} is already given in line {}", key, seen_[key]));
    if (words_.size() > 2 && key != "box")
      lines_.fail(
          fmt::format("{}: expected one value (and a point, not a comma, before decimals)", key));
    if (key == "n_particles") {
      m_.particles = count(1);
    } else if (key == "n_atoms") {
      m_.atoms = count(1);
    } else if (key == "n_atom_types") {
      types_ = count(1);
    } else if (key == "n_mc_passes") {
      m_.passes = count(0);
    } else if (key == "temp") {
      m_.temperature = positive();
    } else if (key == "mcmove_tran") {
      m_.translation = not_negative();
    } else if (key == "mcmove_rot") {
      m_.rotation = not_negative();
      if (*m_.rotation > 3.1415926535897931)
        lines_.fail(fmt::format("mcmove_rot: must be at most pi (radians), got {}", words_[1]));
    } else if (key == "box") {
      take_box();
    } else if (!take_type(key)) {
      lines_.fail(fmt::format(
          "unknown key \"{}\", expected n_particles, n_atoms, n_atom_types, n_mc_passes, temp, "
          "box, mcmove_tran, mcmove_rot or atom[i].sigma, .epsilon, .min_r",
          key));
    }
  }

  void take_box() {
    if (words_.size() != 2 && words_.size() != 4)
      lines_.fail("box: must be one edge or three, in Å");
    m_.box.x = m_.box.y = m_.box.z = positive();
    if (words_.size() == 4) m_.box.y = lines_.real(words_[2], "box");
    if (words_.size() == 4) m_.box.z = lines_.real(words_[3], "box");
    if (!(m_.box.y > 0 && m_.box.z > 0)) lines_.fail("box: edges must be positive");
  }

  bool take_type(const std::string& key) {
    std::size_t index = 0;
    std::string what;
    if (!atom_key(key, index, what)) return false;
    if (m_.types.size() <= index) m_.types.resize(index + 1);
    if (what == "sigma")
      m_.types[index].sigma = positive();
    else if (what == "epsilon")
      m_.types[index].epsilon = not_negative();
    else if (what == "min_r")
      m_.types[index].min_r = not_negative();
    else
      lines_.fail(fmt::format("{}: expected sigma, epsilon or min_r", key));
    return true;
  }

  void check() const {
    for (const char* key : {"n_particles", "n_atoms", "n_atom_types", "temp", "box"})
      if (seen_.count(key) == 0) throw UserError(fmt::format("{}: {} is missing", path_, key));
    if (std::int64_t(m_.types.size()) != types_)
      throw UserError(fmt::format("{}: n_atom_types is {}, but the last atom type is atom[{}]",
                                  path_, types_, std::int64_t(m_.types.size()) - 1));
    for (std::size_t i = 0; i < m_.types.size(); ++i)
      if (m_.types[i].sigma <= 0 || m_.types[i].epsilon < 0)
        throw UserError(fmt::format("{}: atom[{}].sigma or .epsilon is missing", path_, i));
  }

  std::string path_;
  TextLines lines_;
  std::vector<std::string_view> words_;  // of the line
  ModelFile m_;
  std::map<std::string, std::int64_t> seen_;  // key → line
  std::int64_t types_ = -1;
};

struct AtomRow {
  std::uint32_t type;
  Vec3<double> global, local;
  std::int64_t line;
};

std::vector<AtomRow> read_atoms(const std::string& path, const ModelFile& m) {
  TextLines lines(path);
  std::vector<AtomRow> atoms;
  std::vector<std::string_view> row;
  while (next_row(lines, row)) {
    if (row.size() != 7)
      lines.fail(fmt::format("expected type, 3 coordinates, 3 local coordinates, got {} values",
                             row.size()));
    const std::int64_t type = lines.integer(row[0], "type");
    if (type < 0 || type >= std::int64_t(m.types.size()))
      lines.fail(fmt::format("type: must be 0 to {}, got {}", m.types.size() - 1, type));
    const auto x = [&](std::size_t k) { return lines.real(row[k], "coordinate"); };
    atoms.push_back({std::uint32_t(type), {x(1), x(2), x(3)}, {x(4), x(5), x(6)}, lines.number()});
  }
  if (std::int64_t(atoms.size()) != m.atoms)
    throw UserError(
        fmt::format("{}: has {} atoms, but n_atoms is {}", path, atoms.size(), m.atoms));
  return atoms;
}

/// How far sites are from where centre and orientation put them, at most.
double mismatch(const Quaternion& q, const Vec3<double>& centre, const AtomRow* atoms,
                std::size_t n, const Vec3<double>& box) {
  double worst = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const Vec3<double> r = rotate(q, atoms[k].local);
    const double d[3] = {centre.x + r.x - atoms[k].global.x, centre.y + r.y - atoms[k].global.y,
                         centre.z + r.z - atoms[k].global.z};
    for (int a = 0; a < 3; ++a)
      worst = std::max(worst, std::abs(d[a] - box[a] * std::nearbyint(d[a] / box[a])));
  }
  return worst;
}

std::uint32_t template_of(Model& model, const AtomRow* atoms, std::size_t n) {
  for (std::size_t t = 0; t < model.templates.size(); ++t) {
    const auto& sites = model.templates[t].sites;
    bool same = sites.size() == n;
    for (std::size_t k = 0; same && k < n; ++k) {
      const Vec3<double> d = sites[k].at - atoms[k].local;
      same = sites[k].type == atoms[k].type && dot(d, d) < 1e-12;
    }
    if (same) return std::uint32_t(t);
  }
  MoleculeTemplate t{fmt::format("molecule{}", model.templates.size()), {}};
  for (std::size_t k = 0; k < n; ++k) t.sites.push_back({atoms[k].type, atoms[k].local});
  model.templates.push_back(std::move(t));
  return std::uint32_t(model.templates.size() - 1);
}

/// Model and what else model.txt says.
FileModel described(const ModelFile& m, const std::string& mixing) {
  FileModel result;
  Model& model = result.model;
  model.box = m.box;
  result.temperature = m.temperature;
  result.cycles = m.passes;
  result.translation = m.translation;
  result.rotation = m.rotation;
  std::vector<std::optional<PairParameters>> like;
  for (std::size_t i = 0; i < m.types.size(); ++i) {
    model.types.push_back(fmt::format("{}", i));
    like.push_back(PairParameters{PairKind::lennard_jones, m.types[i].sigma, m.types[i].epsilon, 0,
                                  0, 2 * m.types[i].min_r});
  }
  for (std::size_t a = 0; a < like.size(); ++a)
    for (std::size_t b = 0; b < like.size(); ++b)
      model.pairs.push_back(a == b ? *like[a] : mix(*like[a], *like[b], mixing));
  return result;
}

/// The rotation in nine columns of a row. Some write the matrix by rows, some by columns: the atoms
/// tell.
Quaternion read_orientation(TextLines& lines, const std::vector<std::string_view>& row,
                            const Vec3<double>& centre, const AtomRow* own, std::size_t n,
                            const Vec3<double>& box) {
  double rows[9], columns[9];
  for (std::size_t k = 0; k < 9; ++k) {
    rows[k] = lines.real(row[5 + k], "orientation");
    columns[k % 3 * 3 + k / 3] = rows[k];
  }
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b) {
      double product = 0;
      for (std::size_t k = 0; k < 3; ++k) product += rows[3 * a + k] * rows[3 * b + k];
      if (std::abs(product - (a == b ? 1 : 0)) > 1e-3)
        lines.fail("orientation: must be a rotation matrix");
    }
  constexpr double tolerance = 0.01;  // Å
  const Quaternion by_rows = normalized(quaternion_of(rows));
  const double off = mismatch(by_rows, centre, own, n, box);
  if (off <= tolerance) return by_rows;
  const Quaternion by_columns = normalized(quaternion_of(columns));
  const double other = mismatch(by_columns, centre, own, n, box);
  if (other > tolerance)
    lines.fail(
        fmt::format("centre and orientation place an atom {:.3g} Å from its position in line {} of "
                    "the atoms' file",
                    std::min(off, other), own->line));
  return by_columns;
}

}  // namespace

Quaternion quaternion_of(const double (&m)[9]) {
  // The largest component first, so that no small number is divided by.
  const double trace = m[0] + m[4] + m[8];
  const double four[4] = {1 + trace, 1 + 2 * m[0] - trace, 1 + 2 * m[4] - trace,
                          1 + 2 * m[8] - trace};
  int largest = 0;
  for (int k = 1; k < 4; ++k)
    if (four[k] > four[largest]) largest = k;
  const double s = 2 * std::sqrt(four[largest]);
  const double zy = m[7] - m[5], xz = m[2] - m[6], yx = m[3] - m[1];
  const double xy = m[3] + m[1], zx = m[2] + m[6], yz = m[7] + m[5];
  switch (largest) {
    case 0:
      return {s / 4, zy / s, xz / s, yx / s};
    case 1:
      return {zy / s, s / 4, xy / s, zx / s};
    case 2:
      return {xz / s, xy / s, s / 4, yz / s};
    default:
      return {yx / s, zx / s, yz / s, s / 4};
  }
}

FileModel read_files(const InputFiles& files, const std::string& mixing) {
  const ModelFile m = ModelReader(files.model).read();
  const std::vector<AtomRow> atoms = read_atoms(files.atoms, m);
  FileModel result = described(m, mixing);
  TextLines lines(files.particles);
  std::vector<std::string_view> row;
  std::int64_t base = -1, expected = 0;
  while (next_row(lines, row)) {
    if (row.size() != 14)
      lines.fail(fmt::format(
          "expected first atom, number of atoms, 3 coordinates, 9 of the orientation, got {} "
          "values",
          row.size()));
    std::int64_t first = lines.integer(row[0], "first atom");
    if (base < 0) {
      if (first != 0 && first != 1) lines.fail("first atom: must be 0 (or 1) in the first line");
      base = first;
    }
    first -= base;
    const std::int64_t n = lines.integer(row[1], "number of atoms");
    if (first != expected)
      lines.fail(fmt::format("first atom: must be {} (the atoms follow one another), got {}",
                             expected + base, first + base));
    if (n < 1 || first + n > std::int64_t(atoms.size()))
      lines.fail(fmt::format("number of atoms: must be 1 to {}, got {}",
                             std::int64_t(atoms.size()) - first, n));
    expected = first + n;
    const Vec3<double> centre{lines.real(row[2], "centre"), lines.real(row[3], "centre"),
                              lines.real(row[4], "centre")};
    const AtomRow* own = atoms.data() + first;
    const std::size_t sites = std::size_t(n);
    result.start.orientation.push_back(read_orientation(lines, row, centre, own, sites, m.box));
    result.start.centre.push_back(centre);
    result.model.molecule.push_back(template_of(result.model, own, sites));
  }
  if (std::int64_t(result.model.molecule.size()) != m.particles)
    throw UserError(fmt::format("{}: has {} molecules, but n_particles is {}", files.particles,
                                result.model.molecule.size(), m.particles));
  if (expected != std::int64_t(atoms.size()))
    throw UserError(fmt::format("{}: the molecules have {} atoms, but n_atoms is {}",
                                files.particles, expected, m.atoms));
  return result;
}

}  // namespace perrin::metropolis
