#include "engine/dynamics/event.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "engine/base/error.h"
#include "engine/formula/parse.h"
#include "engine/settings/problems.h"

namespace perrin {
namespace {

using Value = double (*)(const Instant&);

constexpr std::array<std::pair<const char*, Value>, 9> known{{
    {"step", [](const Instant& i) { return double(i.step); }},
    {"time", [](const Instant& i) { return i.time; }},
    {"temperature", [](const Instant& i) { return i.temperature; }},
    {"kinetic_energy", [](const Instant& i) { return i.totals.kinetic; }},
    {"potential_energy", [](const Instant& i) { return i.totals.potential; }},
    {"total_energy", [](const Instant& i) { return i.totals.total_energy(); }},
    {"pressure", [](const Instant& i) { return i.pressure(); }},
    {"volume", [](const Instant& i) { return i.box.volume(); }},
    {"density", [](const Instant& i) { return double(i.particles) / i.box.volume(); }},
}};

}  // namespace

Event::Event(const std::string& text) {
  std::vector<std::string> names;
  for (const auto& [name, value] : known) names.emplace_back(name);
  const formula::Formula formula = formula::parse(text, names);
  if (!formula.parameters.empty())
    throw UserError(fmt::format("unknown name \"{}\"; {}", formula.parameters[0],
                                suggest(formula.parameters[0], names)));
  code_ = formula::program(formula.value, names);
}

bool Event::happens(const Instant& instant) {
  std::array<double, known.size()> values{};
  for (std::size_t k = 0; k < known.size(); ++k) values[k] = known[k].second(instant);
  const formula::ProgramView view{code_.data(), int(code_.size())};
  const double value = view.evaluate(values.data());
  const bool now = value != 0 && !std::isnan(value);
  const bool before = std::exchange(was_true_, now);
  return now && !before;
}

void Event::state(Archive& archive) { archive("was_true", was_true_); }

}  // namespace perrin
