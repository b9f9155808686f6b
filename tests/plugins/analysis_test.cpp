// The observers of the plug-in analysis against what is known of the configuration that they look
// at; their files are read back.
#include <cmath>
#include <complex>
#include <filesystem>
#include <random>

#include <unistd.h>

#include "engine/components/registry.h"
#include "engine/dynamics/observation.h"
#include "engine/dynamics/simulation.h"
#include "integrators/velocity_verlet.h"
#include "io/hdf5.h"
#include "io/writer.h"
#include "plugins/analysis/register.h"
#include "tests/devices.h"

namespace perrin {
namespace {

class AnalysisTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    folder_ = std::filesystem::temp_directory_path() /
              ("perrin-analysis-" + std::string(GetParam()) + "-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  std::unique_ptr<Observer> observer(const Configuration& c, const std::string& json) {
    Registry registry;
    register_analysis(registry);
    SetupContext context;
    context.configuration = &c;
    context.device = device();
    context.output_directory = folder_;
    context.overwrite = true;
    return make_component<Observer>(registry, json, context);
  }

  /// All rows of a series, one after another.
  std::vector<double> read(const std::string& file, const std::string& path) {
    return io::writer().get(
        [&] { return io::File::read((folder_ / file).string()).root().open(path).read<double>(); });
  }

  /// In units of mass and velocity: those of kilograms and atoms, or of stars.
  void check_profile(double mass_unit, double velocity_unit);

  std::filesystem::path folder_;
};

Configuration cube(double length, std::size_t n, unsigned seed) {
  Configuration c;
  c.box.length = {length, length, length};
  c.box.origin = -0.5 * c.box.length;
  c.types = {"A", "B"};
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> u(-length / 2, length / 2);
  std::normal_distribution<double> normal;
  for (std::size_t k = 0; k < n; ++k) {
    c.position.push_back({u(random), u(random), u(random)});
    c.velocity.push_back({normal(random), normal(random), normal(random)});
    c.type.push_back(k % 3 == 0);
    c.mass.push_back(k % 2 ? 1 : 2);
  }
  return c;
}

void AnalysisTest::check_profile(double mass_unit, double velocity_unit) {
  Configuration c = cube(6, 3000, 1);
  for (double& m : c.mass) m *= mass_unit;
  for (auto& v : c.velocity) v *= velocity_unit;
  auto profile = observer(c, R"({"type": "profile", "axis": "y", "bins": 4, "stride": 1,
      "rows_every": 2, "file": "p.h5", "types": ["A"]})");
  Simulation s(device(), c, {});
  // Nobody moves: the two samples of a row are the same.
  VelocityVerlet integrator({1e-15 / velocity_unit});
  const Observation seen(s);
  profile->begin(seen, false);
  integrator.begin(s);
  for (int step = 0; step < 2; ++step) {
    s.advance(integrator, 1);
    profile->observe(seen);
  }
  profile->end(seen);
  double count[4] = {}, mass[4] = {}, square[4] = {};
  Vec3<double> momentum[4];
  for (std::size_t k = 0; k < 3000; ++k) {
    if (c.type[k] != 0) continue;
    const auto b = std::size_t((c.position[k].y + 3) / 1.5);
    ++count[b];
    mass[b] += c.mass[k];
    momentum[b] += c.mass[k] * c.velocity[k];
    square[b] += c.mass[k] * dot(c.velocity[k], c.velocity[k]);
  }
  const auto at = read("p.h5", "observables/coordinate/value");
  const auto density = read("p.h5", "observables/density/value");
  const auto velocity = read("p.h5", "observables/velocity/value");
  const auto temperature = read("p.h5", "observables/temperature/value");
  ASSERT_EQ(density.size(), 4u);
  for (std::size_t b = 0; b < 4; ++b) {
    EXPECT_NEAR(at[b], -2.25 + 1.5 * double(b), 1e-12);
    EXPECT_NEAR(density[b], count[b] / (6 * 6 * 1.5), 1e-12);
    for (std::size_t a = 0; a < 3; ++a)
      EXPECT_NEAR(velocity[3 * b + a], momentum[b][int(a)] / mass[b], 1e-6 * velocity_unit);
    EXPECT_NEAR(temperature[b],
                (square[b] - dot(momentum[b], momentum[b]) / mass[b]) / (3 * count[b]),
                1e-5 * mass_unit * velocity_unit * velocity_unit);
  }
}

TEST_P(AnalysisTest, ProfileIsThatOfTheConfiguration) { check_profile(1, 1); }
TEST_P(AnalysisTest, ProfileOfTinyMasses) { check_profile(6.6e-26, 130); }
TEST_P(AnalysisTest, ProfileOfLargeMasses) { check_profile(1e20, 1e-6); }

TEST_P(AnalysisTest, StructureFactorIsTheExplicitSum) {
  for (const bool triclinic : {false, true}) {
    Configuration c = cube(5, 700, 2);
    if (triclinic) {
      c.box.xy = 1, c.box.xz = -0.5, c.box.yz = 0.7;
      for (auto& r : c.position) r = c.box.point((1 / 5.0) * (r + Vec3<double>{2.5, 2.5, 2.5}));
    }
    auto s_of_k = observer(c, R"({"type": "structure_factor", "k_max": 5, "stride": 1,
        "rows_every": 1, "file": "s.h5", "types": ["B"]})");
    Simulation s(device(), c, {});
    const Observation seen(s);
    s_of_k->begin(seen, false);
    s_of_k->observe(seen);
    s_of_k->end(seen);
    const auto value = read("s.h5", "observables/structure_factor/value");
    const auto k = read("s.h5", "parameters/perrin/wave_vectors");
    s_of_k.reset();
    ASSERT_EQ(k.size(), 3 * value.size());
    // Half of the lattice points in a sphere: 4 pi / 3 k³ V / (2 pi)³ / 2, without the origin.
    EXPECT_NEAR(double(value.size()), 2.0 / 3 * M_PI * 125 * 125 / std::pow(2 * M_PI, 3) - 0.5, 25);
    for (std::size_t v = 0; v < value.size(); ++v) {
      std::complex<double> sum = 0;
      double n = 0;
      for (std::size_t i = 0; i < c.position.size(); ++i) {
        if (c.type[i] != 1) continue;
        const Vec3<double> r = c.position[i] - c.box.origin;
        sum += std::polar(1.0, k[3 * v] * r.x + k[3 * v + 1] * r.y + k[3 * v + 2] * r.z);
        ++n;
      }
      EXPECT_NEAR(value[v], std::norm(sum) / n, 1e-4);
      EXPECT_LE(std::hypot(k[3 * v], k[3 * v + 1], k[3 * v + 2]), 5);
    }
  }
}

/// Straight chains of five beads, 0.8 apart, that cross the faces of the box: Rg² = b² (n² - 1) /
/// 12, Re² = b² (n - 1)².
TEST_P(AnalysisTest, ChainsAreMeasuredAlongTheirPath) {
  Configuration c = cube(4, 0, 3);
  const Vec3<double> direction{0.6, 0, 0.8};
  for (std::uint32_t m = 0; m < 20; ++m)
    for (std::uint32_t bead = 0; bead < 5; ++bead) {
      const Vec3<double> r = Vec3<double>{0.2 * m - 2, 1, 1} + (0.8 * bead) * direction;
      Vec3<double> wrapped = r;
      Image image;
      for (int a = 0; a < 3; ++a) {
        image[a] = std::int32_t(std::floor((r[a] + 2) / 4));
        wrapped[a] -= 4 * image[a];
      }
      c.position.push_back(wrapped);
      c.image.push_back(image);
      c.type.push_back(0);
      c.topology.molecule.push_back(m);
      if (bead > 0) c.topology.bonds.push_back({5 * m + bead - 1, 5 * m + bead, 0});
    }
  c.topology.bond_types = {"bond"};
  auto size = observer(c, R"({"type": "chain_size", "file": "c.h5"})");
  Simulation s(device(), c, {});
  const Observation seen(s);
  size->begin(seen, false);
  size->observe(seen);
  size->end(seen);
  EXPECT_NEAR(read("c.h5", "observables/radius_of_gyration_squared/value").at(0),
              0.64 * (25 - 1) / 12, 1e-6);
  EXPECT_NEAR(read("c.h5", "observables/end_to_end_squared/value").at(0), 0.64 * 16, 1e-6);
}

TEST_P(AnalysisTest, MistakesAreNamed) {
  const Configuration c = cube(5, 10, 4);
  const auto error = [&](const std::string& json) -> std::string {
    try {
      observer(c, json);
    } catch (const UserError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(error(R"({"type": "chain_size"})").find("needs molecules"), std::string::npos);
  EXPECT_NE(error(R"({"type": "structure_factor", "k_max": 0.1})").find("no wave vector"),
            std::string::npos);
  EXPECT_NE(error(R"({"type": "structure_factor", "k_max": 1e6})").find("too many"),
            std::string::npos);
  EXPECT_NE(error(R"({"type": "profile", "stride": 3})").find("multiple of stride"),
            std::string::npos);
  EXPECT_NE(error(R"({"type": "profile", "types": ["C"]})").find("C"), std::string::npos);
}

PERRIN_INSTANTIATE_DEVICES(AnalysisTest);

}  // namespace
}  // namespace perrin
