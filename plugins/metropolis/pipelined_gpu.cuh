// The pipelined engine's launches on a GPU.
#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include "engine/device/parallel.h"
#include "engine_options.h"
#include "pair_rows.h"
#include "pipelined.cuh"

namespace perrin::metropolis {

class PipelineOnGpu {
 public:
  PipelineOnGpu(System& system, const ChainOptions& chain, const PipelinedOptions& options,
                std::uint32_t width)
      : system_(system),
        device_(system.device()),
        chain_(chain),
        options_(options),
        choice_(Purpose::metropolis_choice, chain.seed),
        width_(width) {}

  template <class T, class E, int S>
  void run(std::int64_t first, std::int64_t n, const MoveSizes& sizes) {
    const SystemView view = system_.view();
    Pipeline<T> p{};
    Buffer<PairRow<T>>& rows = std::get<Buffer<PairRow<T>>>(rows_);
    if (rows.size() == 0)
      rows = Buffer<PairRow<T>>(device_, std::span<const PairRow<T>>(make_rows<T>(system_)));
    p.view = view;
    p.law = MoveLaw(chain_.seed, sizes, system_.box(), system_.own().begin);
    p.scale = Scale<T>::of(system_.box());
    p.rows = rows.data();
    p.width = width_;
    p.groups_per_cycle = (view.molecules + group_size - 1) / group_size;
    const bool random = chain_.random_order;
    // Proposals take the most memory. By the replicas of all processes: sums of energies have the
    // same bits however many there are.
    const std::int64_t place_bytes = std::int64_t(64) * width_ * std::int64_t(sizeof(Position));
    const std::int64_t cycle_bytes = place_bytes * p.groups_per_cycle * system_.replicas();
    const std::int64_t most =
        random ? 1 : std::clamp<std::int64_t>((std::int64_t(256) << 20) / cycle_bytes, 1, 4096);
    for (std::int64_t done = 0; done < n;) {
      const std::int64_t cycles = std::min(most, n - done);
      p.first_cycle = first + done;
      p.groups = std::uint32_t(p.groups_per_cycle * cycles);
      if (random) upload(RandomSchedule(choice_, first + done, view.molecules), p);
      launch_one<T, E, S>(p);
      done += cycles;
    }
  }

 private:
  template <class T>
  void upload(const RandomSchedule& s, Pipeline<T>& p) {
    const std::vector<std::uint32_t>* lists[] = {&s.molecule, &s.group_begin, &s.next_group,
                                                 &s.last_group, &s.first_group};
    std::vector<std::uint32_t> all;
    for (const auto* list : lists) all.insert(all.end(), list->begin(), list->end());
    if (schedule_.size() == 0) schedule_ = Buffer<std::uint32_t>(device_, 0);
    schedule_.assign(all);
    const std::uint32_t* at = schedule_.data();
    const std::uint32_t** to[] = {&p.molecule, &p.group_begin, &p.next_group, &p.last_group,
                                  &p.first_group};
    for (std::size_t k = 0; k < 5; ++k) {
      *to[k] = at;
      at += lists[k]->size();
    }
    p.groups = s.groups();
  }

  template <class T, class E, int S>
  void launch_one(Pipeline<T>& p) {
    const std::int64_t replicas = system_.replicas(), places = p.view.replicas * p.groups;
    // Measured on an H200 (docs/guide/metropolis.md). With few groups in work at once many warps
    // share one; a longer band hides the way from a decision to the next, but costs shared memory.
    // By the replicas of all processes, again.
    const std::int64_t in_work = replicas * p.groups_per_cycle, units = device_.multiprocessors();
    std::uint32_t warps = in_work <= (replicas > 1 ? 4 : 2) * units ? 16
                          : in_work <= 4 * units                    ? 8
                                                                    : 4;
    if (options_.warps > 0) warps = std::uint32_t(options_.warps);
    p.band = replicas == 1 && in_work > 8 && in_work <= 4 * units ? 2 : 1;
    if (options_.band > 0) p.band = std::uint32_t(options_.band);
    // A group must not meet itself in its band.
    if (p.molecule == nullptr) p.band = std::min(p.band, p.groups_per_cycle - 1);

    make_room(p, places);
    const auto kernel = pipelined_kernel<T, E, S>;
    const std::size_t shared =
        PipelineMemory<T>::bytes(p.view.types, S > 0 ? S : p.width, warps, p.band);
    check_cuda(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)),
        "shared memory of the pipelined engine");
    launch(device_, "pipelined cycles", dim3(unsigned(places)), dim3(32 * warps), shared, kernel,
           p);
    launch(device_, "sums of pipelined cycles", dim3(p.view.replicas), dim3(256), 0,
           pipelined_sums_kernel<T>, p);
  }

  /// What blocks tell each other.
  template <class T>
  void make_room(Pipeline<T>& p, std::int64_t places) {
    const std::int64_t replicas = p.view.replicas;
    if (words_.size() == 0) words_ = Buffer<unsigned long long>(device_, 0);
    if (change_.size() == 0) change_ = Buffer<double>(device_, 0);
    if (proposals_.size() == 0) proposals_ = Buffer<Position>(device_, 0);
    words_.resize(std::max(words_.size(), places + (places + replicas + 1) / 2 + 1));
    change_.resize(std::max(change_.size(), 2 * places));
    proposals_.resize(std::max(proposals_.size(), places * 64 * p.width));
    words_.zero();
    p.decision = words_.data();
    p.proposed = reinterpret_cast<std::uint32_t*>(words_.data() + places);
    p.decided = p.proposed + places;
    p.taken = p.decided + replicas;
    p.proposal = proposals_.data();
    p.change = change_.data();
    p.later = p.change + places;
  }

  System& system_;
  Device device_;
  ChainOptions chain_;
  PipelinedOptions options_;
  RunKey choice_;
  std::uint32_t width_;  // sites of the largest molecule
  std::tuple<Buffer<PairRow<float>>, Buffer<PairRow<double>>> rows_;  // made when first needed
  Buffer<std::uint32_t> schedule_;
  Buffer<unsigned long long> words_;
  Buffer<double> change_;
  Buffer<Position> proposals_;
};

}  // namespace perrin::metropolis
