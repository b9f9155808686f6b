#include "ways.h"

#include "engine/device/parallel.h"
#include "engine/domain/reduction.h"

namespace perrin::analysis {
namespace {

/// The unwrapped position of a particle in memory, in fixed-point units, or its velocity.
struct PlaceOrVelocity {
  ConstParticleView p;
  Lengths units;
  bool velocity;
  PERRIN_HD Vec3<double> operator()(std::int64_t i) const {
    if (!velocity) return units.unwrapped(p.position[i], p.image[i]);
    const Real4 v = p.velocity[i];
    return {double(v.x), double(v.y), double(v.z)};
  }
};

struct Weigh {
  PlaceOrVelocity value;
  PERRIN_HD Followed::Sum operator()(std::int64_t i) const {
    const double m = 1 / double(value.p.velocity[i].w);
    return {m, m * value(i)};
  }
};

struct Gather {
  PlaceOrVelocity value;
  const std::uint32_t* ids;
  Vec3<double>* values;
  PERRIN_HD void operator()(std::int64_t k) const { values[k] = value(value.p.index[ids[k]]); }
};

/// Of all particles that are followed, or none.
void archive_vectors(Archive& archive, const char* name, std::vector<Vec3<double>>& vectors,
                     std::int64_t particles) {
  std::vector<double> numbers;
  for (const Vec3<double>& v : vectors) numbers.insert(numbers.end(), {v.x, v.y, v.z});
  archive(name, numbers);
  archive.require(numbers.empty() || std::int64_t(numbers.size()) == 3 * particles, name,
                  "three numbers of each particle that is followed");
  vectors.resize(numbers.size() / 3);
  for (std::size_t k = 0; k < vectors.size(); ++k)
    vectors[k] = {numbers[3 * k], numbers[3 * k + 1], numbers[3 * k + 2]};
}

}  // namespace

const std::vector<Vec3<double>>& Ways::follow(const Particles& particles,
                                              const std::vector<Vec3<double>>& places) {
  moved_ = moved_ || particles.box_state().moves();
  const Lengths lengths(particles.box());
  const bool begins = !moved_ || last_.empty();
  way_.resize(places.size());
  for (std::size_t k = 0; k < places.size(); ++k) {
    const Vec3<double> step = begins ? places[k] : places[k] - last_[k];
    const Vec3<double> moves = lengths.vector(step.x, step.y, step.z);
    way_[k] = begins ? moves : way_[k] + moves;
  }
  last_ = places;
  return way_;
}

void Ways::state(Archive& archive, std::int64_t count) {
  archive("moved", moved_);
  archive_vectors(archive, "last", last_, count);
  archive_vectors(archive, "way", way_, count);
}

Followed::Followed(const Device& device, const std::vector<std::uint32_t>& ids)
    : ids_(device, std::span<const std::uint32_t>(ids)),
      values_(device, std::int64_t(ids.size())),
      scratch_(device, sum_chunks + 1) {}

std::vector<Vec3<double>> Followed::measure(const Particles& particles, const Device& device,
                                            bool velocity, bool drift) {
  const PlaceOrVelocity value{particles.view(), Lengths::units(), velocity};
  Vec3<double> common{};
  if (drift) {
    sum<Sum>(device, "drift", particles.size(), Weigh{value}, scratch_,
             scratch_.data() + sum_chunks);
    const Sum all = scratch_.to_host(sum_chunks);
    common = (1 / all.mass) * all.moment;
  }
  for_each(device, "correlation", ids_.size(), Gather{value, ids_.data(), values_.data()});
  std::vector<Vec3<double>> values = values_.to_host();
  for (Vec3<double>& v : values) v -= common;
  return values;
}

}  // namespace perrin::analysis
