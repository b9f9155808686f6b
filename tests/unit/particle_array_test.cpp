// Arrays that follow particles: when memory is reordered, when it is saved, and from process to
// process (under mpirun -np N, and alone).
#include "engine/system/particle_array.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <string>

#include "engine/communicator/communicator.h"
#include "engine/device/parallel.h"
#include "engine/domain/decomposition.h"
#include "neighbor/clusters/clusters.h"
#include "tests/devices.h"
#include "tests/processes_main.h"

namespace perrin {
namespace {

constexpr std::int64_t n = 1000;

struct Pair {  // more than one word
  std::uint32_t id, twice;
};

Configuration somewhere() {
  Configuration c;
  c.box = Box{{10, 10, 10}};
  c.types = {"A"};
  std::mt19937 generator(3);
  std::uniform_real_distribution<double> uniform(0, 10);
  for (std::int64_t i = 0; i < n; ++i) {
    c.position.push_back({uniform(generator), uniform(generator), uniform(generator)});
    c.type.push_back(0);
  }
  return c;
}

std::vector<std::uint32_t> shuffled(unsigned seed) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  return order;
}

void reorder(Particles& particles, unsigned seed) {
  particles.memory_order().reorder(Buffer<std::uint32_t>(particles.device(), shuffled(seed)));
}

/// Of its own particles a process sets these, as steps do.
struct SetElements {
  const std::uint32_t* id;
  Pair* by_memory;
  double *by_id, *by_place;
  PERRIN_HD void operator()(std::int64_t i) const {
    by_memory[i] = {id[i], 2 * id[i]};
    by_id[id[i]] = 0.5 * double(id[i]);
    by_place[i] = double(i);
  }
};

class ParticleArrayTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    particles_.emplace(distributed(device(), n), somewhere());
    by_memory_ = {*particles_, IndexedBy::memory};
    by_id_ = {*particles_, IndexedBy::id};
    by_place_ = {*particles_, IndexedBy::place};
  }
  void set_own() {
    for_each(
        particles_->device(), "set elements", particles_->share(),
        SetElements{particles_->id().data(), by_memory_.data(), by_id_.data(), by_place_.data()});
  }
  /// What all processes together have set (set_own()).
  void expect_elements() const {
    const auto ids = particles_->id().to_host();
    const auto by_memory = by_memory_.to_host();
    const auto by_id = by_id_.to_host(), by_place = by_place_.to_host();
    for (std::size_t i = 0; i < std::size_t(n); ++i) {
      ASSERT_EQ(by_memory[i].id, ids[i]);
      ASSERT_EQ(by_memory[i].twice, 2 * ids[i]);
      ASSERT_EQ(by_id[i], 0.5 * double(i));
      ASSERT_EQ(by_place[i], double(i));
    }
  }
  std::optional<Particles> particles_;
  ParticleArray<Pair> by_memory_;
  ParticleArray<double> by_id_, by_place_;
};

TEST_P(ParticleArrayTest, BeginsWithZeros) {
  for (const double x : by_id_.to_host()) ASSERT_EQ(x, 0);
  for (const Pair& x : by_memory_.to_host()) ASSERT_EQ(x.twice, 0u);
  const ParticleArray<double> none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.size(), 0);
  EXPECT_EQ(none.data(), nullptr);
}

/// Every process is given what the others have set for their particles.
TEST_P(ParticleArrayTest, IsGatheredWithTheParticles) {
  reorder(*particles_, 1);
  set_own();
  particles_->domain().gather(true);
  expect_elements();
}

TEST_P(ParticleArrayTest, FollowsReorderedMemory) {
  set_own();
  particles_->domain().gather(true);
  for (unsigned k = 0; k < 3; ++k) {
    reorder(*particles_, k);
    expect_elements();
  }
}

TEST_P(ParticleArrayTest, FollowsWhileItLives) {
  EXPECT_TRUE(particles_->extra().any(IndexedBy::memory));
  const Pair* const data = by_memory_.data();
  ParticleArray<Pair> moved = std::move(by_memory_);
  by_memory_ = std::move(moved);
  EXPECT_EQ(by_memory_.data(), data);
  set_own();
  particles_->domain().gather(true);
  reorder(*particles_, 5);
  expect_elements();
  by_memory_ = {};
  EXPECT_FALSE(particles_->extra().any(IndexedBy::memory));
  EXPECT_TRUE(particles_->extra().any(IndexedBy::id));
  reorder(*particles_, 6);  // writes to no memory that is gone
}

/// Each of several processes sorts its own particles: elements go where their particles go.
TEST_P(ParticleArrayTest, MigratesBetweenProcesses) {
  if (device().is_cuda()) GTEST_SKIP() << "cluster lists are for the CPU";
  Particles& p = *particles_;
  p.domain().require({GhostNeeds::Positions::neighbors, false}, p.properties().topology, p.box());
  EXPECT_TRUE(p.domain().can_sort_locally());
  const auto ids = p.id().to_host();
  set_own();
  ClusterList list(p, 2.0, {});
  list.build();
  EXPECT_NE(p.id().to_host(), ids);
  const Share own = p.share();
  for (std::int64_t i = own.begin; i < own.end; ++i) {
    const std::uint32_t id = p.id().data()[i];
    ASSERT_EQ(by_memory_.data()[i].twice, 2 * id);
    ASSERT_EQ(by_id_.data()[id], 0.5 * double(id));
  }
  p.domain().set_sorts_locally(true);
  p.domain().gather(true);
  expect_elements();
}

/// The elements of another object: random streams keep theirs themselves.
TEST_P(ParticleArrayTest, MayKeepElementsElsewhere) {
  by_id_ = {};
  Buffer<double> elements(particles_->device(), n);
  const ParticleArray<double> array(*particles_, elements.data());
  EXPECT_EQ(array.data(), elements.data());
  for_each(
      particles_->device(), "set elements", particles_->share(),
      SetElements{particles_->id().data(), by_memory_.data(), elements.data(), by_place_.data()});
  particles_->domain().gather(true);
  const auto values = elements.to_host();
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], 0.5 * double(i));
}

/// A resumed run may have other places in memory before it is restored.
TEST_P(ParticleArrayTest, IsRestoredWhereItsParticlesAre) {
  reorder(*particles_, 7);
  set_own();
  particles_->domain().gather(true);
  const auto state = [this](Archive& archive) {
    by_memory_.state(archive, "memory");
    by_id_.state(archive, "id");
    by_place_.state(archive, "place");
  };
  Archive saved = Archive::saving();
  state(saved);
  reorder(*particles_, 8);
  by_memory_ = {*particles_, IndexedBy::memory};
  by_id_ = {*particles_, IndexedBy::id};
  by_place_ = {*particles_, IndexedBy::place};
  Archive restored = Archive::restoring(saved.records());
  state(restored);
  expect_elements();
}

TEST_P(ParticleArrayTest, RefusesAnotherNumberOfParticles) {
  for (const char* const name : {"id", "memory"}) {
    Archive saved = Archive::saving();
    std::vector<double> doubles(n - 1);
    std::vector<Pair> pairs(n - 1);
    if (std::string(name) == "id")
      saved(name, doubles);
    else
      saved(name, pairs);
    Archive restored = Archive::restoring(saved.records());
    try {
      std::string(name) == "id" ? by_id_.state(restored, name) : by_memory_.state(restored, name);
      FAIL() << name;
    } catch (const UserError& error) {
      EXPECT_EQ(std::string(error.what()),
                "\"" + std::string(name) +
                    "\" in the checkpoint is of 999 particles, the system has 1000");
    }
  }
}

PERRIN_INSTANTIATE_DEVICES(ParticleArrayTest);

}  // namespace
}  // namespace perrin

int main(int argc, char** argv) { return perrin::run_tests_of_processes(argc, argv); }
