// What shells and `man` know of the program: made from the command line's own description.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace perrin {

/// A completion script for bash: commands, their options, and `types` after `perrin help`.
std::string bash_completion(const CLI::App& app, const std::vector<std::string>& types);
/// The manual page, in troff's man macros.
std::string man_page(const CLI::App& app);

}  // namespace perrin
