// The head of a frame of a LAMMPS dump: step, box and names of columns, up to the rows
// (https://docs.lammps.org/dump.html, https://docs.lammps.org/Howto_triclinic.html).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/text_lines.h"
#include "io/turned_box.h"

namespace perrin::io {

struct DumpHead {
  std::int64_t step = 0, particles = 0;
  double time = 0;
  std::string units;             // a style of LAMMPS; empty: not said in this frame
  TurnedBox box;                 // with its axes that are periodic
  std::array<bool, 3> shrunk{};  // wrapped around the particles along this axis ("ss", "fm")
  bool has_boundary = true;      // old dumps do not say what is periodic
  std::vector<std::string> columns;
};

/// Leaves `text` at the line ITEM: ATOMS; nothing where only blank lines are left. Throws
/// UserError.
std::optional<DumpHead> read_dump_head(TextLines& text, const std::string& path);

}  // namespace perrin::io
