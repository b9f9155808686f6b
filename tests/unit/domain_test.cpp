// Domain decomposition between processes that are threads of this test, one to eight of them: halo
// exchange on random graphs, migration, gathering, reduction, votes. CPU; kernels of GPUs are
// tested by whole runs (tests/robustness/bits.py --processes).
#include "engine/system/domain.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "engine/domain/decomposition.h"
#include "engine/domain/reduction.h"
#include "engine/system/particles.h"
#include "neighbor/clusters/clusters.h"
#include "tests/in_process.h"

namespace perrin {
namespace {

constexpr int counts[] = {1, 2, 3, 5, 8};

Device device_of(Communicator& communicator, std::int64_t n) {
  return distributed(Device::cpu(1), n, communicator);
}

struct Small {
  std::uint32_t of[4];
  bool operator==(const Small&) const = default;
};
struct Large {
  std::uint32_t of[8];
  bool operator==(const Large&) const = default;
};

template <class T>
T element(std::int64_t i, int round) {
  T made{};
  for (std::uint32_t k = 0; auto& word : made.of)
    word = std::uint32_t(i) * 2654435761u + 7919u * std::uint32_t(round) + k++;
  return made;
}

/// Who is sent what, of n elements: indices[from][to].
using Graph = std::vector<std::vector<std::vector<std::uint32_t>>>;

/// The same in every process: of each pair nothing, some of the share, or all of it.
Graph random_graph(const Decomposition& domain, std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  const auto processes = std::size_t(domain.count());
  Graph graph(processes, std::vector<std::vector<std::uint32_t>>(processes));
  for (std::size_t from = 0; from < processes; ++from)
    for (std::size_t to = 0; to < processes; ++to) {
      const unsigned chances = random() % 3;  // in halves
      const Share share = domain.share(n, int(from));
      for (std::int64_t i = share.begin; i < share.end && from != to; ++i)
        if (random() % 2 < chances) graph[from][to].push_back(std::uint32_t(i));
    }
  return graph;
}

/// The lists of one process.
struct Lists {
  Lists(const Graph& graph, std::size_t me, std::int64_t n)
      : send(graph.size() * std::size_t(n)), receive(send.size()), room(n) {
    for (std::size_t p = 0; p < graph.size(); ++p) {
      std::ranges::copy(graph[me][p], send.begin() + std::ptrdiff_t(p) * n);
      std::ranges::copy(graph[p][me], receive.begin() + std::ptrdiff_t(p) * n);
      send_count.push_back(std::uint32_t(graph[me][p].size()));
      receive_count.push_back(std::uint32_t(graph[p][me].size()));
    }
  }
  HaloPlan plan() const {
    return {send.data(), receive.data(), send_count.data(), receive_count.data(), room};
  }
  std::vector<std::uint32_t> send, receive, send_count, receive_count;
  std::int64_t room;
};

TEST(Domain, HaloExchangeOnRandomGraphs) {
  for (const int count : counts)
    for (const std::int64_t n : {3, 700, 2048})
      run_in_processes(count, [n](Communicator& communicator) {
        const Device device = device_of(communicator, n);
        Decomposition& domain = decomposition_of(device);
        const auto me = std::size_t(domain.own());
        const Share own = domain.share(n);
        for (unsigned seed = 0; seed < 4; ++seed) {
          const Graph graph = random_graph(domain, n, seed);
          const Lists lists(graph, me, n);
          const HaloPlan plan = lists.plan();
          std::vector<Small> small(std::size_t(n), Small{});
          std::vector<Large> large(std::size_t(n), Large{});
          for (int round = 1; round <= 2; ++round) {
            for (std::int64_t i = own.begin; i < own.end; ++i) {
              small[std::size_t(i)] = element<Small>(i, round);
              large[std::size_t(i)] = element<Large>(i, round);
            }
            const SharedArray arrays[] = {{small.data(), sizeof(Small), n},
                                          {large.data(), sizeof(Large), n}};
            domain.exchange(arrays, {}, &plan);
            std::vector<bool> here(std::size_t(n), false);
            for (std::int64_t i = own.begin; i < own.end; ++i) here[std::size_t(i)] = true;
            for (const auto& of_process : graph)
              for (const std::uint32_t i : of_process[me]) here[i] = true;
            for (std::size_t i = 0; i < std::size_t(n); ++i) {
              ASSERT_EQ(small[i], here[i] ? element<Small>(std::int64_t(i), round) : Small{});
              ASSERT_EQ(large[i], here[i] ? element<Large>(std::int64_t(i), round) : Large{});
            }
          }
        }
      });
}

TEST(Domain, GathersWholeArraysAndVotes) {
  for (const int count : counts)
    run_in_processes(count, [](Communicator& communicator) {
      constexpr std::int64_t n = 1003;
      const Device device = device_of(communicator, n);
      Decomposition& domain = decomposition_of(device);
      const Share own = domain.share(n);
      for (int round = 0; round < 4; ++round) {
        std::vector<Small> all(n, Small{});
        for (std::int64_t i = own.begin; i < own.end; ++i)
          all[std::size_t(i)] = element<Small>(i, round);
        // In round k process k alone raises the flag.
        std::uint32_t flag = round == domain.own(), progress = 0;
        const Votes votes{{&flag, 0}, &progress, std::uint32_t(round + 5)};
        const SharedArray array{all.data(), sizeof(Small), n};
        domain.exchange({&array, 1}, votes);
        for (std::size_t i = 0; i < all.size(); ++i)
          ASSERT_EQ(all[i], element<Small>(std::int64_t(i), round));
        EXPECT_EQ(flag, round < domain.count() ? 1u : 0u);
        EXPECT_EQ(progress, std::uint32_t(round + 5));
      }
    });
}

/// Shares follow one another, and are those of all elements.
TEST(Domain, EveryElementHasOneOwner) {
  for (const int count : counts)
    run_in_processes(count, [](Communicator& communicator) {
      const Device device = device_of(communicator, 1);
      for (const std::int64_t n : {0, 1, 7, 512, 513, 100'000}) {
        std::int64_t end = 0;
        for (int p = 0; p < communicator.count(); ++p) {
          const Share share = decomposition_of(device).share(n, p);
          EXPECT_EQ(share.begin, end);
          EXPECT_GE(share.size(), 0);
          end = share.end;
        }
        EXPECT_EQ(end, n);
      }
    });
}

TEST(Domain, DecidesTogether) {
  for (const int count : counts)
    run_in_processes(count, [count](Communicator& communicator) {
      const Device device = device_of(communicator, 1);
      const Decomposition& domain = decomposition_of(device);
      const int rank = domain.own();
      EXPECT_EQ(domain.count(), count);
      EXPECT_FALSE(domain.any(false));
      EXPECT_TRUE(domain.any(rank == count - 1));
      EXPECT_EQ(domain.largest(std::uint32_t(10 + rank)), std::uint32_t(9 + count));
      std::int64_t values[] = {rank, -1};
      domain.sum(values);
      EXPECT_EQ(values[0], count * (count - 1) / 2);
      EXPECT_EQ(values[1], -count);
      double value = rank;
      EXPECT_FALSE(domain.take(false, value));
      EXPECT_TRUE(domain.take(rank >= count / 2, value));
      EXPECT_EQ(value, count / 2);
    });
}

/// What goes to each process, in any number of bytes.
TEST(Domain, SwapsPieces) {
  for (const int count : counts)
    run_in_processes(count, [](Communicator& communicator) {
      const Device device = device_of(communicator, 1);
      const Decomposition& domain = decomposition_of(device);
      const auto size_of = [](int from, int to) {
        return std::size_t(from * 7 + to * 3) % 11 * 100;
      };
      for (int round = 0; round < 3; ++round) {
        Decomposition::Pieces out(std::size_t(domain.count())), in;
        for (int p = 0; p < domain.count(); ++p)
          if (p != domain.own())
            out[std::size_t(p)].assign(size_of(domain.own(), p),
                                       static_cast<unsigned char>(domain.own() + round));
        domain.swap_any(out, in);
        for (int p = 0; p < domain.count(); ++p) {
          if (p == domain.own()) continue;
          const std::vector<unsigned char> expected(size_of(p, domain.own()),
                                                    static_cast<unsigned char>(p + round));
          EXPECT_EQ(in[std::size_t(p)], expected);
        }
      }
    });
}

/// Numbers whose sum depends on the order of addition.
struct Uneven {
  PERRIN_HD double operator()(std::int64_t i) const {
    return (i % 3 == 0 ? 1e9 : 1e-3) / double(i % 97 + 1);
  }
};

TEST(Domain, ReductionHasTheSameBits) {
  for (const std::int64_t n : {0, 1, 511, 512, 513, 20'011}) {
    const double alone = sum<double>(Device::cpu(1), "test", n, Uneven{});
    EXPECT_EQ(sum<double>(Device::cpu(2), "test", n, Uneven{}), alone);
    for (const int count : counts)
      run_in_processes(count, [=](Communicator& communicator) {
        EXPECT_EQ(sum<double>(device_of(communicator, n), "test", n, Uneven{}), alone);
      });
  }
}

#ifdef __CUDACC__
struct Real7 {
  double of[7] = {};
  PERRIN_HD Real7& operator+=(const Real7& b) {
    for (int k = 0; k < 7; ++k) of[k] += b.of[k];
    return *this;
  }
};
struct SevenUneven {
  PERRIN_HD Real7 operator()(std::int64_t i) const {
    Real7 all;
    for (int k = 0; k < 7; ++k) all.of[k] = (k % 2 ? -1 : 1) * Uneven{}(i + 13 * k);
    return all;
  }
};

TEST(Domain, ShortSumsOfAGpuHaveTheBitsOfLongOnes) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device";
  const Device device = Device::cuda();
  using S = detail::Sum<Real7, SevenUneven, detail::NothingMore>;
  using Whole = S::Whole;
  Buffer<Real7> scratch(device, sum_chunks), result(device, 2);
  for (const std::int64_t n : {1, 2, 500, 511, 512, 513, 1000, 2047, 3000, 3584}) {
    ASSERT_LE(n, (detail::ShortSumGrid<S, 1>::most));
    const auto whole = [&](int k) { return Whole{scratch.data(), result.data() + k, {}}; };
    result.zero();
    launch_grid(device, "short", 1,
                detail::ShortSumGrid<S, 1>{{{S{{}, whole(0)}}}, n, device.halt().word()});
    launch_grid(
        device, "chunks", sum_chunks,
        detail::SumChunksGrid<S, 1>{{{S{{}, whole(1)}}}, n, 0, sum_chunks, device.halt().word()});
    launch_grid(
        device, "partials", 1,
        detail::SumPartialsGrid<Real7, detail::NothingMore, 1>{{{whole(1)}}, device.halt().word()});
    const auto both = result.to_host();
    for (int k = 0; k < 7; ++k) EXPECT_EQ(both[0].of[k], both[1].of[k]) << n;
    EXPECT_NE(both[0].of[0], 0);
  }
}
#endif

/// One process has all, and what would go to others goes nowhere.
TEST(Domain, TheTrivialOneDoesNothing) {
  const Device device = Device::cpu(1);
  Decomposition& domain = decomposition_of(device);
  EXPECT_FALSE(domain.several());
  EXPECT_EQ(domain.count(), 1);
  EXPECT_EQ(domain.own(), 0);
  EXPECT_EQ(domain.share(1000).begin, 0);
  EXPECT_EQ(domain.share(1000).end, 1000);
  EXPECT_EQ(domain.far(), 0);
  EXPECT_EQ(domain.balance(), nullptr);
  std::uint32_t flag = 1, progress = 3;
  std::vector<Small> data(10, element<Small>(4, 4));
  const std::vector<Small> before = data;
  const SharedArray array{data.data(), sizeof(Small), 10};
  domain.exchange({&array, 1}, Votes{{&flag, 0}, &progress, 8});
  EXPECT_EQ(data, before);
  EXPECT_EQ(progress, 3u);
  EXPECT_TRUE(domain.any(true));
  EXPECT_FALSE(domain.plan_rebalancing());
  int value = 5;
  EXPECT_TRUE(domain.take(true, value));
  EXPECT_FALSE(domain.take(false, value));
  EXPECT_EQ(value, 5);
  Decomposition::Pieces out(1), in(1);
  domain.swap_any(out, in);
}

// Migration and halo exchange as lists plan them, against one process, and by brute force.

constexpr std::int64_t particles_of_gas = 1500;
constexpr double edge = 12, reach = 1.7;

Configuration gas(bool uneven) {
  Configuration c;
  c.box = Box{{edge, edge, edge}};
  c.types = {"A"};
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(0, edge);
  for (std::int64_t i = 0; i < particles_of_gas; ++i) {
    const double x = uniform(random);
    c.position.push_back({uneven ? x * x / edge : x, uniform(random), uniform(random)});
    c.velocity.push_back({double(i), 2.0 * double(i), -double(i)});
    c.type.push_back(0);
  }
  return c;
}

/// Of own particles, by their ids: by up to the fraction 2^-bits of the edges.
void displace(Particles& particles, int bits) {
  const Share own = particles.share();
  for (std::int64_t i = own.begin; i < own.end; ++i) {
    const std::uint32_t id = particles.id().data()[i];
    Position& p = particles.position().data()[i];
    p.x += (id * 2654435761u) >> bits, p.y += (id * 2246822519u) >> bits;
    p.z += (id * 3266489917u) >> bits;
  }
}

/// What of all particles is where in memory.
struct Snapshot {
  explicit Snapshot(const Particles& p)
      : position(p.position().to_host()), velocity(p.velocity().to_host()), id(p.id().to_host()) {}
  std::vector<Position> position;
  std::vector<Real4> velocity;
  std::vector<std::uint32_t> id;
};

template <class T>
bool alike(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

void expect_particle(const Particles& p, const Snapshot& expected, std::size_t i) {
  ASSERT_EQ(p.id().data()[i], expected.id[i]);
  ASSERT_TRUE(alike(p.position().data()[i], expected.position[i])) << i;
  ASSERT_TRUE(alike(p.velocity().data()[i], expected.velocity[i])) << i;
}

/// Lists, a small move, lists again after a large one: what memory holds after each of these.
/// `look` sees them.
template <class F>
void move_about(const Device& device, bool uneven, const F& look) {
  const Configuration start = gas(uneven);
  Particles p(device, start);
  p.domain().require({GhostNeeds::Positions::neighbors, false}, p.properties().topology, p.box());
  ClusterList list(p, reach, {});
  const bool several = decomposition_of(p.device()).several();
  Buffer<Position> reference(p.device(), p.size());
  Buffer<std::uint32_t> flag(p.device(), 1);
  Buffer<std::int64_t> builds(p.device(), 1);
  for (int k = 0; k < 3; ++k) {
    list.build({reference.data(), flag.data(), builds.data()});
    p.domain().set_sorts_locally(several);
    look(3 * k, p);
    displace(p, 12);
    const HaloPlan ghosts = list.ghosts();
    p.domain().exchange({}, &ghosts);
    look(3 * k + 1, p);
    displace(p, 3 * k);  // anywhere, then to other processes, then nearby
    if (k == 1) {        // all know all, and again only what they need
      p.domain().gather(true);
      p.domain().set_sorts_locally(false);
    }
    look(3 * k + 2, p);
  }
  p.domain().gather(true);
  look(9, p);
}

TEST(Domain, MigrationAndGhostsAreThoseOfOneProcess) {
  for (const bool uneven : {false, true}) {
    std::vector<Snapshot> alone;
    move_about(Device::cpu(1), uneven, [&](int, const Particles& p) { alone.emplace_back(p); });
    for (const int count : counts)
      run_in_processes(count, [&](Communicator& communicator) {
        move_about(device_of(communicator, particles_of_gas), uneven,
                   [&](int k, const Particles& p) {
                     const Snapshot& expected = alone[std::size_t(k)];
                     const Share own = k == 9 ? Share{0, particles_of_gas} : p.share();
                     for (std::int64_t i = own.begin; i < own.end; ++i)
                       expect_particle(p, expected, std::size_t(i));
                   });
      });
  }
}

double distance(const Position& a, const Position& b) {
  const auto along = [](std::uint32_t from, std::uint32_t to) {
    return edge * std::ldexp(double(std::int32_t(to - from)), -32);
  };
  return std::hypot(along(a.x, b.x), along(a.y, b.y), along(a.z, b.z));
}

/// After an exchange the position of every particle that was in reach when lists were built is that
/// of now.
TEST(Domain, GhostsAreAllThatIsInReach) {
  std::vector<Snapshot> alone;
  move_about(Device::cpu(1), true, [&](int, const Particles& p) { alone.emplace_back(p); });
  for (const int count : {2, 5})
    run_in_processes(count, [&](Communicator& communicator) {
      std::int64_t ghosts = 0;
      move_about(device_of(communicator, particles_of_gas), true, [&](int k, const Particles& p) {
        if (k % 3 != 1) return;
        const std::vector<Position>& built = alone[std::size_t(k) - 1].position;
        const Share own = p.share();
        for (std::int64_t j = 0; j < particles_of_gas; ++j) {
          bool near = false;
          for (std::int64_t i = own.begin; i < own.end && !near; ++i)
            near = distance(built[std::size_t(i)], built[std::size_t(j)]) < reach;
          if (!near) continue;
          ghosts += j < own.begin || j >= own.end;
          ASSERT_TRUE(
              alike(p.position().data()[j], alone[std::size_t(k)].position[std::size_t(j)]));
        }
      });
      EXPECT_GT(ghosts, 100);
    });
}

}  // namespace
}  // namespace perrin
