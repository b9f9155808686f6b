#include "checkerboard_exchange.h"

#include <algorithm>
#include <utility>

#include "engine/device/parallel.h"
#include "engine/domain/decomposition.h"
#include "engine/domain/work_distribution.h"

namespace perrin::metropolis {

// Not in an unnamed namespace: nvcc wants names for what instantiates a kernel.

/// Lists the atoms of a domain for the domains that they concern. The order of the lists does not
/// matter.
struct ListMoved {
  CheckerboardColor color;
  std::int64_t end[Decomposition::most];  // of the processes' shares of the domains
  int me, processes;
  std::uint32_t *send, *receive, *count;
  std::int64_t room;

  PERRIN_HD void operator()(std::int64_t d) const {
    const Share places = color.places(d);
    int owner = 0;
    while (d >= end[owner]) ++owner;
    for (int p = 0; p < processes; ++p) {
      if (p == me) continue;
      if (owner == me) add(send + p * room, count + p, places);
      if (owner == p) add(receive + p * room, count + processes + p, places);
    }
  }
  PERRIN_HD static void add(std::uint32_t* to, std::uint32_t* counter, const Share& places) {
#ifdef __CUDA_ARCH__
    to += atomicAdd(counter, std::uint32_t(places.size()));
#else
    to += std::exchange(*counter, *counter + std::uint32_t(places.size()));
#endif
    for (std::int64_t i = places.begin; i < places.end; ++i) *to++ = std::uint32_t(i);
  }
};

CheckerboardExchange::CheckerboardExchange(const Device& device, std::int64_t atoms)
    : device_(device) {
  const Decomposition& decomposition = decomposition_of(device);
  if (!decomposition.several() || !device.is_cuda()) return;
  const int processes = decomposition.count();
  room_ = atoms;  // all of them may be in one colour of one process
  send_ = {device, room_ * processes};
  receive_ = {device, room_ * processes};
  count_ = {device, 2 * processes};
}

void CheckerboardExchange::complete(const CheckerboardColor& color, Buffer<Position>& position) {
  Decomposition& decomposition = decomposition_of(device_);
  if (!decomposition.several()) return;
  if (device_.is_cuda())
    complete_on_gpu(decomposition, color, position);
  else
    complete_on_cpu(decomposition, color, position.data());
}

void CheckerboardExchange::complete_on_cpu(const Decomposition& decomposition,
                                           const CheckerboardColor& color, Position* position) {
  const std::int64_t n = color.domains();
  first_.assign(std::size_t(n) + 1, 0);
  for (std::int64_t d = 0; d < n; ++d)
    first_[std::size_t(d) + 1] = first_[std::size_t(d)] + std::size_t(color.places(d).size());
  packed_.resize(first_.back());
  // From the domains to the packed positions, or the other way round.
  const auto copy = [&](Share domains, bool pack) {
    for_pieces(device_, domains.size(), 512, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t d = domains.begin + begin; d < domains.begin + end; ++d) {
        const Share places = color.places(d);
        Position* const there = packed_.data() + first_[std::size_t(d)];
        if (pack)
          std::copy(position + places.begin, position + places.end, there);
        else
          std::copy_n(there, places.size(), position + places.begin);
      }
    });
  };
  const Share own = decomposition.share(n);
  copy(own, true);
  std::vector<std::size_t> offsets;
  for (int p = 0; p < decomposition.count(); ++p)
    offsets.push_back(first_[std::size_t(decomposition.share(n, p).begin)] * sizeof(Position));
  offsets.push_back(first_.back() * sizeof(Position));
  WorkDistribution::gather_bytes(packed_.data(), offsets);
  copy({0, own.begin}, false);
  copy({own.end, n}, false);
}

void CheckerboardExchange::complete_on_gpu(Decomposition& decomposition,
                                           const CheckerboardColor& color,
                                           Buffer<Position>& position) {
  const std::int64_t n = color.domains();
  count_.zero();
  ListMoved list{color,
                 {},
                 decomposition.own(),
                 decomposition.count(),
                 send_.data(),
                 receive_.data(),
                 count_.data(),
                 room_};
  for (int p = 0; p < decomposition.count(); ++p) list.end[p] = decomposition.share(n, p).end;
  for_each(device_, "checkerboard moved", n, list);
  const SharedArray array{position.data(), sizeof(Position), position.size()};
  const HaloPlan moved{send_.data(), receive_.data(), count_.data(),
                       count_.data() + decomposition.count(), room_};
  decomposition.exchange({&array, 1}, {}, &moved);
}

}  // namespace perrin::metropolis
