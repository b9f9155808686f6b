// What `perrin help` says of things that are no types: units, coordinates.
#pragma once

#include <string>
#include <vector>

namespace perrin {

/// The names of the topics.
std::vector<std::string> topic_names();
/// The text of one, or "" where there is none of that name.
std::string topic_text(const std::string& name);

}  // namespace perrin
