// What a user may have meant by a type that is not known: a type of a plug-in of Perrin's that was
// not built, a type of another kind, or a word that other programs have for it.
#pragma once

#include <string>

namespace perrin {

/// The plug-in of Perrin's own that has this type, built or not; nullptr: none.
const char* shipped_plugin(const std::string& kind, const std::string& type);
/// The same of any kind; nullptr: none.
const char* shipped_plugin(const std::string& type);
/// "Perrin's plug-in langevin has it, which is not loaded: …", with the command that builds it.
std::string not_built(const std::string& plugin);
/// What this word of the field is in a job of Perrin, or that there is none; nullptr: not known.
const char* other_name(const std::string& word);

}  // namespace perrin
