#include "placed_body.h"

#include <fmt/format.h>

#include "move.h"

namespace perrin::monte_carlo {

std::string misfit(const Box& box, double reach, const std::string& what,
                   const std::string& first) {
  const double width = least_height(box);
  if (2 * reach < width) return {};
  return fmt::format(
      "{} reaches {:.6g} from its {}, and the box is {:.6g} wide: expected a box more than twice "
      "as "
      "wide",
      what, reach, first, width);
}

}  // namespace perrin::monte_carlo
