#include "body_insertions.h"

#include <algorithm>
#include <cmath>

#include "engine/device/parallel.h"
#include "place_in_cell.h"
#include "placed_body.h"
#include "turn.h"

namespace perrin::monte_carlo {
namespace {

struct ProposeBodies {
  BodyInsertions::Round r;
  const std::uint64_t* sweep;
  std::uint32_t size, type;
  const std::uint32_t *member, *row;
  const Real3* at;
  Real4* turned;
  Current<Metric> metric;
  bool flat;
  const Position* position;
  const std::uint32_t* index;

  PERRIN_HD Words4 words(std::uint32_t k, std::uint32_t use) const {
    return philox4x32<10>(
        {std::uint32_t(*sweep), std::uint32_t(*sweep >> 32), k, 4 * r.round + use},
        {r.key.x, r.key.y});
  }
  PERRIN_HD const std::uint32_t* body(std::uint32_t center) const {
    return member + std::size_t(row[center]) * size;
  }
  /// The body of the centre in a slot of a cell has all its particles there.
  PERRIN_HD bool is_within(std::int32_t cell, std::uint32_t slot) const {
    if (r.cells.position[slot].type() != type) return false;
    const std::uint32_t* const ids = body(r.cells.id[slot]);
    for (std::uint32_t e = 1; e < size; ++e)
      if (r.cells.key(r.cells.cell_of(position[index[ids[e]]])) != cell) return false;
    return true;
  }
  PERRIN_HD void forget(std::int64_t first) const {
    for (std::uint32_t e = 0; e < size; ++e) r.move[first + e] = {};
  }
  PERRIN_HD void operator()(std::int64_t k) const {
    const TrialCells& cells = r.cells;
    const std::int64_t first = k * size;
    forget(first);
    for (std::uint32_t e = 0; e < size; ++e)
      r.place[first + e] = TrialMove::none, r.change[first + e] = 0;
    r.outcome[k] = 0, r.log_of_uniform[k] = 0;
    turned[k] = {0, 0, 0, 1};
    ++r.counts[k].tried;
    const Vec3<std::int32_t> c = cells.active_cell(k);
    const std::int32_t cell = cells.key(c);
    std::uint32_t n = 0;
    for (std::uint32_t s = cells.start[cell]; s < cells.start[cell + 1]; ++s)
      n += is_within(cell, s) ? 1 : 0;
    const Words4 drawn = words(std::uint32_t(k), 0), where = words(std::uint32_t(k), 1);
    if ((drawn.x >> 31) == 0) {
      put(k, c, where);
      r.log_of_uniform[k] = log_of(drawn.w) - float(r.log_of_zv - std::log(double(n + 1)));
    } else if (n > 0) {
      take(first, cell, below(n, where.x));
      r.log_of_uniform[k] = log_of(drawn.w) - float(std::log(double(n)) - r.log_of_zv);
    }
  }

 private:
  PERRIN_HD void put(std::int64_t k, const Vec3<std::int32_t>& c, const Words4& where) const {
    const TrialCells& cells = r.cells;
    const std::uint32_t* const like = body(r.like);
    const std::int64_t first = k * size;
    const Position center = place_in_cell(cells, c, where, flat, position[index[like[0]]]);
    const PlacedBody placed(center, words(std::uint32_t(k), 2), flat);
    turned[k] = placed.turn;
    for (std::uint32_t e = 0; e < size; ++e) {
      const std::uint32_t of = index[like[e]];
      const Position to = e == 0 ? center : placed.particle(*metric, at[e], position[of]);
      if (cells.key(cells.cell_of(to)) != cells.key(c)) return forget(first);
      r.move[first + e] = {.after_as = of, .before = to, .after = to};
    }
  }
  PERRIN_HD void take(std::int64_t first, std::int32_t cell, std::uint32_t left) const {
    const TrialCells& cells = r.cells;
    std::uint32_t slot = cells.start[cell];
    while (!is_within(cell, slot) || left-- > 0) ++slot;
    const std::uint32_t* const ids = body(cells.id[slot]);
    for (std::uint32_t e = 0; e < size; ++e) {
      const std::uint32_t own = cells.slot_of(cell, ids[e]);
      r.move[first + e] = {.before_as = cells.place[own],
                           .slot = own,
                           .before = cells.position[own],
                           .after = cells.position[own]};
    }
  }
};

}  // namespace

void BodyInsertions::begin(const StepContext& s, std::uint32_t type) {
  const Topology& t = s.particles().properties().topology;
  type_ = type, size_ = 1, extent_ = 0;
  member_.clear(), row_.clear();
  if (t.body.empty()) return;
  const Configuration now = s.particles().configuration();
  const std::string absent = now.types[type] + std::string(absent_ending);
  std::vector<std::vector<std::uint32_t>> bodies;
  std::vector<std::uint32_t> row(t.body.size());
  for (std::uint32_t id = 0; id < t.body.size(); ++id)
    if (t.body[id] == id && (now.type[id] == type || now.types[now.type[id]] == absent))
      row[id] = std::uint32_t(bodies.size()), bodies.push_back({id});
  if (bodies.empty()) return;
  for (std::uint32_t id = 0; id < t.body.size(); ++id) {
    if (!t.is_site(id)) continue;
    std::vector<std::uint32_t>& ids = bodies[row[t.body[id]]];
    if (ids.front() == t.body[id]) ids.push_back(id);
  }
  size_ = std::uint32_t(bodies.front().size());
  for (const auto& ids : bodies) member_.insert(member_.end(), ids.begin(), ids.end());
  row_ = std::move(row);
  std::vector<Real3> at;
  for (const std::uint32_t id : bodies.front()) {
    const Vec3<double> r = t.is_site(id) ? t.site[id] : Vec3<double>{};
    extent_ = std::max(extent_, std::sqrt(dot(r, r)));
    at.push_back({Real(r.x), Real(r.y), Real(r.z)});
  }
  members_ = Buffer<std::uint32_t>(s.device(), member_);
  rows_ = Buffer<std::uint32_t>(s.device(), row_);
  at_ = Buffer<Real3>(s.device(), std::span<const Real3>(at));
}

void BodyInsertions::propose(StepContext& s, const Round& round) {
  const std::int64_t n = round.cells.active();
  if (turned_.size() != n) turned_ = {s.device(), n};
  const ParticleView particles = s.particles().view();
  for_each(s.device(), "insertions of bodies", n,
           ProposeBodies{round, s.device_step(), size_, type_, members_.data(), rows_.data(),
                         at_.data(), turned_.data(), s.particles().metric(),
                         s.particles().box().dimension == 2, particles.position, particles.index});
}

}  // namespace perrin::monte_carlo
