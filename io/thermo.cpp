#include "io/thermo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/components/instant.h"
#include "engine/components/integrator.h"
#include "engine/components/run_control.h"
#include "engine/dynamics/observation.h"
#include "engine/dynamics/reservoir.h"
#include "io/file_units.h"

namespace perrin {
namespace {

using Row = std::vector<double>;

/// Numbers of a row.
std::size_t width(const io::ObservableColumn& about) {
  std::size_t width = 1;
  for (const hsize_t extent : about.row) width *= extent;
  return width;
}

/// xx yy zz xy xz yz as a symmetric matrix.
void put_tensor(const std::array<double, 6>& t, Row& row) {
  row.insert(row.end(), {t[0], t[3], t[4], t[3], t[1], t[5], t[4], t[5], t[2]});
}

/// [id]: about how many axes a particle has a moment of inertia. Empty: no particle has any.
std::vector<std::uint8_t> axes_of_rotation(const Configuration& c) {
  std::vector<std::uint8_t> axes;
  if (c.orientation.empty()) return axes;
  for (const Vec3<double>& moment : c.moment_of_inertia) {
    axes.push_back(0);
    for (int axis = c.box.dimension == 2 ? 2 : 0; axis < 3; ++axis)
      if (moment[axis] > 0) ++axes.back();
  }
  if (std::ranges::count(axes, 0) == std::ptrdiff_t(axes.size())) axes.clear();
  return axes;
}

void check_settings(const ThermoSettings& settings, Setup& setup) {
  if (settings.console_stride % settings.stride != 0)
    setup.error("console_stride", fmt::format("must be a multiple of stride ({}), got {}",
                                              settings.stride, settings.console_stride));
  if (settings.console_stride == 0 && settings.console != ThermoSettings{}.console)
    setup.warn("console", "has no effect without \"console_stride\"");
  if (settings.file.empty() && settings.console_stride == 0)
    setup.error("console_stride",
                "must be positive if file is empty, since nothing would be written");
}

}  // namespace

Thermo::Thermo(const ThermoSettings& settings, Setup& setup)
    : settings_(settings), control_(setup.has_control() ? &setup.control() : nullptr) {
  check_settings(settings, setup);
  const auto number = [&](const std::string& name, const std::string& unit, auto value) {
    columns_.push_back(
        {{name, {}, unit}, [value](const Instant& i, Row& row) { row.push_back(value(i)); }});
  };
  const Units& u = setup.units();
  const int dimension = setup.configuration().box.dimension;
  number("temperature", u.temperature(), [](const Instant& i) { return i.temperature; });
  number("kinetic_energy", u.energy, [](const Instant& i) { return i.totals.kinetic; });
  number("potential_energy", u.energy, [](const Instant& i) { return i.totals.potential; });
  number("total_energy", u.energy, [](const Instant& i) { return i.totals.total_energy(); });
  number("conserved_energy", u.energy, [](const Instant& i) {
    const Totals& t = i.totals;
    // Overdamped: its heat is what came into the potential energy.
    const bool overdamped = i.velocities == VelocityRole::bath;
    return (overdamped ? 0 : t.kinetic + t.rotational) + t.potential - t.heat - t.work;
  });
  number("pressure", u.pressure(dimension), [](const Instant& i) { return i.pressure(); });
  columns_.push_back({{"pressure_tensor", {3, 3}, u.pressure(dimension)},
                      [](const Instant& i, Row& row) { put_tensor(i.pressure_tensor(), row); }});
  columns_.push_back({{"momentum", {3}, io::file_momentum(u).name, io::file_momentum(u).factor},
                      [](const Instant& i, Row& row) {
                        const Vec3<double> p = i.totals.momentum;
                        row.insert(row.end(), {p.x, p.y, p.z});
                      }});
  number("volume", u.volume(dimension), [](const Instant& i) { return i.box.volume(); });
  const auto density = [](const Instant& i) { return double(i.particles) / i.box.volume(); };
  comes_and_goes_ = has_absent(setup.configuration());
  if (comes_and_goes_) {
    number("particles", "", [](const Instant& i) { return double(i.particles); });
    number("density", u.volume(-dimension), density);
  }
  add_rotation(setup);
  const std::size_t in_file = columns_.size();  // columns
  const io::FileUnit length = io::file_length(u);
  const auto lengths = [&](const std::string& name, auto value) {
    columns_.push_back(
        {{name, {3}, length.name, length.factor}, [value](const Instant& i, Row& row) {
           const Vec3<double> v = value(i.box);
           row.insert(row.end(), {v.x, v.y, v.z});
         }});
  };
  lengths("box_lengths", [](const Box& b) {
    const auto e = b.edges();
    return Vec3<double>{b.length.x, std::sqrt(dot(e[1], e[1])), std::sqrt(dot(e[2], e[2]))};
  });
  columns_.push_back(
      {{"box_angles", {3}, "degrees"}, [](const Instant& i, Row& row) {
         const auto e = i.box.edges();
         const auto angle = [](Vec3<double> a, Vec3<double> b) {
           const double c = dot(a, b) / std::sqrt(dot(a, a) * dot(b, b));
           return std::acos(std::clamp(c, -1.0, 1.0)) * 180 / M_PI;
         };
         row.insert(row.end(), {angle(e[1], e[2]), angle(e[0], e[2]), angle(e[0], e[1])});
       }});
  if (!comes_and_goes_) number("density", u.volume(-dimension), density);
  number("enthalpy", u.energy,
         [](const Instant& i) { return i.totals.total_energy() + i.pressure() * i.box.volume(); });
  number("work", u.energy, [](const Instant& i) { return i.totals.work; });
  number("shear_strain", "", [](const Instant& i) { return i.shear_strain; });
  const std::size_t of_groups = columns_.size();
  for (std::size_t k = 0; k < settings.groups.size(); ++k) add_group(settings.groups[k], k, setup);
  for (const Column& column : columns_) abouts_.push_back(column.about);
  std::vector<io::ObservableColumn> kept;
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    columns_[k].is_written = k < in_file || k >= of_groups || settings.box;
    if (columns_[k].is_written) kept.push_back(abouts_[k]);
  }
  for (const io::ObservableColumn& about : kept) row_in_file_ += width(about);
  for (const io::ObservableColumn& about : abouts_) row_in_all_ += width(about);
  std::filesystem::path path;
  if (!settings.file.empty()) path = setup.output_file(settings.file, "file");
  file_ = std::make_unique<io::ObservableFile>(path, kept, setup);
}

/// Of particles that turn.
void Thermo::add_rotation(Setup& setup) {
  turning_ = axes_of_rotation(setup.configuration());
  if (turning_.empty()) return;
  const Units& u = setup.units();
  columns_.push_back({{"rotational_energy", {}, u.energy},
                      [](const Instant& i, Row& row) { row.push_back(i.totals.rotational); }});
  columns_.push_back({{"rotational_temperature", {}, u.temperature()},
                      [this, kb = setup.k_boltzmann()](const Instant& i, Row& row) {
                        const double none = std::numeric_limits<double>::quiet_NaN();
                        row.push_back(rotational_freedom_ > 0
                                          ? 2 * i.totals.rotational /
                                                (double(rotational_freedom_) * kb)
                                          : none);
                      }});
}

/// Of particles whose motion is not prescribed by an integrator of the stage.
void Thermo::count_rotation() {
  const Integrator* const integrator = seen_->integrator();
  const Motion motion = integrator != nullptr ? integrator->motion() : Motion{};
  rotational_freedom_ = 0;
  // Who comes and goes is counted by no one, and their rotation is that of a heat bath.
  if (comes_and_goes_ && motion.velocities == VelocityRole::bath) return;
  for (std::size_t id = 0; id < turning_.size(); ++id)
    if (!motion.of_each || motion.of_each->axes[id] != 0) rotational_freedom_ += turning_[id];
}

void Thermo::add_group(const std::string& name, std::size_t k, Setup& setup) {
  const Group* const group = setup.group(name, fmt::format("groups[{}]", k));
  if (!group) return;
  if (std::ranges::count_if(
          columns_, [&](const Column& c) { return c.about.name == "temperature_" + name; }) > 0)
    return setup.error(fmt::format("groups[{}]", k), "is given twice");
  const std::size_t at = setup.watch(*group);
  const Units& u = setup.units();
  const auto number = [&](const std::string& what, const std::string& unit,
                          double GroupTotals::*value) {
    columns_.push_back({{what + "_" + name, {}, unit}, [=](const Instant& i, Row& row) {
                          row.push_back(i.groups.at(at).*value);
                        }});
  };
  const auto vector = [&](const std::string& what, const io::FileUnit& unit,
                          Vec3<double> GroupTotals::*value) {
    columns_.push_back(
        {{what + "_" + name, {3}, unit.name, unit.factor}, [=](const Instant& i, Row& row) {
           const Vec3<double>& v = i.groups.at(at).*value;
           row.insert(row.end(), {v.x, v.y, v.z});
         }});
  };
  number("temperature", u.temperature(), &GroupTotals::temperature);
  number("kinetic_energy", u.energy, &GroupTotals::kinetic);
  vector("momentum", io::file_momentum(u), &GroupTotals::momentum);
  vector("force", io::file_force(u), &GroupTotals::force);
  number("heat", u.energy, &GroupTotals::heat);
  const int dimension = setup.configuration().box.dimension;
  columns_.push_back(
      {{"pressure_tensor_" + name, {3, 3}, u.pressure(dimension)}, [=](const Instant& i, Row& row) {
         std::array<double, 6> share = i.groups.at(at).stress;
         for (double& component : share) component /= i.box.volume();
         put_tensor(share, row);
       }});
}

/// Of a row of all columns.
void Thermo::keep_written(Row& row) const {
  std::size_t from = 0, to = 0;
  for (const Column& column : columns_) {
    const std::size_t numbers = width(column.about);
    if (column.is_written)
      for (std::size_t k = 0; k < numbers; ++k) row[to++] = row[from + k];
    from += numbers;
  }
  row.resize(to);
}

std::string Thermo::needs_velocities() const {
  if (settings_.console_stride == 0) return {};
  for (const std::string& name : settings_.console)
    if (name == "kinetic_energy" || name == "momentum")
      return fmt::format("\"{}\" on the console", name);
  return {};
}

void Thermo::begin(const Observation& seen, bool resumed) {
  printed_ = 0;
  seen_.emplace(seen), rotational_freedom_ = -1;
  file_->begin(seen, resumed);
}

void Thermo::observe_totals(const Instant& instant) {
  const auto step = std::int64_t(instant.step);
  if (step == file_->last_step()) return;
  if (rotational_freedom_ < 0 && !turning_.empty()) count_rotation();
  Row row;
  row.reserve(row_in_all_);  // what is kept of it may wait in a queue
  for (const Column& column : columns_) column.values(instant, row);
  if (settings_.console_stride > 0 && step % settings_.console_stride == 0)
    print(step, instant.time, row);
  if (row_in_file_ != row_in_all_) keep_written(row);
  file_->append(step, instant.time, std::move(row));
}

void Thermo::print(std::int64_t step, double time, const Row& row) {
  if (control_ == nullptr || !control_->prints()) return;
  std::string head, line;
  for (const std::string& name : settings_.console) {
    if (name == "step") {
      head += fmt::format("{:>12}", name);
      line += fmt::format("{:>12}", step);
      continue;
    }
    if (name == "time") {
      head += fmt::format(" {:>12}", name);
      line += fmt::format(" {:>12.6g}", time);
      continue;
    }
    std::size_t at = 0;
    for (const io::ObservableColumn& about : abouts_) {
      const std::size_t numbers = width(about);
      if (about.name == name) {
        for (std::size_t k = 0; k < numbers; ++k) {
          // The tensor is symmetric: its upper triangle says all.
          if (numbers == 9 && k / 3 > k % 3) continue;
          std::string label = name;
          if (numbers == 3) label += std::string("_") + "xyz"[k];
          if (numbers == 9) label = fmt::format("pressure_{}{}", "xyz"[k / 3], "xyz"[k % 3]);
          const std::size_t space = std::max<std::size_t>(label.size(), 14);
          head += fmt::format(" {:>{}}", label, space);
          line += fmt::format(" {:>{}.8g}", row[at + k], space);
        }
      }
      at += numbers;
    }
  }
  if (printed_++ % 25 == 0) control_->print_line(head);
  control_->print_line(line);
}

void Thermo::end(const Observation& seen) { file_->end(seen); }

void Thermo::state(Archive& archive) { file_->state(archive); }

}  // namespace perrin
