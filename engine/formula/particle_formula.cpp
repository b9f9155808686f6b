#include "engine/formula/particle_formula.h"

#include <fmt/format.h>

#include "engine/base/error.h"
#include "engine/system/attribute.h"

namespace perrin {

ParticleFormula::ParticleFormula(const std::string& text)
    : formula_(formula::parse(text, {"x", "y", "z"})) {}

std::vector<double> ParticleFormula::values(const Configuration& c) const {
  std::vector<std::vector<double>> columns;
  for (const std::string& name : names()) {
    auto column = attribute_of(c, name);
    if (!column) throw UserError(no_attribute(c, name));
    columns.push_back(std::move(*column));
  }
  std::vector<double> values;
  values.reserve(c.position.size());
  std::map<std::string, double> now;
  for (std::size_t id = 0; id < c.position.size(); ++id) {
    now["x"] = c.position[id].x, now["y"] = c.position[id].y, now["z"] = c.position[id].z;
    for (std::size_t k = 0; k < columns.size(); ++k) now[names()[k]] = columns[k][id];
    values.push_back(formula::evaluate(formula_.value, now));
  }
  return values;
}

}  // namespace perrin
