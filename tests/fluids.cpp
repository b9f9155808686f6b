#include "tests/fluids.h"

#include <cmath>
#include <random>

#include "forces/pair_force.h"
#include "forces/potentials/lennard_jones.h"

namespace perrin {

void draw_velocities(Particles& particles, double kt, std::mt19937_64& generator) {
  std::normal_distribution<double> normal;
  auto velocity = particles.velocity().to_host();
  Vec3<double> momentum{};
  double mass = 0;
  for (Real4& v : velocity) {
    const double m = 1 / double(v.w), s = std::sqrt(kt / m);
    v.x = Real(s * normal(generator)), v.y = Real(s * normal(generator));
    v.z = particles.box().dimension == 2 ? Real(0) : Real(s * normal(generator));
    momentum += m * Vec3<double>{double(v.x), double(v.y), double(v.z)};
    mass += m;
  }
  const Vec3<double> mean = (1 / mass) * momentum;
  for (Real4& v : velocity) v.x -= Real(mean.x), v.y -= Real(mean.y), v.z -= Real(mean.z);
  particles.velocity().assign(velocity);
}

Configuration fcc(int cells, double rho) {
  Configuration c;
  const double a = std::cbrt(4 / rho), length = a * cells;
  c.box.length = {length, length, length};
  c.box.origin = {-length / 2, -length / 2, -length / 2};
  c.types = {"A"};
  const double basis[4][3] = {
      {0.25, 0.25, 0.25}, {0.75, 0.75, 0.25}, {0.75, 0.25, 0.75}, {0.25, 0.75, 0.75}};
  for (int z = 0; z < cells; ++z)
    for (int y = 0; y < cells; ++y)
      for (int x = 0; x < cells; ++x)
        for (const auto& b : basis)
          c.position.push_back(c.box.origin + a * Vec3<double>{x + b[0], y + b[1], z + b[2]});
  c.type.assign(c.position.size(), 0);
  return c;
}

void thermalize(Configuration& c, double temperature, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal(0, std::sqrt(temperature));
  Vec3<double> mean{};
  c.velocity.resize(c.position.size());
  for (auto& v : c.velocity) {
    v = {normal(generator), normal(generator), c.box.dimension == 3 ? normal(generator) : 0};
    mean += v;
  }
  for (auto& v : c.velocity) v -= (1.0 / double(c.velocity.size())) * mean;
}

Forces lennard_jones(const Device& device, double cutoff, const std::string& truncation) {
  return lennard_jones(device, std::vector<LennardJonesPair>{{1, cutoff}}, cutoff, truncation);
}

Forces lennard_jones(const Device& device, const std::vector<LennardJonesPair>& pairs,
                     const Ranges& listed, const std::string& truncation) {
  const auto types = std::uint32_t(std::lround(std::sqrt(double(pairs.size()))));
  const auto make = [&]<class Mode>() {
    using E = Truncated<LennardJones, Mode>;
    std::vector<typename E::Coefficients> table;
    for (const LennardJonesPair& pair : pairs)
      table.push_back(E::coefficients({1, pair.sigma}, {pair.cutoff, 0}));
    Forces forces;
    forces.push_back(
        std::make_unique<detail::PairForceField<E>>(device, table, types, listed, detail::Tail{}));
    return forces;
  };
  PERRIN_ASSERT(truncation == PlainCut::name || truncation == ForceShift::name);
  return truncation == PlainCut::name ? make.operator()<PlainCut>() : make.operator()<ForceShift>();
}

}  // namespace perrin
