#include "forces/charges/mesh_sum.h"

#include <algorithm>
#include <cmath>

#include "engine/domain/reduction.h"
#include "forces/charges/mesh_kernels.h"
#include "forces/particle_loop.h"

namespace perrin {

using namespace mesh;

/// No sum reaches 2⁶², no part of it 2⁵¹.
MeshSum::MeshSum(const EwaldTerms& terms, const MeshTerms& mesh, double total, double largest)
    : terms_(terms),
      mesh_(mesh),
      unit_(std::exp2(std::ceil(std::max(std::log2(total) - 61, std::log2(largest) - 50)))) {}

void MeshSum::prepare(const Device& device) {
  if (fixed_.size() > 0) return;
  const std::int64_t n = mesh_.points();
  fft_ = Fft3(device, mesh_.size);
  constexpr std::int64_t most = std::int64_t(1) << 27;  // 1 GiB
  if (!device.is_cuda() && n * device.threads() <= most) meshes_ = device.threads();
  fixed_ = {device, meshes_ * n};
  charges_ = {device, n + padding}, a_ = {device, n + padding}, b_ = {device, n + padding};
  influence_ = {device, n};
  std::vector<double> filter, squares;
  for (const std::int64_t size : mesh_.size) {
    const SplineTransforms t = spline_transforms(size, mesh_.order);
    filter.insert(filter.end(), t.filter.begin(), t.filter.end());
    squares.insert(squares.end(), t.squares.begin(), t.squares.end());
  }
  filter_ = {device, std::span<const double>(filter)};
  squares_ = {device, std::span<const double>(squares)};
  self_ = {device, 1}, scratch_ = {device, sum_chunks};
}

void MeshSum::spread(StepContext& s, const AttributeView<1>& charge, std::uint64_t ratio) {
  const Device& device = s.device();
  const Points points{mesh_.size[0], mesh_.size[1], mesh_.size[2]};
  const std::int64_t n = s.particles.size(), all = points.count();
  for_each(device, "clear the mesh", fixed_.size(), Clear{fixed_.data()});
  const bool alone = !device.is_cuda() && meshes_ == device.threads();
  with_order(mesh_.order, [&]<int Order>() {
    const Spread<Order> body{
        s.particles.position.data(), charge, points, ratio, 1 / unit_, alone, fixed_.data()};
    if (meshes_ == 1) return for_each(device, "spread charges", n, body);
    if (device.skipping()) return;
    constexpr std::int64_t piece = 512;
    for_tasks(
        device, (n + piece - 1) / piece,
        [&](std::int64_t task, int thread) {
          Spread<Order> mine = body;
          mine.fixed += thread * all;
          run_range(mine, task * piece, std::min(n, (task + 1) * piece));
        },
        n > piece);
  });
  for_each(device, "charges of the mesh", all,
           ToComplex{fixed_.data(), all, meshes_, unit_, charges_.data()});
}

/// In the box as it is.
void MeshSum::weigh(StepContext& s, bool energy) {
  const Device& device = s.device();
  BoxState& box = s.particles.box_state;
  const Points points{mesh_.size[0], mesh_.size[1], mesh_.size[2]};
  const double quarter = 1 / (4 * terms_.parameters.splitting * terms_.parameters.splitting);
  if (!weighed_ || box.host() != weighed_for_) {
    for_each(device, "influence of the mesh", points.count(),
             WeighPoint{box.data(), terms_.slab.value_or(1), quarter, terms_.constant, points,
                        filter_.data(), influence_.data()});
    // On a GPU the kernel may be halted.
    weighed_ = !device.is_cuda() && !device.skipping(), weighed_for_ = box.host();
    self_known_ = false;
  }
  if (!energy || self_known_) return;
  sum(device, "charges by themselves", points.count(),
      AddSelf{influence_.data(), filter_.data(), squares_.data(), points, box.data(),
              terms_.slab.value_or(1), terms_.constant, quarter},
      scratch_, self_.data());
  self_known_ = weighed_ && !device.skipping();
}

void MeshSum::compute(StepContext& s, const AttributeView<1>& charge, const ForceOutput& output) {
  const Device& device = s.device();
  prepare(device);
  weigh(s, output.energy);
  const Points points{mesh_.size[0], mesh_.size[1], mesh_.size[2]};
  const std::int64_t n = s.particles.size(), all = points.count();
  const Position* const position = s.particles.position.data();
  const std::uint64_t ratio = terms_.slab
                                  ? std::uint64_t(std::llround((1 + 2 * s.particles.box.padding.z) /
                                                               *terms_.slab * 2147483648.0))
                                  : 0;
  spread(s, charge, ratio);
  fft_.run(charges_.data(), false);
  for_each(device, "fields of the mesh", all,
           MakeFields{charges_.data(), influence_.data(), a_.data(), b_.data()});
  fft_.run(a_.data(), true);
  fft_.run(b_.data(), true);
  ForceOutput added = output;
  added.add = true;
  const auto gather = [&](const char* name, const Complex* c) {
    with_order(mesh_.order, [&]<int Order>() {
      for_each_particle(name, s, added,
                        Gather<Order>{position, charge, points, ratio, a_.data(), b_.data(), c,
                                      output.energy ? self_.data() : nullptr, added, n});
    });
  };
  gather("forces of the mesh", nullptr);
  if (!output.energy || output.virial == nullptr) return;
  const double splitting = terms_.parameters.splitting;
  for_each(device, "virial of the mesh", all,
           MakeVirials{charges_.data(), influence_.data(), Real(1 / (4 * splitting * splitting)),
                       a_.data(), b_.data()});
  for (Complex* const mesh : {a_.data(), b_.data(), charges_.data()}) fft_.run(mesh, true);
  gather("virial of the mesh", charges_.data());
}

}  // namespace perrin
