#include "chain_size.h"

#include <algorithm>

#include "engine/components/registry.h"
#include "engine/device/parallel.h"
#include "engine/dynamics/observation.h"

namespace perrin::analysis {
namespace {

struct Measure {
  ConstParticleView p;
  Current<Metric> metric;
  const std::uint32_t *begin, *members;
  const ChainSize::Ends* ends;
  ChainSize::Sizes* sizes;

  /// From one particle of a molecule to another, along the whole path.
  PERRIN_HD Vec3<double> between(std::uint32_t from, std::uint32_t to) const {
    const std::uint32_t a = p.index[from], b = p.index[to];
    const Position pa = p.position[a], pb = p.position[b];
    const Image ia = p.image[a], ib = p.image[b];
    const auto along = [](std::uint32_t u, std::uint32_t v, std::int32_t i, std::int32_t j) {
      return double(std::int64_t(j - i) * (std::int64_t(1) << 32) + std::int64_t(v) -
                    std::int64_t(u));
    };
    const double x = along(pa.x, pb.x, ia.x, ib.x), y = along(pa.y, pb.y, ia.y, ib.y);
    const double z = along(pa.z, pb.z, ia.z, ib.z);
    return {double(metric->xx) * x + double(metric->xy) * y + double(metric->xz) * z,
            double(metric->yy) * y + double(metric->yz) * z, double(metric->zz) * z};
  }

  PERRIN_HD void operator()(std::int64_t m) const {
    const std::uint32_t first = begin[m], last = begin[m + 1];
    Vec3<double> sum{};
    double squares = 0;
    for (std::uint32_t k = first; k < last; ++k) {
      const Vec3<double> r = between(members[first], members[k]);
      sum += r;
      squares += dot(r, r);
    }
    const double n = last > first ? double(last - first) : 1.0;
    const ChainSize::Ends e = ends[m];
    const Vec3<double> span = e.first != e.last ? between(e.first, e.last) : Vec3<double>{};
    sizes[m] = {squares / n - dot(sum, sum) / (n * n), dot(span, span)};
  }
};

}  // namespace

ChainSize::ChainSize(const ChainSizeSettings& settings, Setup& setup)
    : settings_(settings),
      file_(output_path(settings.file, setup),
            {{"radius_of_gyration_squared",
              {},
              setup.units().reduced() ? "" : setup.units().length + "2"},
             {"end_to_end_squared", {}, setup.units().reduced() ? "" : setup.units().length + "2"}},
            setup) {
  const Topology& t = setup.configuration().topology;
  if (t.molecule.empty()) {
    setup.error("type", "chain_size needs molecules: the system has none");
    return;
  }
  std::vector<std::vector<std::uint32_t>> members;
  for (std::uint32_t id = 0; id < t.molecule.size(); ++id) {
    if (members.size() <= t.molecule[id]) members.resize(t.molecule[id] + 1);
    members[t.molecule[id]].push_back(id);
  }
  std::erase_if(members, [](const auto& m) { return m.size() < 2; });  // a particle has no size
  if (members.empty()) {
    setup.error("type", "chain_size needs molecules of several particles: the system has none");
    return;
  }
  const Group* const group = setup.fixed_group(settings.group, "group");
  if (!group) return;
  std::erase_if(members, [&](const auto& m) {
    return !std::ranges::all_of(m, [&](std::uint32_t id) { return group->has(id); });
  });
  if (members.empty()) {
    setup.error("group", "no molecule of several particles is wholly in \"" + group->name() + "\"");
    return;
  }
  std::vector<std::uint32_t> bonds(t.molecule.size());
  for (const auto& bond : t.bonds) ++bonds[bond.a], ++bonds[bond.b];
  std::vector<std::uint32_t> begin{0}, all;
  std::vector<Ends> ends;
  for (const auto& molecule : members) {
    std::vector<std::uint32_t> loose;
    for (const std::uint32_t id : molecule)
      if (bonds[id] == 1) loose.push_back(id);
    ends.push_back(loose.size() == 2 ? Ends{loose[0], loose[1]} : Ends{molecule[0], molecule[0]});
    linear_ += loose.size() == 2;
    all.insert(all.end(), molecule.begin(), molecule.end());
    begin.push_back(std::uint32_t(all.size()));
  }
  molecules_ = std::int64_t(members.size());
  begin_ = {setup.device(), std::span<const std::uint32_t>(begin)};
  members_ = {setup.device(), std::span<const std::uint32_t>(all)};
  ends_ = {setup.device(), std::span<const Ends>(ends)};
  sizes_ = {setup.device(), molecules_};
}

void ChainSize::begin(const Observation& seen, bool resumed) { file_.begin(seen, resumed); }

void ChainSize::observe(const Observation& s) {
  for_each(s.device(), "chain sizes", molecules_,
           Measure{s.particles().view(), s.particles().metric(), begin_.data(), members_.data(),
                   ends_.data(), sizes_.data()});
  double gyration2 = 0, end2 = 0;
  for (const Sizes& size : sizes_.to_host()) {
    gyration2 += size.gyration2;
    end2 += size.end2;
  }
  file_.append(std::int64_t(s.step()), s.time(),
               {gyration2 / double(molecules_), linear_ > 0 ? end2 / double(linear_) : 0.0});
}

void ChainSize::end(const Observation& seen) { file_.end(seen); }

void ChainSize::state(Archive& archive) { file_.state(archive); }

void register_chain_size(Registry& registry) {
  registry.add<Observer, ChainSizeSettings>(
      "chain_size", "radius of gyration and end-to-end distance of the molecules",
      [](const ChainSizeSettings& s, Setup& setup) {
        return std::make_unique<ChainSize>(s, setup);
      });
}

}  // namespace perrin::analysis
