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
  exchange_ = MeshExchange(device, fft_);
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

/// Of all waves that are transformed here.
template <class F>
void MeshSum::for_waves(const Device& device, const char* name, const F& f) {
  if (!exchange_.several()) return for_each(device, name, fft_.waves(), f);
  for_each(device, name, mesh_.size[0], OnLines<F>{f, fft_.lines(), exchange_.lines()});
}

/// Planes of the mesh around particles of this domain, whose charges are spread and forces
/// gathered.
void MeshSum::begin_exchange(StepContext& s, const ForceOutput& output, const Spread& body) {
  if (!exchange_.several()) return;
  const std::int64_t nx = mesh_.size[0];
  std::vector<char> first(std::size_t(nx), 0), around(std::size_t(nx), 0);
  const Share own = s.particles().share();
  for (std::int64_t i = own.begin; i < own.end; ++i)
    first[std::size_t((std::uint64_t(body.position[i].x) * std::uint64_t(nx)) >> 32)] = 1;
  for (std::int64_t x = 0; x < nx; ++x)
    for (int k = 0; first[std::size_t(x)] && k < mesh_.order; ++k)
      around[std::size_t((x + k) % nx)] = 1;
  std::vector<char> read = output.places ? std::vector<char>(std::size_t(nx), 1) : around;
  exchange_.begin(std::move(around), std::move(read));
}

void MeshSum::spread(StepContext& s, const Spread& body) {
  const Device& device = s.device();
  const std::int64_t n = s.particles().size(), room = body.points.room();
  if (!exchange_.several())
    for_each(device, "clear the mesh", copies_ * room, Clear{fixed_.data()});
#ifdef __CUDACC__
  if (device.is_cuda()) return spread_by_lanes(device, n, body);
#endif
  const std::int64_t plane = body.points.ny * body.points.row;
  for (std::int64_t x = 0; exchange_.several() && x < mesh_.size[0]; ++x)
    for (int copy = 0; exchange_.touches(x) && copy < copies_; ++copy)
      for_each(device, "clear the mesh", plane, Clear{fixed_.data() + copy * room + x * plane});
  spread_by_rows(device, exchange_.several() ? s.particles().share() : Share{0, n}, body, copies_);
  exchange_.collect(fixed_.data(), plane, copies_, room);
}

/// As real numbers, of what was spread.
void MeshSum::transform_charges(const Device& device) {
#ifdef __CUDACC__
  if (device.is_cuda()) {
    for_each(device, "charges of the mesh", mesh_.points(),
             ToReal{fixed_.data(), unit_, space_.data()});
    return fft_.forward(space_.data(), charges_.data());
  }
#endif
  const Points points = this->points(device);
  const Share planes = exchange_.planes();
  for_rows(device, {planes.begin * points.ny, planes.end * points.ny},
           RowToReal{fixed_.data(), points, copies_, unit_, space_.data()});
  fft_.forward_planes(space_.data(), charges_.data(), planes);
  exchange_.to_lines(charges_.data(), 1);
  fft_.forward_lines(charges_.data(), exchange_.line_groups());
}

void MeshSum::compute(StepContext& s, const AttributeView<1>& charge, const ForceOutput& output) {
  const Device& device = s.device();
  prepare(device);
  if (exchange_.several() && device.halt().skipping()) return;
  weigh(s, output.energy);
  const Points points = this->points(device);
  const std::int64_t n = s.particles().size();
  const Position* const position = s.particles().position().data();
  const std::uint64_t ratio =
      terms_.slab ? std::uint64_t(std::llround((1 + 2 * s.particles().box().padding.z) /
                                               *terms_.slab * 2147483648.0))
                  : 0;
  const Spread charges{position,     charge,    points,
                       ratio,        1 / unit_, !device.is_cuda() && device.threads() == 1,
                       fixed_.data()};
  begin_exchange(s, output, charges);
  spread(s, charges);
  transform_charges(device);
  for_waves(
      device, "fields of the mesh",
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
    for_waves(device, "virial of the mesh",
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
#ifdef __CUDACC__
  if (device.is_cuda()) {
    fft_.inverse(waves_.data(), space_.data(), numbers);
    return for_each(device, "fields together", mesh_.points(),
                    JoinFields{space_.data(), mesh_.points(), numbers == 4, fields_.data()});
  }
#endif
  const Points points = this->points(device);
  const Share planes = exchange_.planes();
  fft_.inverse_lines(waves_.data(), numbers, exchange_.line_groups());
  exchange_.to_planes(waves_.data(), numbers);
  fft_.inverse_planes(waves_.data(), space_.data(), numbers, planes);
  for_rows(device, {planes.begin * points.ny, planes.end * points.ny},
           RowOfFields{space_.data(), points, numbers == 4, fields_.data()});
  exchange_.give_fields(fields_.data(), points.ny * points.row);
}

}  // namespace perrin
