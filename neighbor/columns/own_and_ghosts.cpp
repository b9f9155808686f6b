#include "neighbor/columns/own_and_ghosts.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "engine/device/parallel.h"

namespace perrin {

void OwnAndGhosts::gather(const Particles& particles, const ColumnGrid& grid, double reach) {
  grid_ = grid;
  const double width =
      particles.box().padded_heights()[grid.axis[0]] / double(std::max(1, grid.cells[0]));
  beside_ = std::max(grid.reach[0], std::int32_t(std::min(std::ceil(reach / width), 1e9)));
  count_layers(particles);
  mine_ = needed_by(particles.share());
  travel(particles);
  // Known layers follow one another here as they do in memory, without those between.
  to_memory_.assign(layer_first_.size(), 0);
  std::int64_t here = 0;
  for (std::int32_t layer = 0; layer < grid.cells[0]; ++layer) {
    to_memory_[std::size_t(layer)] = layer_begin(layer) - here;
    if (knows(layer)) here += layer_begin(layer + 1) - layer_begin(layer);
  }
  PERRIN_ASSERT(here == size());
}

void OwnAndGhosts::count_layers(const Particles& particles) {
  const Share own = particles.share();
  const auto layers = std::size_t(grid_.cells[0]);
  layer_.resize(std::size_t(own.size()));
  parts_ = std::clamp<std::int64_t>(own.size() / 1024, 1, 64);
  part_count_.assign(std::size_t(parts_) * layers, 0);
  for_tasks(particles.device(), parts_, [&](std::int64_t part, int) {
    std::uint32_t* const count = part_count_.data() + std::size_t(part) * layers;
    const std::int64_t end = own.size() * (part + 1) / parts_;
    for (std::int64_t k = own.size() * part / parts_; k < end; ++k) {
      const Position& p = particles.position().data()[own.begin + k];
      const std::int32_t layer = cell_along(fraction_along(p, grid_.axis[0]), grid_.cells[0]);
      layer_[std::size_t(k)] = layer;
      ++count[layer];
    }
  });
  std::vector<std::int64_t> count(layers, 0);
  for (std::size_t k = 0; k < part_count_.size(); ++k) count[k % layers] += part_count_[k];
  decomposition_of(particles.device()).sum(count);
  layer_first_.assign(layers + 1, 0);
  std::partial_sum(count.begin(), count.end(), layer_first_.begin() + 1);
  PERRIN_ASSERT(layer_first_.back() == particles.size());
}

std::int32_t OwnAndGhosts::layer_of(std::int64_t place) const {
  const auto after = std::ranges::upper_bound(layer_first_, place);
  return std::int32_t(after - layer_first_.begin()) - 1;
}

/// Layers with particles of a share, and those beside them.
OwnAndGhosts::Layers OwnAndGhosts::needed_by(const Share& share) const {
  const std::int32_t all = grid_.cells[0], beside = std::min(beside_, all);
  if (share.size() == 0) return {0, 0, all};
  const std::int32_t begin = layer_of(share.begin), last = layer_of(share.end - 1);
  if (last - begin + 1 + 2 * beside >= all) return {0, all, all};
  return {(begin - beside + all) % all, last - begin + 1 + 2 * beside, all};
}

void OwnAndGhosts::take(std::size_t k, const Migrant& t) {
  position_[k] = t.position, velocity_[k] = t.velocity, image_[k] = t.image, id_[k] = t.id;
}

void OwnAndGhosts::travel(const Particles& particles) {
  const Device& device = particles.device();
  const Decomposition& decomposition = decomposition_of(device);
  const Share own = particles.share();
  const ParticleArrays::Elements elements = particles.extra().elements();
  element_bytes_ = elements.bytes();
  const std::size_t record = sizeof(Migrant) + element_bytes_;
  const auto layers = std::size_t(grid_.cells[0]);
  const auto domains = std::size_t(decomposition.count()), me = std::size_t(decomposition.own());
  std::vector<std::vector<std::uint32_t>> who(layers);  // needs a layer, this one included
  for (std::size_t p = 0; p < domains; ++p) {
    const Layers needed = needed_by(decomposition.share(particles.size(), int(p)));
    for (std::int32_t k = 0; k < needed.count; ++k)
      who[std::size_t((needed.begin + k) % needed.all)].push_back(std::uint32_t(p));
  }
  // Where each part of the own particles begins in what goes to each domain.
  std::vector<std::size_t> next(std::size_t(parts_) * domains, 0), total(domains, 0);
  for (std::size_t part = 0; part < std::size_t(parts_); ++part) {
    std::copy(total.begin(), total.end(), next.begin() + std::ptrdiff_t(part * domains));
    for (std::size_t layer = 0; layer < layers; ++layer)
      for (const std::uint32_t p : who[layer]) total[p] += part_count_[part * layers + layer];
  }
  out_.resize(domains);
  for (std::size_t p = 0; p < domains; ++p) out_[p].resize(p == me ? 0 : total[p] * record);
  const auto resize = [&](std::size_t n) {
    position_.resize(n), velocity_.resize(n), image_.resize(n), id_.resize(n);
    elements_.resize(n * element_bytes_);
  };
  resize(total[me]);
  for_tasks(device, parts_, [&](std::int64_t part, int) {
    std::size_t* const at = next.data() + std::size_t(part) * domains;
    const std::int64_t end = own.size() * (part + 1) / parts_;
    for (std::int64_t k = own.size() * part / parts_; k < end; ++k) {
      const std::int64_t i = own.begin + k;
      const Migrant t{particles.velocity().data()[i], particles.position().data()[i],
                      particles.image().data()[i], particles.id().data()[i]};
      for (const std::uint32_t p : who[std::size_t(layer_[std::size_t(k)])]) {
        const std::size_t next_one = at[p]++;
        if (p == me) {
          take(next_one, t);
          elements.copy_from(i, t.id, elements_of(next_one));
        } else {
          unsigned char* const to = out_[p].data() + next_one * record;
          std::memcpy(to, &t, sizeof t);
          elements.copy_from(i, t.id, to + sizeof t);
        }
      }
    }
  });
  decomposition.swap_any(out_, in_);
  std::size_t n = total[me];
  for (const auto& piece : in_) n += piece.size() / record;
  resize(n);
  n = total[me];
  for (const auto& piece : in_)
    for (std::size_t at = 0; at < piece.size(); at += record, ++n) {
      Migrant t;
      std::memcpy(&t, piece.data() + at, sizeof t);
      take(n, t);
      std::copy_n(piece.data() + at + sizeof t, element_bytes_, elements_of(n));
    }
}

void OwnAndGhosts::put(Particles& particles, const std::uint32_t* order) const {
  const ParticleView to = particles.view();
  const ParticleArrays::Elements elements = particles.extra().elements();
  for_pieces(particles.device(), size(), 256, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      const std::size_t from = order[k];
      const std::int32_t layer =
          cell_along(fraction_along(position_[from], grid_.axis[0]), grid_.cells[0]);
      const std::int64_t place = k + to_memory(layer);
      to.position[place] = position_[from];
      to.velocity[place] = velocity_[from];
      to.image[place] = image_[from];
      to.id[place] = id_[from];
      to.index[id_[from]] = std::uint32_t(place);
      elements.copy_to(place, id_[from], elements_.data() + from * element_bytes_);
    }
  });
}

std::int64_t OwnAndGhosts::bytes() const {
  std::size_t all = position_.capacity() * sizeof(Position) + velocity_.capacity() * sizeof(Real4) +
                    image_.capacity() * sizeof(Image) + id_.capacity() * 4 + layer_.capacity() * 4 +
                    elements_.capacity();
  for (const auto& piece : out_) all += piece.capacity();
  for (const auto& piece : in_) all += piece.capacity();
  return std::int64_t(all);
}

}  // namespace perrin
