// Two ways to spread a generator over the particles: one made afresh for every call, and one per
// particle with its state in device memory. (The third, one for all, is in
// stream_lagged_fibonacci.h.)
//
// All three have the same face, so that a kernel is written once, as a template over the stream:
//
//     KeyedStream<Saru> stream(device, Purpose::langevin, seed, particles, 4);   // set-up
//     stream.begin_step(device_step);             // device work, before the kernel that draws
//     for_each(device, "langevin", n, Kernel{stream.view(), …});
//         auto g = stream.local(step, id);        // in the kernel
//         … g.normal3() …
//         stream.store(id, g);
//     stream.check(steps);                        // whenever the host waits anyway: throws
//     RunError stream.state(archive);                      // checkpoint
//
// `draws` is how many 32-bit words one particle may take from one begin_step() to the next.
// check(steps), `steps` being the steps made since the beginning of the job, throws if a kernel
// took more (where that matters), or if the run may have used up the period of a generator: no
// stream silently repeats itself. Streams go by particle id, never by place in memory, and give the
// same integers on CPU and GPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/device/buffer.h"
#include "engine/device/tasks.h"
#include "engine/system/archive.h"
#include "rng/keyed.h"
#include "rng/per_particle.h"

namespace perrin {

/// What a kernel found wrong with the use of a stream.
enum StreamFault : std::uint32_t { stream_fine = 0, stream_overdrawn = 1, stream_stale = 2 };

/// Throws BugError if no stream is made for this number.
inline void check_stream_size(const char* generator, std::int64_t particles, int draws) {
  if (particles < 0 || particles > std::int64_t(0xffffffffu) || draws < 1)
    throw BugError(std::string("random stream ") + generator +
                   ": wants 0 to 2^32 - 1 particles and at "
                   "least one number for each, got " +
                   std::to_string(particles) + " and " + std::to_string(draws));
}
/// Throws what `fault` means.
inline void check_stream_fault(const char* generator, std::uint32_t fault, int draws) {
  if (fault == stream_overdrawn)
    throw RunError(std::string("random stream ") + generator + ": a particle drew more than the " +
                   std::to_string(draws) + " numbers of one step that the stream was made for");
  if (fault == stream_stale)
    throw BugError(std::string("random stream ") + generator +
                   ": numbers were drawn in a step for which begin_step() was not called");
}

/// One generator per call: hashed afresh from (purpose, seed, step, id), no state in memory.
template <class Generator>
class KeyedStream {
 public:
  struct View {
    static constexpr bool by_key = true;  // nothing but the key, step and id goes in
    RunKey key;
    PERRIN_HD Generator local(std::uint64_t step, std::uint32_t id) const {
      return keyed<Generator>(key, step, id);
    }
    PERRIN_HD void store(std::uint32_t, const Generator&) const {}
  };

  KeyedStream(const Device&, Purpose purpose, std::uint64_t seed, std::int64_t particles, int draws)
      : view_{RunKey(purpose, seed)} {
    check_stream_size("keyed", particles, draws);
  }
  View view() const { return view_; }
  void begin_step(const std::uint64_t*) {}
  void check(std::uint64_t) const {}
  /// Nothing: the key follows from the job. Restoring under another seed is for the caller to
  /// refuse.
  void state(Archive&) {}
  std::int64_t bytes() const { return 0; }

 private:
  View view_;
};

/// One generator per particle, its state in device memory, seeded on the host.
template <class Generator>
class ParticleStream {
  using Kept = PerParticle<Generator>;

 public:
  using Local = typename Kept::Local;
  struct View {
    std::uint32_t* words;  // word i of particle id at [i·particles + id]
    std::int64_t particles;
    const std::uint32_t* parameters;
    std::uint32_t* fault;
    int draws;

    PERRIN_HD Local local(std::uint64_t, std::uint32_t id) const {
      return Kept::load({words + id, particles}, parameters, id);
    }
    PERRIN_HD void store(std::uint32_t id, Local& g) const {
      const int drawn = Kept::save({words + id, particles}, g);
      if (drawn > draws) *fault = stream_overdrawn;  // all writers write the same
    }
  };

  ParticleStream(const Device& device, Purpose purpose, std::uint64_t seed, std::int64_t particles,
                 int draws)
      : particles_(particles), draws_(draws) {
    check_stream_size(Kept::name, particles, draws);
    // Seeds are keyed like all randomness, at a step that no run reaches.
    const RunKey key(purpose, seed);
    std::vector<std::uint32_t> host(std::size_t(particles * Kept::words));
    for_pieces(device, particles, 10000, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t id = begin; id < end; ++id) {
        std::uint32_t own[Kept::words];
        Philox source = keyed<Philox>(key, ~std::uint64_t(0), std::uint32_t(id));
        Kept::seed(own, source);
        for (int i = 0; i < Kept::words; ++i) host[std::size_t(i * particles + id)] = own[i];
      }
    });
    words_ = Buffer<std::uint32_t>(device, std::span<const std::uint32_t>(host));
    parameters_ = Buffer<std::uint32_t>(device, std::span<const std::uint32_t>(Kept::parameters()));
    fault_ = Buffer<std::uint32_t>(device, 1);
  }
  View view() { return {words_.data(), particles_, parameters_.data(), fault_.data(), draws_}; }
  void begin_step(const std::uint64_t*) {}
  void check(std::uint64_t steps) const {
    if (Kept::period == 0) return;
    check_stream_fault(Kept::name, fault_.to_host(0), draws_);
    if (steps > Kept::period / std::uint64_t(draws_))
      throw RunError(std::string("random stream ") + Kept::name + " is exhausted: after " +
                     std::to_string(steps) + " steps of up to " + std::to_string(draws_) +
                     " numbers its period of " + std::to_string(Kept::period) +
                     " has been used up; choose another rng");
  }
  void state(Archive& archive) {
    archive("words", words_);
    archive("fault", fault_);
    if (archive.is_saving()) return;
    archive.require(fault_.to_host(0) == 0, "fault", "0");
    auto words = words_.to_host();
    for (std::int64_t id = 0; id < particles_; ++id)
      archive.require(Kept::valid({words.data() + id, particles_}), "words",
                      std::string("states of the generator ") + Kept::name);
  }
  std::int64_t bytes() const { return words_.bytes() + parameters_.bytes(); }
  Buffer<std::uint32_t>& words() { return words_; }  // as View has them

 private:
  std::int64_t particles_;
  int draws_;
  Buffer<std::uint32_t> words_, parameters_, fault_;
};

}  // namespace perrin
