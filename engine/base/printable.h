// Text that others have written, for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace perrin {

/// UTF-8 that a terminal shows and does not obey: control characters (but line breaks and tabs),
/// marks that turn the direction of writing, and bytes that are no UTF-8 are written as \u001b or
/// \xff.
std::string printable(std::string_view text);
/// The same of a name or a title: line breaks and tabs, too, are written as \n and \t.
std::string printable_line(std::string_view text);

}  // namespace perrin
