// Attributes of particles as kernels read them.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "engine/components/setup.h"
#include "engine/components/step_context.h"
#include "engine/device/parallel.h"
#include "engine/system/attribute.h"

namespace perrin {

/// Up to four attributes of each particle in one word.
struct AttributeView {
  const Real4* by_id;
  const std::uint32_t* id;  // [place in memory]
  const Real4* in_memory;   // [place in memory]; on the CPU

  PERRIN_HD Real4 operator()(std::uint32_t i) const {
#ifdef __CUDA_ARCH__
    return by_id[id[i]];
#else  // number by number: a loop over neighbours gathers them in vectors
    const Real* const words = reinterpret_cast<const Real*>(in_memory);
    return {words[4 * std::size_t(i)], words[4 * std::size_t(i) + 1], words[4 * std::size_t(i) + 2],
            words[4 * std::size_t(i) + 3]};
#endif
  }
};

namespace detail {
struct ToMemoryOrder {
  const Real4* by_id;
  const std::uint32_t* id;
  Real4* in_memory;
  PERRIN_HD void operator()(std::int64_t i) const { in_memory[i] = by_id[id[i]]; }
};
}  // namespace detail

class AttributeWords {
 public:
  static constexpr std::size_t most = 4;

  /// Reports at `key` attributes that the system does not have.
  AttributeWords(const std::vector<std::string>& names, const std::string& key, Setup& setup) {
    const Configuration& c = setup.configuration();
    PERRIN_ASSERT(names.size() <= most);
    values_.assign(c.position.size(), {});
    for (std::size_t k = 0; k < names.size(); ++k) {
      const auto column = attribute_of(c, names[k]);
      if (!column) {
        setup.error(
            key, no_attribute(c, names[k]) + ", and no entry of the force gives it as a parameter");
        continue;
      }
      for (std::size_t id = 0; id < values_.size(); ++id) values_[id][k] = (*column)[id];
    }
    std::vector<Real4> words;
    for (const auto& v : values_) words.push_back({Real(v[0]), Real(v[1]), Real(v[2]), Real(v[3])});
    by_id_ = {setup.device(), std::span<const Real4>(words)};
    if (!setup.device().is_cuda()) in_memory_ = {setup.device(), std::int64_t(words.size())};
  }
  /// Of each particle, by id.
  const std::vector<std::array<double, most>>& values() const { return values_; }
  /// For the particles where they are now. Device work.
  AttributeView view(StepContext& s) {
    const std::uint32_t* const id = s.particles.id.data();
    if (!s.device().is_cuda())
      for_each(s.device(), "attributes", s.particles.size(),
               detail::ToMemoryOrder{by_id_.data(), id, in_memory_.data()});
    return {by_id_.data(), id, in_memory_.data()};
  }

 private:
  std::vector<std::array<double, most>> values_;
  Buffer<Real4> by_id_, in_memory_;
};

}  // namespace perrin
