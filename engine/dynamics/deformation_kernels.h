// The kernels of a box that deforms: its next step and flow, the turning tilt, work
// (engine/dynamics/deformation.h).
#pragma once

#include <cstdint>

#include "engine/components/box_schedule.h"
#include "engine/device/condition.h"
#include "engine/device/faults.h"
#include "engine/dynamics/deformation_memory.h"
#include "engine/system/particles.h"

namespace perrin::deformation {

template <class T>
PERRIN_HD void put(const Triangle& t, double scale, T (&to)[6]) {
  to[0] = T(scale * t.xx), to[1] = T(scale * t.yy), to[2] = T(scale * t.zz);
  to[3] = T(scale * t.xy), to[4] = T(scale * t.xz), to[5] = T(scale * t.yz);
}

/// The words of the next step and of this instant.
struct FlowWords {
  BoxSchedule schedule;
  DeformationMemory* memory;
  double inverse_step;  // 1/time
  std::uint32_t velocities;
  double* work;
  Real4* rest;

  /// Of step `next`, which begins at that instant.
  PERRIN_HD void write(std::int64_t next) const {
    Flow& word = memory->flow[next & 1];
    const Triangle turn = root(inverse(step_change(schedule, next)));
    put(turn, 1, word.half);
    put(turn, 1, word.turn);
    const std::int64_t last = next > schedule.begin ? next - 1 : next;
    put(strain_of(step_change(schedule, last)), inverse_step, word.gradient);
    word.velocities = velocities;
    word.work = work;
    word.rest = rest;
  }
};

struct BeginFlow {
  FlowWords words;
  const std::uint64_t* step;
  PERRIN_HD void operator()(std::int64_t) const { words.write(std::int64_t(*step)); }
};

struct MoveBox {
  FlowWords words;
  const std::uint64_t* step;
  Box* box;
  FaultSink faults;
  double range;
  PERRIN_HD void operator()(std::int64_t) const {
    const auto n = std::int64_t(*step);
    const Box b = words.schedule.at(n + 1, words.schedule.turned(n));
    const auto heights = b.padded_heights();
    for (int k = 0; k < b.dimension; ++k)
      if (b.periodic[std::size_t(k)] && heights[k] / 2 < range)
        return faults.report(FaultKind::box_too_small, 0, heights[k] / 2, range);
    *box = b;
    words.write(n + 1);
  }
};

struct DecideTurn {
  BoxSchedule schedule;
  DeformationMemory* memory;
  const std::uint64_t* step;
  Condition due;
  PERRIN_HD void operator()(std::int64_t) const {
    const auto n = std::int64_t(*step);
    memory->turn = schedule.turned(n) - (n > schedule.begin ? schedule.turned(n - 1) : 0);
    if (memory->turn != 0) due.raise();
  }
};

/// H s = (H M) (M⁻¹ s), where M takes so many edges along the flow from the tilt: then the fraction
/// along the flow grows by as many times that along the gradient, images included.
struct TurnParticles {
  ParticleView p;
  const DeformationMemory* memory;
  int flow, gradient;
  PERRIN_HD void operator()(std::int64_t i) const {
    const std::int64_t by = memory->turn;
    Position& at = p.position[i];
    Image& image = p.image[i];
    const std::uint32_t place[3] = {at.x, at.y, at.z};
    std::int32_t rest[3] = {at.remainder(0), at.remainder(1), at.remainder(2)};
    const std::int64_t across = std::int64_t(place[gradient]) * 256 + rest[gradient];
    const std::int64_t sum = std::int64_t(place[flow]) * 256 + rest[flow] + by * across;
    const std::int64_t whole = (sum + 128) >> 8;  // rounded down: remainders are -128 … 127
    rest[flow] = std::int32_t(sum - whole * 256);
    const auto turns = std::int32_t(std::int64_t(image[gradient]) * by + (whole >> 32));
    image[flow] += turns;
    (flow == 0 ? at.x : at.y) = std::uint32_t(whole);
    at.set_remainders(rest[0], rest[1], rest[2]);
  }
};

struct TurnBox {
  BoxSchedule schedule;
  const std::uint64_t* step;
  Box* box;
  std::uint32_t* due;
  PERRIN_HD void operator()(std::int64_t) const {
    const auto n = std::int64_t(*step);
    *box = schedule.at(n, schedule.turned(n));
    *due = 0;
  }
};

struct AddVirialWork {
  BoxSchedule schedule;
  DeformationMemory* memory;
  const double* virial;
  const Box* box;
  const std::uint64_t* step;
  double tail;  // trace, times the volume
  bool beginning;
  PERRIN_HD void operator()(std::int64_t) const {
    double now[6];
    for (int c = 0; c < 6; ++c) now[c] = virial[c];
    const Vec3<double>& l = box->length;
    for (int c = 0; c < box->dimension; ++c) now[c] += tail / (box->dimension * (l.x * l.y * l.z));
    const std::uint64_t end = *step + (beginning ? 0 : 1);
    // What is left of a step may be run again.
    if (!beginning && memory->measured != end) {
      const Triangle s = strain_of(step_change(schedule, std::int64_t(*step)));
      const double strain[6] = {s.xx, s.yy, s.zz, s.xy, s.xz, s.yz};
      for (int c = 0; c < 6; ++c)
        memory->virial_work -= 0.5 * strain[c] * (memory->virial[c] + now[c]);
    }
    for (int c = 0; c < 6; ++c) memory->virial[c] = now[c];
    memory->measured = end;
  }
};

struct AddWork {
  const DeformationMemory* memory;
  double* work;
  PERRIN_HD void operator()(std::int64_t) const { *work += memory->virial_work; }
};

}  // namespace perrin::deformation
