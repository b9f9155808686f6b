// Writes PDB files: positions in Angstrom in columns, a MODEL for each frame, and bonds
// (Protein Data Bank contents guide, version 3.30).
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "io/cell_angles.h"
#include "io/corner_frame.h"
#include "io/formats.h"
#include "io/particle_labels.h"
#include "io/text_file.h"

namespace perrin::io {
namespace {

constexpr std::size_t pdb_name_columns = 4, most_pdb_serial = 99999;

/// Every bond from both sides, sorted.
std::vector<std::pair<std::uint32_t, std::uint32_t>> pdb_bonds(const Configuration& c) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> both;
  for (const auto& bond : c.topology.bonds)
    both.emplace_back(bond.a, bond.b), both.emplace_back(bond.b, bond.a);
  std::ranges::sort(both);
  both.erase(std::unique(both.begin(), both.end()), both.end());
  return both;
}

/// A type's name where readers expect it: a symbol of two letters in the first two columns, others
/// from the second one on, where there is room.
std::string pdb_name(const std::string& type) {
  const std::string label = label_of(type, pdb_name_columns);
  const bool first = label.size() == pdb_name_columns || (label.size() == 2 && is_element(label));
  return fmt::format("{:<4}", first ? label : " " + label);
}

std::string pdb_element(const std::string& type) {
  if (!is_element(type)) return "  ";
  std::string symbol = type;
  for (char& letter : symbol) letter = char(std::toupper(static_cast<unsigned char>(letter)));
  return fmt::format("{:>2}", symbol);
}

class PdbWriter : public FrameWriter {
 public:
  PdbWriter(const std::string& path, const Frame& first, bool several)
      : path_(path),
        out_(path),
        several_(several),
        first_residue_(residue_offset(first.configuration)) {
    const Configuration& c = first.configuration;
    if (c.position.size() <= most_pdb_serial) bonds_ = pdb_bonds(c);
    line(fmt::format("TITLE     Perrin{}",
                     several ? "" : fmt::format(", t= {} step= {}", first.time, c.step)));
  }

  void write(const Frame& frame) override {
    const Configuration& c = frame.configuration;
    check_words(c.types, path_);
    const CornerFrame corner = corner_frame(frame, "Angstrom", path_);
    ++frames_;
    // Of every frame, before its MODEL, as GROMACS has it.
    write_box(c.box, factor_to(length_unit(frame), "Angstrom", path_));
    if (several_) line(fmt::format("MODEL     {:4}", frames_ % 10000));
    std::vector<std::string> names, elements;
    for (const std::string& type : c.types)
      names.push_back(pdb_name(type)), elements.push_back(pdb_element(type));
    for (std::size_t i = 0; i < c.position.size(); ++i) {
      std::string row = fmt::format("HETATM{:5} {} {:>3}  {:4}    ", serial(i), names[c.type[i]],
                                    residue_name, residue_number(c, i, first_residue_, 10000));
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double x = corner.position[3 * i + axis];
        row += column(x, 8, 3,
                      [&] { return fmt::format("coordinate {} of particle {}", "xyz"[axis], i); });
      }
      line(row + "  1.00  0.00          " + elements[c.type[i]] + "  ");
    }
    if (several_) line("ENDMDL");
    const bool few = c.position.size() <= most_pdb_serial;
    bonds_change_ = bonds_change_ || bonds_ != (few ? pdb_bonds(c) : decltype(bonds_)());
  }

  void finish() override {
    for (std::size_t k = 0; k < bonds_.size();) {
      const std::uint32_t from = bonds_[k].first;
      std::string row = fmt::format("CONECT{:5}", serial(from));
      for (int n = 0; n < 4 && k < bonds_.size() && bonds_[k].first == from; ++n, ++k)
        row += fmt::format("{:5}", serial(bonds_[k].second));
      line(row);
    }
    line("END");
    out_.close();
  }

  std::vector<std::string> lost_between() const override {
    if (!bonds_change_) return {};
    return {"bonds are not the same in all frames: CONECT has those of the first one"};
  }

 private:
  static std::size_t serial(std::size_t particle) { return (particle + 1) % (most_pdb_serial + 1); }
  void line(const std::string& text) { out_.put(text + "\n"); }

  template <class What>
  std::string column(double value, std::size_t width, int decimals, const What& what) const {
    std::string text = fmt::format("{:{}.{}f}", value, width, decimals);
    if (text.size() > width)
      throw UserError(
          fmt::format("{}: {} is {:g} Angstrom: expected what fits into the {} columns of PDB; GRO "
                      "and DCD have more",
                      path_, what(), value, width));
    return text;
  }

  void write_box(const Box& box, double length) {
    const CellAngles cell = cell_angles(box);
    std::string row = "CRYST1";
    for (int k = 0; k < 3; ++k)
      row += column(cell.length[k] * length, 9, 3,
                    [&] { return fmt::format("the edge {} of the box", "abc"[k]); });
    for (int k = 0; k < 3; ++k) row += fmt::format("{:7.2f}", angle_of(cell.cosine[k]));
    line(row + " P 1           1");
  }

  std::string path_;
  TextFile out_;
  bool several_, bonds_change_ = false;
  std::uint32_t first_residue_;
  std::int64_t frames_ = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> bonds_;  // of the first frame
};

std::vector<std::string> lost_in_pdb(const Frame& frame) {
  const Configuration& c = frame.configuration;
  std::vector<std::string> list{
      "everything but positions, box, types, molecules and bonds is left out"};
  if (!c.topology.bonds.empty() && c.position.size() > most_pdb_serial)
    list.push_back(
        fmt::format("bonds are left out: CONECT names particles below 100000, there are "
                    "{}",
                    c.position.size()));
  if (!c.id.empty()) list.emplace_back("ids of particles are left out: PDB counts from 1");
  for (auto& lost : lost_labels(c, pdb_name_columns, "PDB")) list.push_back(std::move(lost));
  return list;
}

}  // namespace

FileFormat pdb_format() {
  return {"pdb",
          {".pdb"},
          false,
          true,
          [](std::string_view head) {
            return head.starts_with("CRYST1") || head.starts_with("HEADER ") ||
                   head.starts_with("ATOM  ") || head.starts_with("HETATM") ||
                   head.starts_with("TITLE   ") || head.starts_with("REMARK  ");
          },
          nullptr,
          [](const std::string& path, const Frame& first,
             const WriteOptions& options) -> std::unique_ptr<FrameWriter> {
            return std::make_unique<PdbWriter>(path, first, options.frames > 1);
          },
          lost_in_pdb};
}

}  // namespace perrin::io
