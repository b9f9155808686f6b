#include "normals.h"

#include <type_traits>
#include <utility>

#include "engine/core/parallel.h"
#include "noise.h"

namespace perrin::langevin {
namespace {

template <class Noise>
struct DrawNormals {
  Noise noise;
  NormalLaw law;
  const std::uint64_t* step;
  const std::uint32_t* ids;
  Real4* numbers;

  PERRIN_HD void operator()(std::int64_t i) const {
    const std::uint32_t id = ids[i];
    auto g = noise.local(*step, id);
    numbers[id] = law.draw(g);
    noise.store(id, g);
  }
};

template <class Stream>
class SourceOf : public NormalSource {
 public:
  SourceOf(const Simulation& simulation, const NormalLaw& law, Purpose purpose, std::uint64_t seed)
      : law_(law),
        stream_(simulation.device(), purpose, seed, simulation.particles.size(), law.words()) {}

  void draw(Simulation& simulation, Real4* numbers) override {
    stream_.begin_step(simulation.device_step());
    const Share share = simulation.particles.share();
    for_each(simulation.device(), "normals", share.size(),
             DrawNormals<decltype(stream_.view())>{stream_.view(), law_, simulation.device_step(),
                                                   simulation.particles.view().id + share.begin,
                                                   numbers});
  }
  void check(std::uint64_t steps) const override { stream_.check(steps); }
  void state(Archive& archive) override { stream_.state(archive); }
  Buffer<std::uint32_t>& words() override {
    if constexpr (requires { stream_.words(); })
      return stream_.words();
    else
      return none_;
  }

 private:
  NormalLaw law_;
  Stream stream_;
  Buffer<std::uint32_t> none_;
};

}  // namespace

DrawnNormals::DrawnNormals(const Simulation& simulation, const std::string& rng,
                           const std::string& scheme, const NormalLaw& law, Purpose purpose,
                           std::uint64_t seed)
    : numbers_(simulation.device(), simulation.particles.size()) {
  source_ = with_generator(rng, scheme, [&](auto type) -> std::unique_ptr<NormalSource> {
    using Stream = typename decltype(type)::type;
    return std::make_unique<SourceOf<Stream>>(simulation, law, purpose, seed);
  });
}

}  // namespace perrin::langevin
