// `perrin examples`: lists the examples that come with Perrin, or copies one to start from.
#pragma once

#include <string>

namespace perrin {

/// Without a name: the list. A name may be any part of one example's ("01", "melt"). `folder`:
/// where the copy goes, by default a new folder of the example's name here. Nothing is overwritten.
/// Throws UserError.
void examples_command(const std::string& name, const std::string& folder);

}  // namespace perrin
