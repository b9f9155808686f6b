// The system "parts" and the parts that it can have.
#pragma once

namespace perrin {

class Registry;

namespace parts {
void register_parts(Registry& registry);
}

}  // namespace perrin
