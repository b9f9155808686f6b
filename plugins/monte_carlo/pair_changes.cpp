#include "pair_changes.h"

#include <algorithm>
#include <numeric>

namespace perrin::monte_carlo {

void PairChanges::begin(const StepContext& s) {
  const Device& device = s.device();
  energies_.begin(s, 1024, false);
  position_on_device_ = {device, 0}, start_ = {device, 0};
  place_on_device_ = {device, 0}, id_on_device_ = {device, 0};
}

void PairChanges::start(const Position& at, std::uint32_t place, std::uint32_t id) {
  position_.push_back(at), place_.push_back(place), id_.push_back(id);
  first_.push_back(moves_.size());
}

void PairChanges::add(std::uint32_t place, const Position& from, const Position& to) {
  moves_.push_back({.before_as = place, .after_as = place, .before = from, .after = to});
}

void PairChanges::clear() {
  moves_.clear(), position_.clear(), place_.clear(), id_.clear(), first_.clear();
}

std::vector<double> PairChanges::measure(StepContext& s) {
  if (moves_.empty()) return {};
  const Device& device = s.device();
  const auto count = std::int64_t(moves_.size()), cells = std::int64_t(first_.size());
  if (energies_.room() < count) energies_.begin(s, 2 * count, false);
  std::vector<double> change(moves_.size());
  device.memory().copy_in(energies_.move(), moves_.data(), moves_.size() * sizeof(TrialMove));
  device.memory().copy_in(energies_.change(), change.data(), change.size() * sizeof(double));
  position_on_device_.assign(position_);
  place_on_device_.assign(place_), id_on_device_.assign(id_);
  if (start_.size() <= cells) {  // cell k begins with the k-th of them
    std::vector<std::uint32_t> start(2 * first_.size() + 2);
    std::iota(start.begin(), start.end(), 0u);
    start_.assign(start);
  }
  for (std::size_t k = 0; k < first_.size(); ++k) {
    TrialCells cell{};
    cell.start = start_.data() + k, cell.position = position_on_device_.data();
    cell.place = place_on_device_.data(), cell.id = id_on_device_.data();
    cell.cells = {1, 1, 1};
    const std::size_t end = k + 1 < first_.size() ? first_[k + 1] : moves_.size();
    if (end > first_[k])
      energies_.measure_pairs(s, cell, std::int64_t(first_[k]), std::int64_t(end - first_[k]));
  }
  device.memory().copy_out(change.data(), energies_.change(), change.size() * sizeof(double));
  return change;
}

}  // namespace perrin::monte_carlo
