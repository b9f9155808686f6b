#include "system.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/device/parallel.h"
#include "moves.h"

namespace perrin::metropolis {

// Not in an unnamed namespace: nvcc wants names for what instantiates a kernel.
struct RebuildSites {
  SystemView view;
  Vec3<double> per_unit;
  PERRIN_HD void operator()(std::int64_t i) const {
    const std::int64_t replica = i / view.molecules;
    const std::uint32_t m = std::uint32_t(i % view.molecules);
    const Position centre = view.centre[i];
    const Quaternion q = view.orientation[i];
    Position* site = view.site + replica * view.sites + view.first_site[m];
    const std::uint32_t first = view.template_first[centre.type()];
    const std::uint32_t n = view.template_first[centre.type() + 1] - first;
    for (std::uint32_t k = 0; k < n; ++k)
      site[k] = place_site(centre, q, view.local[first + k], view.local_type[first + k], per_unit);
  }
};

System::System(const Device& device, const Model& model, const Placement& start,
               std::int64_t replicas)
    : device_(device), model_(model), replicas_(replicas) {
  const std::int64_t n = molecules();
  if (n * replicas >= std::int64_t(1) << 31 || sites() * replicas >= std::int64_t(1) << 31)
    throw UserError(fmt::format("{} replicas of {} molecules with {} sites: at most 2^31 in total",
                                replicas, n, sites()));
  PERRIN_ASSERT(std::int64_t(start.centre.size()) == n &&
                std::int64_t(start.orientation.size()) == n);
  std::vector<std::uint32_t> first_site{0}, template_first{0}, type;
  std::vector<Vec3<double>> local;
  for (const MoleculeTemplate& t : model.templates) {
    for (const auto& site : t.sites) {
      local.push_back(site.at);
      type.push_back(site.type);
    }
    template_first.push_back(std::uint32_t(local.size()));
  }
  for (const std::uint32_t t : model.molecule)
    first_site.push_back(first_site.back() + template_first[t + 1] - template_first[t]);
  first_site_ = Buffer<std::uint32_t>(device, std::span<const std::uint32_t>(first_site));
  template_first_ = Buffer<std::uint32_t>(device, std::span<const std::uint32_t>(template_first));
  local_ = Buffer<Vec3<double>>(device, std::span<const Vec3<double>>(local));
  type_ = Buffer<std::uint32_t>(device, std::span<const std::uint32_t>(type));

  std::vector<Position> centre(std::size_t(n * replicas));
  std::vector<Quaternion> orientation(centre.size());
  for (std::int64_t i = 0; i < n * replicas; ++i) {
    const std::size_t m = std::size_t(i % n);
    const Vec3<double> c = start.centre[m];
    const auto fixed = [](double x, double edge) {
      return std::uint32_t(std::int64_t(std::floor(x / edge * 0x1p32 + 0.5)));
    };
    centre[std::size_t(i)] = {fixed(c.x, model.box.x), fixed(c.y, model.box.y),
                              fixed(c.z, model.box.z), model.molecule[m]};
    orientation[std::size_t(i)] = normalized(start.orientation[m]);
  }
  centre_ = Buffer<Position>(device, std::span<const Position>(centre));
  orientation_ = Buffer<Quaternion>(device, std::span<const Quaternion>(orientation));
  site_ = Buffer<Position>(device, sites() * replicas);
  set_temperatures(std::vector<double>(std::size_t(replicas), model.kT));
  energy_ = Buffer<double>(device, replicas);
  accepted_ = Buffer<unsigned long long>(device, replicas);
  step_energy_ = Buffer<double>(device, replicas);
  rebuild_sites();
}

SystemView System::view() {
  const Share mine = own();
  return {std::uint32_t(molecules()),
          std::uint32_t(sites()),
          std::uint32_t(mine.size()),
          std::uint32_t(model_.types.size()),
          first_site_.data(),
          template_first_.data(),
          local_.data(),
          type_.data(),
          centre_.data() + mine.begin * molecules(),
          orientation_.data() + mine.begin * molecules(),
          site_.data() + mine.begin * sites(),
          kT_.data() + mine.begin,
          energy_.data() + mine.begin,
          accepted_.data() + mine.begin,
          step_energy_.data() + mine.begin,
          model_.box};
}

void System::set_box(const Vec3<double>& edges) {
  model_.box = edges;
  rebuild_sites();
}

void System::set_temperatures(const std::vector<double>& kT) {
  PERRIN_ASSERT(std::int64_t(kT.size()) == replicas_);
  if (kT_.size() == 0) kT_ = Buffer<double>(device_, replicas_);
  kT_.assign(kT);
}

void System::rebuild_sites() {
  const Vec3<double>& b = model_.box;
  for_each(device_, "sites of molecules", molecules() * own().size(),
           RebuildSites{view(), {0x1p32 / b.x, 0x1p32 / b.y, 0x1p32 / b.z}});
}

namespace {
template <class T>
std::vector<T> part(const Device& device, const Buffer<T>& buffer, std::int64_t n,
                    std::int64_t replica) {
  std::vector<T> host(static_cast<std::size_t>(n));
  device.memory().copy_out(host.data(), buffer.data() + replica * n, host.size() * sizeof(T));
  return host;
}
}  // namespace

std::vector<Position> System::centres(std::int64_t replica) const {
  return part(device_, centre_, molecules(), replica);
}
std::vector<Position> System::site_positions(std::int64_t replica) const {
  return part(device_, site_, sites(), replica);
}
std::vector<Quaternion> System::orientations(std::int64_t replica) const {
  return part(device_, orientation_, molecules(), replica);
}

void System::set_centres(const std::vector<Position>& all) {
  PERRIN_ASSERT(std::int64_t(all.size()) == molecules() * replicas_);
  centre_.assign(all);
  rebuild_sites();
}

void System::state(Archive& archive) {
  archive("box", model_.box);
  for (const double edge : {model_.box.x, model_.box.y, model_.box.z})
    archive.require(edge > 0 && std::isfinite(edge), "box", "three positive edges");
  if (archive.is_saving() && is_distributed()) {
    centre_.assign(gathered(centre_.to_host(), molecules()));
    orientation_.assign(gathered(orientation_.to_host(), molecules()));
    energy_.assign(energies());
    accepted_.assign(accepted());
    step_energy_.assign(step_energies());
  }
  const std::vector<Position> before = centre_.to_host();
  archive("centre", centre_);
  const std::vector<Position> restored = centre_.to_host();
  for (std::size_t i = 0; i < before.size(); ++i)
    archive.require(restored[i].type() == before[i].type(), "centre",
                    "centres of the same molecules");
  archive("orientation", orientation_);
  if (!archive.is_saving())
    for (const Quaternion& q : orientation_.to_host()) {
      const double square =
          double(q.w) * q.w + double(q.x) * q.x + double(q.y) * q.y + double(q.z) * q.z;
      archive.require(std::abs(square - 1) < 1e-3, "orientation", "unit quaternions");
    }
  archive("energy", energy_);
  archive("accepted", accepted_);
  if (archive.has("step_energy")) archive("step_energy", step_energy_);
  if (!archive.is_saving()) rebuild_sites();
}

}  // namespace perrin::metropolis
