// `perrin new-plugin`: writes the folder of a plug-in to start from.
#pragma once

#include <string>
#include <vector>

namespace perrin {

/// What plug-ins it can begin, in the order of help; the folders of templates/.
const std::vector<std::string>& plugin_kinds();

/// Copies the template of the kind, with the plug-in's name in it, into a new folder (empty: of the
/// name, here) and prints how it is built and run. `taken`: types that exist. Throws UserError,
/// having written nothing, where a word is wrong or the folder exists.
void new_plugin_command(const std::string& kind, const std::string& name, const std::string& folder,
                        const std::vector<std::string>& taken);

}  // namespace perrin
