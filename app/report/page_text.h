// The page without its data, made by CMake from the files in page/.
#pragma once

namespace perrin::report {

extern const char* const page_text;  // "@DATA@" stands for the data, as JSON

}  // namespace perrin::report
