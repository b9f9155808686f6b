// What is wrong with the file of a plug-in, found out before anything in it runs.
#pragma once

#include <filesystem>

namespace perrin {

/// Throws UserError with one sentence where the file is cut off (the loader would end the program
/// with SIGBUS), or was built with other headers than this Perrin's (then its static objects may
/// not be trusted either). What is no ELF file at all is left for the loader to refuse.
void check_plugin_file(const std::filesystem::path& path);

}  // namespace perrin
