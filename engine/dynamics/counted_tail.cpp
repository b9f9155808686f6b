#include "engine/dynamics/counted_tail.h"

namespace perrin {

/// One particle has n n = 1 pairs of this kind with itself, as in a sum over ordered pairs.
TailMatrix TailMatrix::of(const Box& box, std::size_t types,
                          const std::function<ForceCorrection(std::vector<std::uint32_t>)>& make) {
  TailMatrix tail{std::vector<double>(types * types), std::vector<double>(types * types)};
  const double volume = box.volume();
  for (std::uint32_t a = 0; a < types; ++a) {
    const ForceCorrection own = make({a});
    tail.energy[a * types + a] = own.energy * volume;
    tail.virial[a * types + a] = own.virial * volume;
  }
  for (std::uint32_t a = 0; a < types; ++a)
    for (std::uint32_t b = 0; b < a; ++b) {
      const ForceCorrection both = make({a, b});
      const auto half = [&](double all, const std::vector<double>& of) {
        return (all * volume - of[a * types + a] - of[b * types + b]) / 2;
      };
      tail.energy[a * types + b] = tail.energy[b * types + a] = half(both.energy, tail.energy);
      tail.virial[a * types + b] = tail.virial[b * types + a] = half(both.virial, tail.virial);
    }
  return tail;
}

ForceCorrection TailMatrix::correction(std::span<const std::int64_t> counts, double volume) const {
  ForceCorrection c;
  const std::size_t types = counts.size();
  for (std::size_t a = 0; a < types; ++a)
    for (std::size_t b = 0; b < types; ++b) {
      const double pairs = double(counts[a]) * double(counts[b]) / volume;
      c.energy += pairs * energy[a * types + b];
      c.virial += pairs * virial[a * types + b];
    }
  return c;
}

std::vector<std::int64_t> counts_of_types(const Configuration& c) {
  std::vector<std::int64_t> counts(c.types.size());
  for (const std::uint32_t type : c.type) ++counts[type];
  return counts;
}

std::unique_ptr<Force> with_counted_tail(
    std::unique_ptr<Force> force, const SetupContext& context,
    const std::function<std::unique_ptr<Force>(SetupContext&)>& make) {
  const Configuration& c = *context.configuration;
  const auto of = [&](std::vector<std::uint32_t> types) -> ForceCorrection {
    Configuration few;
    few.box = c.box, few.types = c.types;
    few.position.resize(types.size());
    few.type = std::move(types);
    SetupContext setup = context;
    setup.configuration = &few;
    setup.warn = nullptr;  // what is to be said was said
    const std::unique_ptr<Force> other = make(setup);
    return other ? other->correction(c.box) : ForceCorrection{};
  };
  TailMatrix tail = TailMatrix::of(c.box, c.types.size(), of);
  return std::make_unique<CountedTail>(std::move(force), std::move(tail), counts_of_types(c));
}

}  // namespace perrin
