// Attributes of particles in files: properties of extended XYZ, log/particles of GSD,
// /parameters/perrin/attributes of H5MD.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/system/configuration.h"

namespace perrin::io {

/// Takes what a file calls `what` as the attribute `name` of the particles. Where it can be none,
/// the warnings of `c` say so, and why.
void take_attribute(Configuration& c, const std::string& name, const std::string& what,
                    std::vector<double> values);
/// That warning.
void warn_unread(Configuration& c, const std::string& what, const std::string& why);
/// "the attributes a, b are left out"; empty where there are none.
std::string lost_attributes(const Configuration& c);
/// The name of an attribute that is not the same in both, `but` those; empty where all are.
std::string changed_attribute(const Configuration& a, const Configuration& b,
                              const std::set<std::string>& but);

}  // namespace perrin::io
