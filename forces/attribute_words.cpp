#include "forces/attribute_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>

#include "engine/device/parallel.h"
#include "engine/domain/decomposition.h"
#include "engine/formula/parse.h"
#include "engine/system/attribute.h"

namespace perrin {
namespace {

/// Numbers that change with the time, of one particle.
struct ChangeWords {
  static constexpr std::size_t most_inputs = 8;
  formula::ProgramView program[4];  // of the time and of `inputs`; empty: the number stays
  const double* inputs;             // [column · n + id]: attributes at the start
  int columns;
  std::int64_t n;
  DeviceTime time;
  Real4* by_id;

  PERRIN_HD void operator()(std::int64_t id) const {
    double now[1 + most_inputs];
    now[0] = time();
    for (int c = 0; c < columns; ++c) now[1 + c] = inputs[c * n + id];
    Real4 word = by_id[id];
    if (program[0]) word.x = Real(program[0].evaluate(now));
    if (program[1]) word.y = Real(program[1].evaluate(now));
    if (program[2]) word.z = Real(program[2].evaluate(now));
    if (program[3]) word.w = Real(program[3].evaluate(now));
    by_id[id] = word;
  }
};
}  // namespace

AttributeWords::AttributeWords(const std::vector<std::string>& names, const std::string& key,
                               Setup& setup)
    : names_(names) {
  const Configuration& c = setup.configuration();
  PERRIN_ASSERT(names.size() <= most);
  values_.assign(c.position.size(), {});
  for (std::size_t k = 0; k < names.size(); ++k) {
    const auto column = attribute_of(c, names[k]);
    if (!column) {
      setup.error(
          key, no_attribute(c, names[k]) + ", and no entry of the force gives it as a parameter");
      continue;
    }
    for (std::size_t id = 0; id < values_.size(); ++id) values_[id][k] = (*column)[id];
    if (c.attribute_changes.contains(names[k])) take_change(c, names[k], k, key, setup);
  }
  inputs_ = {setup.device(), std::span<const double>(columns_)};
  by_id_ = {setup.device(), std::span<const Real4>(words())};
  in_memory_ = {setup.device(), std::int64_t(most) * (by_id_.size() + beyond_last)};
}

void AttributeWords::follow(const std::map<std::string, std::vector<double>>& changed) {
  bool any = false;
  for (std::size_t k = 0; k < names_.size(); ++k) {
    const auto found = changed.find(names_[k]);
    if (found == changed.end()) continue;
    any = true;
    for (std::size_t id = 0; id < values_.size(); ++id) values_[id][k] = found->second[id];
  }
  if (any) by_id_.assign(words()), order_.clear();
}

Real4 AttributeWords::word(std::size_t id) const {
  const auto& v = values_[id];
  return {Real(v[0]), Real(v[1]), Real(v[2]), Real(v[3])};
}

formula::Bounds AttributeWords::bounds(std::size_t k, std::uint32_t type,
                                       const Configuration& c) const {
  const auto of = [&](const std::string& name) {
    const auto column = attribute_of(c, name).value_or(std::vector<double>{});
    formula::Bounds found{std::numeric_limits<double>::infinity(),
                          -std::numeric_limits<double>::infinity()};
    for (std::size_t id = 0; id < column.size(); ++id)
      if (c.type[id] == type)
        found = {std::min(found.low, column[id]), std::max(found.high, column[id])};
    if (const auto updated = c.attribute_between.find(name);
        updated != c.attribute_between.end() && found.low <= found.high)
      found = {updated->second[0], updated->second[1]};
    return found;
  };
  const auto change = c.attribute_changes.find(names_[k]);
  if (change == c.attribute_changes.end()) return of(names_[k]);
  const formula::Formula formula = formula::parse(change->second, {"t"});
  std::map<std::string, formula::Bounds> known{{"t", {0, std::numeric_limits<double>::infinity()}}};
  for (const std::string& name : formula.parameters) known[name] = of(name);
  return formula::bounds(formula.value, known);
}

const Real4* AttributeWords::by_id(StepContext& s) {
  if (!changes()) return by_id_.data();
  ChangeWords kernel{
      {}, inputs_.data(), int(input_names_.size()), by_id_.size(), s.device_time(), by_id_.data()};
  for (std::size_t k = 0; k < most; ++k)
    kernel.program[k] = {code_[k].data(), int(code_[k].size())};
  for_each(s.device(), "attributes that change", by_id_.size(), kernel);
  return by_id_.data();
}

bool AttributeWords::keeps_view(const StepContext& s) const {
  return viewed_ && !decomposition_of(s.device()).several();
}

/// On a CPU ids tell faster than a copy is made whether the last one is still right.
bool AttributeWords::keeps_order(const StepContext& s) {
  if (s.device().is_cuda() || changes() || s.device().halt().skipping()) return false;
  const std::span<const std::uint32_t> id(s.particles().id().data(),
                                          std::size_t(s.particles().size()));
  if (std::ranges::equal(id, order_)) return true;
  order_.assign(id.begin(), id.end());
  return false;
}

void AttributeWords::refresh(StepContext& s, std::size_t stride) {
  if (keeps_order(s)) return;
  constexpr auto words = std::int64_t(sizeof(Real) / 4);  // of a number
  const ParticleArrays::OrderedCopy copy{by_id(s), 4 * words, in_memory_.data(),
                                         std::int64_t(stride) * words};
  // While steps are recorded it follows the particles by itself.
  const bool follows = !changes() && !decomposition_of(s.device()).several();
  if (follows && !copy_) copy_ = s.particles().extra().add(copy);
  if (!(follows && s.device().queue().recording()))
    s.particles().extra().refresh(copy, s.particles().id().data());
  viewed_ = true;
}

std::vector<Real4> AttributeWords::words() const {
  std::vector<Real4> words;
  for (std::size_t id = 0; id < values_.size(); ++id) words.push_back(word(id));
  return words;
}

bool AttributeWords::changes() const {
  return std::ranges::any_of(code_, [](const auto& code) { return code.size() > 0; });
}

void AttributeWords::take_change(const Configuration& c, const std::string& name, std::size_t k,
                                 const std::string& key, Setup& setup) {
  const formula::Formula formula = formula::parse(c.attribute_changes.at(name), {"t"});
  for (const std::string& other : formula.parameters) {
    const auto column = attribute_of(c, other);
    if (!column || std::ranges::count(input_names_, other) > 0) continue;
    input_names_.push_back(other);
    columns_.insert(columns_.end(), column->begin(), column->end());
  }
  if (input_names_.size() > ChangeWords::most_inputs)
    return setup.error(key, fmt::format("reads attributes whose changes depend on more than {} "
                                        "attributes",
                                        ChangeWords::most_inputs));
  std::vector<std::string> variables{"t"};
  variables.insert(variables.end(), input_names_.begin(), input_names_.end());
  const auto program = formula::program(formula.value, variables);
  code_[k] = {setup.device(), std::span<const formula::Instruction>(program)};
}

}  // namespace perrin
