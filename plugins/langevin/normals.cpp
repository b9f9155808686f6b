#include "normals.h"

#include <type_traits>
#include <utility>

#include "engine/device/parallel.h"
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
  SourceOf(const StepContext& context, const NormalLaw& law, Purpose purpose, std::uint64_t seed)
      : law_(law),
        stream_(context.device(), purpose, seed, context.particles().size(), law.words()) {}

  void draw(StepContext& context, Real4* numbers) override {
    stream_.begin_step(context.device_step());
    const Share share = context.particles().share();
    for_each(context.device(), "normals", share.size(),
             DrawNormals<decltype(stream_.view())>{stream_.view(), law_, context.device_step(),
                                                   context.particles().view().id + share.begin,
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

DrawnNormals::DrawnNormals(const StepContext& context, const std::string& rng,
                           const std::string& scheme, const NormalLaw& law, Purpose purpose,
                           std::uint64_t seed)
    : numbers_(context.device(), context.particles().size()) {
  source_ = with_generator(rng, scheme, [&](auto type) -> std::unique_ptr<NormalSource> {
    using Stream = typename decltype(type)::type;
    return std::make_unique<SourceOf<Stream>>(context, law, purpose, seed);
  });
}

}  // namespace perrin::langevin
