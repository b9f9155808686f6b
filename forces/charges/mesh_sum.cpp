#include "forces/charges/mesh_sum.h"

#include <cmath>

#include "engine/domain/reduction.h"
#include "forces/charges/mesh_kernels.h"
#include "forces/particle_loop.h"

namespace perrin {

using namespace mesh;

MeshSum::MeshSum(const EwaldTerms& terms, const MeshTerms& mesh, double total)
    : terms_(terms), mesh_(mesh), unit_(std::exp2(std::ceil(std::log2(total)) - 61)) {}

void MeshSum::prepare(const Device& device) {
  if (fixed_.size() > 0) return;
  const std::int64_t n = mesh_.points();
  fft_ = Fft3(device, mesh_.size);
  fixed_ = {device, n};
  charges_ = {device, n}, a_ = {device, n}, b_ = {device, n};
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

/// In the box as it is.
void MeshSum::weigh(StepContext& s, bool energy) {
  const Device& device = s.device();
  BoxState& box = s.particles.box_state;
  const Points points{mesh_.size[0], mesh_.size[1], mesh_.size[2], mesh_.order};
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
  const Points points{mesh_.size[0], mesh_.size[1], mesh_.size[2], mesh_.order};
  const std::int64_t n = s.particles.size(), all = points.count();
  const Position* const position = s.particles.position.data();
  const std::uint64_t ratio = terms_.slab
                                  ? std::uint64_t(std::llround((1 + 2 * s.particles.box.padding.z) /
                                                               *terms_.slab * 2147483648.0))
                                  : 0;
  for_each(device, "clear the mesh", all, Clear{fixed_.data()});
  const bool alone = !device.is_cuda() && device.threads() == 1;
  for_each(device, "spread charges", n,
           Spread{position, charge, points, ratio, 1 / unit_, alone, fixed_.data()});
  for_each(device, "charges of the mesh", all, ToComplex{fixed_.data(), unit_, charges_.data()});
  fft_.run(charges_.data(), false);
  for_each(device, "fields of the mesh", all,
           MakeFields{charges_.data(), influence_.data(), a_.data(), b_.data()});
  fft_.run(a_.data(), true);
  fft_.run(b_.data(), true);
  ForceOutput added = output;
  added.add = true;
  Gather gather{position,  charge,    points,  ratio,
                a_.data(), b_.data(), nullptr, output.energy ? self_.data() : nullptr,
                added,     n};
  for_each_particle("forces of the mesh", s, added, gather);
  if (!output.energy || output.virial == nullptr) return;
  const double splitting = terms_.parameters.splitting;
  for_each(device, "virial of the mesh", all,
           MakeVirials{charges_.data(), influence_.data(), Real(1 / (4 * splitting * splitting)),
                       a_.data(), b_.data()});
  for (Complex* const mesh : {a_.data(), b_.data(), charges_.data()}) fft_.run(mesh, true);
  gather.c = charges_.data();
  for_each_particle("virial of the mesh", s, added, gather);
}

}  // namespace perrin
