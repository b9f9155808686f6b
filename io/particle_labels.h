// Names of particles in formats of fixed columns (PDB, GRO).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/system/configuration.h"

namespace perrin::io {

/// The residue that particles are said to be of: an unknown ligand.
inline constexpr const char* residue_name = "UNL";

/// As much of a type's name as fits into `width` columns.
std::string label_of(const std::string& type, std::size_t width);
/// What is lost of the names, a sentence each; `format`: "PDB".
std::vector<std::string> lost_labels(const Configuration& c, std::size_t width, const char* format);
/// 1 where molecules are counted from 0, else 0: residues are counted from 1.
std::uint32_t residue_offset(const Configuration& first);
/// The number of the particle's molecule, and `offset`, below `wrap`: then from 0 again. 1 without
/// molecules.
std::uint32_t residue_number(const Configuration& c, std::size_t particle, std::uint32_t offset,
                             std::uint32_t wrap);
/// Whether it is the symbol of a chemical element.
bool is_element(const std::string& name);

}  // namespace perrin::io
