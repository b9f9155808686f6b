#include "forces/external.h"

#include <fmt/format.h>

#include "engine/components/setup.h"

namespace perrin {

Anchor::Anchor(const Box& box, Vec3<double> point, bool unwrapped) {
  const Vec3<double> s = box.fraction(point);
  const auto fixed = [&](int axis) {
    const auto k = static_cast<std::size_t>(axis);
    nearest_[k] = box.periodic[k] && !unwrapped;
    const double padding = box.periodic[k] ? 0 : box.padding[axis];
    return static_cast<std::int64_t>(
        std::nearbyint((s[axis] + padding) / (1 + 2 * padding) * 4294967296.0));
  };
  x_ = fixed(0), y_ = fixed(1), z_ = fixed(2);
}

TypeMask::TypeMask(const Device& device, std::size_t types,
                   const std::vector<std::uint32_t>& chosen)
    : host_(types, chosen.empty() ? 1 : 0) {
  for (const auto t : chosen) host_.at(t) = 1;
  mask_ = Buffer<std::uint32_t>(device, host_);
}

std::int64_t TypeMask::count(std::span<const std::int64_t> particles) const {
  std::int64_t n = 0;
  for (std::size_t t = 0; t < host_.size(); ++t)
    if (host_[t]) n += particles[t];
  return n;
}

std::vector<std::uint32_t> chosen_types(Setup& setup, const std::vector<std::string>& names) {
  std::vector<std::uint32_t> types;
  for (std::size_t k = 0; k < names.size(); ++k)
    types.push_back(setup.type_index(names[k], fmt::format("types[{}]", k)));
  return types;
}

}  // namespace perrin
