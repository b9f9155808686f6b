#include "neighbor/per_particle.h"

#include <algorithm>

#include "engine/domain/reduction.h"

namespace perrin {
namespace {

struct CountEntry {
  const std::uint32_t* count;
  PERRIN_HD double operator()(std::int64_t i) const { return double(count[i]); }
};

}  // namespace

double mean_entries(const Particles& particles, const Buffer<std::uint32_t>& count) {
  const std::int64_t n = particles.size();
  return sum<double>(particles.device(), "count entries", n, CountEntry{count.data()}) /
         double(std::max<std::int64_t>(n, 1));
}

std::vector<Real> squared_reaches(const TraversalInput& input) {
  const Ranges reaches = input.reaches();
  const std::size_t types = input.crowding.by_type.size();
  std::vector<Real> squares;
  for (std::size_t a = 0; a < types; ++a)
    for (std::size_t b = 0; b < types; ++b) squares.push_back(Real(reaches(a, b) * reaches(a, b)));
  return squares;
}

}  // namespace perrin
