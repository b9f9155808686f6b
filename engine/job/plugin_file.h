// What is wrong with the file of a plug-in, found out before anything in it runs.
#pragma once

#include <filesystem>

namespace perrin {

/// Throws UserError with one sentence where the file is cut off (the loader would end the program
/// with SIGBUS), lacks the mark that every plug-in has (objects of any other library would run
/// their constructors), or was built with other headers than this Perrin's (then its static objects
/// may not be trusted either).
void check_plugin_file(const std::filesystem::path& path);

}  // namespace perrin
