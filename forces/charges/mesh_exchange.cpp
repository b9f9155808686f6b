#include "forces/charges/mesh_exchange.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/base/error.h"

namespace perrin {
namespace {

/// Puts bytes one behind another, or takes them.
class Parcel {
 public:
  explicit Parcel(std::vector<unsigned char>& bytes) : bytes_(bytes) {}
  void put(const void* from, std::size_t n) {
    const auto* const first = static_cast<const unsigned char*>(from);
    bytes_.insert(bytes_.end(), first, first + n);
  }
  void take(void* to, std::size_t n) {
    PERRIN_ASSERT(taken_ + n <= bytes_.size());
    std::memcpy(to, bytes_.data() + taken_, n);
    taken_ += n;
  }

 private:
  std::vector<unsigned char>& bytes_;
  std::size_t taken_ = 0;
};

}  // namespace

MeshExchange::MeshExchange(const Device& device, const Fft3& fft)
    : size_(fft.size()), groups_(fft.line_groups()), all_lines_(fft.lines()) {
  Decomposition& all = decomposition_of(device);
  if (device.is_cuda() || !all.several()) return;
  decomposition_ = &all;
  own_ = all.own();
  const auto count = std::size_t(all.count());
  out_.resize(count), in_.resize(count), wanted_.resize(count);
}

/// Of the domains that have particles.
Share MeshExchange::portion(std::int64_t n, int p) const {
  if (!several()) return {0, n};
  const int active = decomposition_->active();
  return {n * std::min(p, active) / active, n * std::min(p + 1, active) / active};
}

Share MeshExchange::lines(int p) const {
  const Share groups = line_groups(p);
  const auto first = [&](std::int64_t group) {
    return std::min(all_lines_, group * Fft3::lines_of_group);
  };
  return {first(groups.begin), first(groups.end)};
}

void MeshExchange::begin(std::vector<char> spread, std::vector<char> read) {
  spread_ = std::move(spread), read_ = std::move(read);
}

void MeshExchange::collect(std::int64_t* fixed, std::int64_t plane, int copies, std::int64_t room) {
  if (!several()) return;
  const std::size_t bytes = std::size_t(plane) * sizeof(std::int64_t);
  std::vector<std::int64_t> sum(static_cast<std::size_t>(plane));
  for (int p = 0; p < decomposition_->count(); ++p) {
    std::vector<unsigned char>& out = out_[std::size_t(p)];
    out.clear();
    if (p == own_) continue;
    Parcel parcel(out);
    for (std::int64_t x = planes(p).begin; x < planes(p).end; ++x) {
      const char says[2] = {spread_[std::size_t(x)], read_[std::size_t(x)]};
      parcel.put(says, sizeof says);
      if (!says[0]) continue;
      std::ranges::fill(sum, 0);
      for (int copy = 0; copy < copies; ++copy)
        for (std::int64_t k = 0; k < plane; ++k)
          sum[std::size_t(k)] += fixed[copy * room + x * plane + k];
      parcel.put(sum.data(), bytes);
    }
  }
  decomposition_->swap_any(out_, in_);
  for (int p = 0; p < decomposition_->count(); ++p) {
    std::vector<char>& wanted = wanted_[std::size_t(p)];
    wanted.assign(std::size_t(size_[0]), 0);
    if (p == own_) continue;
    Parcel parcel(in_[std::size_t(p)]);
    for (std::int64_t x = planes().begin; x < planes().end; ++x) {
      char says[2];
      parcel.take(says, sizeof says);
      wanted[std::size_t(x)] = says[1];
      if (!says[0]) continue;
      parcel.take(sum.data(), bytes);
      for (std::int64_t k = 0; k < plane; ++k) fixed[x * plane + k] += sum[std::size_t(k)];
    }
  }
}

void MeshExchange::transpose(Complex* waves, int meshes, bool to_lines) {
  if (!several()) return;
  // visit(first wave, how many) for what is in the planes of one domain and the lines of another.
  const auto for_rows = [&](const Share& planes, const Share& lines, const auto& visit) {
    for (int mesh = 0; mesh < meshes; ++mesh)
      for (std::int64_t x = planes.begin; x < planes.end; ++x)
        visit(waves + (mesh * size_[0] + x) * all_lines_ + lines.begin,
              std::size_t(lines.size()) * sizeof(Complex));
  };
  const auto size = [&](const Share& planes, const Share& lines) {
    return std::size_t(meshes * planes.size() * lines.size()) * sizeof(Complex);
  };
  for (int p = 0; p < decomposition_->count(); ++p) {
    std::vector<unsigned char>&out = out_[std::size_t(p)], &in = in_[std::size_t(p)];
    out.clear();
    in.resize(p == own_ ? 0 : to_lines ? size(planes(p), lines(own_)) : size(planes(), lines(p)));
    if (p == own_) continue;
    Parcel parcel(out);
    const auto put = [&](const Complex* row, std::size_t bytes) { parcel.put(row, bytes); };
    to_lines ? for_rows(planes(), lines(p), put) : for_rows(planes(p), lines(own_), put);
  }
  decomposition_->swap(out_, in_);
  for (int p = 0; p < decomposition_->count(); ++p) {
    if (p == own_) continue;
    Parcel parcel(in_[std::size_t(p)]);
    const auto take = [&](Complex* row, std::size_t bytes) { parcel.take(row, bytes); };
    to_lines ? for_rows(planes(p), lines(own_), take) : for_rows(planes(), lines(p), take);
  }
}

void MeshExchange::give_fields(Real4* fields, std::int64_t plane) {
  if (!several()) return;
  const std::size_t bytes = std::size_t(plane) * sizeof(Real4);
  for (int p = 0; p < decomposition_->count(); ++p) {
    std::vector<unsigned char>&out = out_[std::size_t(p)], &in = in_[std::size_t(p)];
    out.clear(), in.clear();
    if (p == own_) continue;
    Parcel parcel(out);
    for (std::int64_t x = planes().begin; x < planes().end; ++x)
      if (wanted_[std::size_t(p)][std::size_t(x)]) parcel.put(fields + x * plane, bytes);
    const Share theirs = planes(p);
    const auto wants = std::count_if(read_.begin() + theirs.begin, read_.begin() + theirs.end,
                                     [](char is_read) { return is_read != 0; });
    in.resize(std::size_t(wants) * bytes);
  }
  decomposition_->swap(out_, in_);
  for (int p = 0; p < decomposition_->count(); ++p) {
    if (p == own_) continue;
    Parcel parcel(in_[std::size_t(p)]);
    for (std::int64_t x = planes(p).begin; x < planes(p).end; ++x)
      if (read_[std::size_t(x)]) parcel.take(fields + x * plane, bytes);
  }
}

}  // namespace perrin
