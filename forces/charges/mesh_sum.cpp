#include "forces/charges/mesh_sum.h"

#include <algorithm>
#include <cmath>

#include "engine/domain/reduction.h"
#include "forces/charges/mesh_kernels.h"
#include "forces/charges/mesh_lanes.h"
#include "forces/charges/mesh_rows.h"

namespace perrin {

using namespace mesh;

namespace {

double power_of_two(double x) { return std::exp2(std::ceil(std::log2(x))); }

/// On the CPU each thread has a mesh of its own to spread charges on, where these are few and
/// small: additions that other threads see take many times as long.
int copies_of_mesh(const Device& device, std::int64_t points) {
  constexpr int most = 8;
  constexpr std::int64_t most_points = 1 << 25;
  const int threads = device.is_cuda() ? 1 : device.threads();
  return threads <= most && threads * points <= most_points ? threads : 1;
}

/// Has what was just launched been done, for good? May wait.
bool is_done(const Device& device) {
  if (device.halt().skipping()) return false;
  return !device.is_cuda() || (!device.queue().recording() && !device.halt().raised());
}

template <class Body>
void gather([[maybe_unused]] const char* name, StepContext& s, const ForceOutput& output,
            const Body& body) {
#ifdef __CUDACC__
  if (s.device().is_cuda()) return gather_by_lanes(name, s, output, body);
#endif
  gather_by_rows(s, output, body);
}

}  // namespace

/// No sum of charges comes to 2^62 units, and no charge to 2^51.
MeshSum::MeshSum(const EwaldTerms& terms, const MeshTerms& mesh, double total, double largest)
    : terms_(terms),
      mesh_(mesh),
      unit_(std::max(power_of_two(total) * 0x1p-61, power_of_two(largest) * 0x1p-50)) {}

void MeshSum::prepare(const Device& device) {
  if (fixed_.size() > 0) return;
  const std::int64_t n = mesh_.points(), room = points(device).room();
  fft_ = Fft3(device, mesh_.size);
  for (const int meshes : {3, 4}) fft_.prepare_inverse(meshes);
  copies_ = copies_of_mesh(device, room);
  fixed_ = {device, copies_ * room};
  fields_ = {device, room};
  charges_ = {device, fft_.waves()}, influence_ = {device, fft_.waves()};
  waves_ = {device, 4 * fft_.waves()}, space_ = {device, 4 * n};
  std::vector<double> filter, squares;
  for (const std::int64_t size : mesh_.size) {
    const SplineTransforms t = spline_transforms(size, mesh_.order);
    filter.insert(filter.end(), t.filter.begin(), t.filter.end());
    squares.insert(squares.end(), t.squares.begin(), t.squares.end());
  }
  filter_ = {device, std::span<const double>(filter)};
  squares_ = {device, std::span<const double>(squares)};
  self_ = {device, 1}, scratch_ = {device, sum_chunks};
  Box none;
  none.length = {0, 0, 0};
  weighed_box_ = {device, std::span<const Box>(&none, 1)}, stale_ = {device, 1};
}

Points MeshSum::points(const Device& device) const {
  const auto [nx, ny, nz] = mesh_.size;
  return {nx, ny, nz, mesh_.order, device.is_cuda() ? nz : nz + beyond_row};
}

/// In the box as it is.
void MeshSum::weigh(StepContext& s, bool energy) {
  const Device& device = s.device();
  BoxState& box = s.particles().box_state();
  const Points points = this->points(device);
  const double quarter = 1 / (4 * terms_.parameters.splitting * terms_.parameters.splitting);
  const bool device_knows = device.is_cuda() && box.moves();  // and the host does not
  if (device_knows || !weighed_ || box.host() != weighed_for_) {
    if (device_knows)
      for_each(device, "box of the mesh", 1,
               NoteBox{box.data(), weighed_box_.data(), stale_.data()});
    for_each(device, "influence of the mesh", fft_.waves(),
             WeighWave{device_knows ? stale_.data() : nullptr, box.data(), terms_.slab.value_or(1),
                       quarter, terms_.constant, points, filter_.data(), influence_.data()});
    weighed_ = !device_knows && is_done(device), weighed_for_ = box.host();
    self_known_ = false;
  }
  if (!energy || self_known_) return;
  sum(device, "charges by themselves", fft_.waves(),
      AddSelf{influence_.data(), filter_.data(), squares_.data(), points, box.data(),
              terms_.slab.value_or(1), terms_.constant, quarter},
      scratch_, self_.data());
  self_known_ = weighed_ && is_done(device);
}

void MeshSum::spread(const Device& device, std::int64_t n, const mesh::Spread& body) {
#ifdef __CUDACC__
  if (device.is_cuda()) return spread_by_lanes(device, n, body);
#endif
  spread_by_rows(device, n, body, copies_);
}

/// Charges as real numbers, of what was spread.
void MeshSum::make_real(const Device& device) {
#ifdef __CUDACC__
  if (device.is_cuda())
    return for_each(device, "charges of the mesh", mesh_.points(),
                    ToReal{fixed_.data(), unit_, space_.data()});
#endif
  const Points points = this->points(device);
  for_rows(device, points.nx * points.ny,
           RowToReal{fixed_.data(), points, copies_, unit_, space_.data()});
}

void MeshSum::compute(StepContext& s, const AttributeView<1>& charge, const ForceOutput& output) {
  const Device& device = s.device();
  prepare(device);
  weigh(s, output.energy);
  const Points points = this->points(device);
  const std::int64_t n = s.particles().size();
  const Position* const position = s.particles().position().data();
  const std::uint64_t ratio =
      terms_.slab ? std::uint64_t(std::llround((1 + 2 * s.particles().box().padding.z) /
                                               *terms_.slab * 2147483648.0))
                  : 0;
  for_each(device, "clear the mesh", copies_ * points.room(), Clear{fixed_.data()});
  spread(device, n,
         {position, charge, points, ratio, 1 / unit_, !device.is_cuda() && device.threads() == 1,
          fixed_.data()});
  make_real(device);
  fft_.forward(space_.data(), charges_.data());
  for_each(
      device, "fields of the mesh", fft_.waves(),
      MakeFields{charges_.data(), influence_.data(), output.energy, fft_.waves(), waves_.data()});
  back_in_space(device, output.energy ? 4 : 3);
  ForceOutput added = output;
  added.add = true;
  gather("forces of the mesh", s, added,
         GatherForces{position, charge, points, ratio, fields_.data(),
                      output.energy ? self_.data() : nullptr, added, n});
  if (!output.energy || output.virial == nullptr) return;
  const double splitting = terms_.parameters.splitting;
  for (const int first : {0, 3}) {
    for_each(device, "virial of the mesh", fft_.waves(),
             MakeVirials{charges_.data(), influence_.data(), Real(1 / (4 * splitting * splitting)),
                         first == 0, fft_.waves(), waves_.data()});
    back_in_space(device, 3);
    gather("virial of the mesh", s, added,
           GatherVirials{position, charge, points, ratio, fields_.data(), self_.data(),
                         output.virial, first, n});
  }
}

/// So many numbers of each point, from their waves.
void MeshSum::back_in_space(const Device& device, int numbers) {
  fft_.inverse(waves_.data(), space_.data(), numbers);
#ifdef __CUDACC__
  if (device.is_cuda())
    return for_each(device, "fields together", mesh_.points(),
                    JoinFields{space_.data(), mesh_.points(), numbers == 4, fields_.data()});
#endif
  const Points points = this->points(device);
  for_rows(device, points.nx * points.ny,
           RowOfFields{space_.data(), points, numbers == 4, fields_.data()});
}

}  // namespace perrin
