// What this engine is, and where it and its plug-ins are.
#pragma once

#include <filesystem>
#include <vector>

namespace perrin {

/// Compiler, standard, CUDA version, precision, version of this engine.
const char* build_tag();
const char* engine_version();
/// The file that holds the engine: libperrin.so, or the program that it is linked into.
std::filesystem::path engine_library();
/// Folders of PERRIN_PLUGIN_PATH (':' between them), then that of the shipped plug-ins.
std::vector<std::filesystem::path> plugin_folders();

}  // namespace perrin
