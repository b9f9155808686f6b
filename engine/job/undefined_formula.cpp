#include "engine/job/undefined_formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/base/error.h"
#include "engine/formula/parse.h"
#include "engine/system/attribute.h"
#include "engine/system/nearest_vector.h"

namespace perrin {
namespace {

using Values = std::map<std::string, double>;

/// A formula of a force, and its derivatives by what it is a function of.
class Curve {
 public:
  Curve(const Json& settings, const char* key, const std::vector<std::string>& variables)
      : text_(settings.at(key).get<std::string>()), formula_(formula::parse(text_, variables)) {
    for (const std::string& v : variables)
      if (v != "t") slopes_.push_back(formula::derivative(formula_.value, v));
  }

  const std::vector<std::string>& parameters() const { return formula_.parameters; }
  double value(const Values& values) const { return formula::evaluate(formula_.value, values); }
  /// Empty: it is a number there, and so are its derivatives.
  std::string wrong(const Values& values) const {
    if (const double e = value(values); !std::isfinite(e)) return words("the formula", e);
    for (const auto& slope : slopes_)
      if (const double f = formula::evaluate(slope, values); !std::isfinite(f))
        return words("the derivative of the formula", f);
    return {};
  }

 private:
  std::string words(const char* what, double value) const {
    return fmt::format("{} {} is {}", what, text_,
                       std::isnan(value) ? "not a number (NaN)" : "infinite");
  }
  std::string text_;
  formula::Formula formula_;
  std::vector<formula::Expression> slopes_;
};

class Search {
 public:
  Search(const Json& settings, const Configuration& c, std::optional<std::uint32_t> particle)
      : settings_(settings), c_(c), images_(images_of(c.box)), particle_(particle) {}

  std::string of_bonds() {
    const Curve curve(settings_, "energy", {"r"});
    for (const auto& b : c_.topology.bonds) {
      if (!concerns({b.a, b.b})) continue;
      auto values = entry("bonds", c_.topology.bond_types[b.type], curve, {b.a, b.b});
      if (!values) continue;
      const double r = (*values)["r"] = length(between(b.a, b.b));
      if (const std::string what = curve.wrong(*values); !what.empty())
        return fmt::format("{} at r = {:.6g}, of the bond of particles {} and {}", what, r, b.a,
                           b.b);
    }
    return {};
  }

  std::string of_angles() {
    const Curve curve(settings_, "energy", {"theta"});
    for (const auto& a : c_.topology.angles) {
      if (!concerns({a.a, a.b, a.c})) continue;
      auto values = entry("angles", c_.topology.angle_types[a.type], curve, {a.a, a.b, a.c});
      if (!values) continue;
      const Vec3<double> u = between(a.a, a.b), v = between(a.c, a.b);
      const double theta = (*values)["theta"] = std::atan2(length(cross(u, v)), dot(u, v));
      if (const std::string what = curve.wrong(*values); !what.empty())
        return fmt::format("{} at theta = {:.6g}, of the angle of particles {}, {} and {}", what,
                           theta, a.a, a.b, a.c);
    }
    return {};
  }

  /// phi as forces/dihedral_force.h has it.
  std::string of_dihedrals() {
    const Curve curve(settings_, "energy", {"phi"});
    for (const auto& d : c_.topology.dihedrals) {
      if (!concerns({d.a, d.b, d.c, d.d})) continue;
      auto values =
          entry("dihedrals", c_.topology.dihedral_types[d.type], curve, {d.a, d.b, d.c, d.d});
      if (!values) continue;
      const Vec3<double> along = between(d.b, d.c);
      const Vec3<double> m = cross(between(d.a, d.b), along), n = cross(between(d.d, d.c), along);
      const double phi = (*values)["phi"] =
          std::atan2(dot(cross(n, m), along) / length(along), dot(m, n));
      if (const std::string what = curve.wrong(*values); !what.empty())
        return fmt::format(
            "{} at phi = {:.6g}, of the dihedral angle of particles {}, {}, {} and {}", what, phi,
            d.a, d.b, d.c, d.d);
    }
    return {};
  }

  std::string of_places() {
    const Curve curve(settings_, "energy", {"x", "y", "z", "t"});
    for (const std::uint32_t i : particles()) {
      auto values = entry("types", c_.types[c_.type[i]], curve, {i});
      if (!values) continue;
      const Vec3<double> r = c_.position[i];
      (*values)["x"] = r.x, (*values)["y"] = r.y, (*values)["z"] = r.z, (*values)["t"] = c_.time;
      if (const std::string what = curve.wrong(*values); !what.empty())
        return fmt::format("{} at x = {:.6g}, y = {:.6g}, z = {:.6g}, of particle {}", what, r.x,
                           r.y, r.z, i);
    }
    return {};
  }

  std::string of_pairs(const char* key = "energy") {
    return of_pairs(Curve(settings_, key, {"r"}),
                    [](std::uint32_t, std::uint32_t, Values&) { return std::string(); });
  }

  std::string of_directions() {
    if (c_.orientation.empty()) return {};
    const auto axis = [&](std::uint32_t i) {
      return rotate(c_.orientation[i], Vec3<double>{1, 0, 0});
    };
    return of_pairs(Curve(settings_, "energy", {"r", "cos_1", "cos_2", "cos_12"}),
                    [&](std::uint32_t i, std::uint32_t j, Values& values) {
                      const Vec3<double> to_i = between(i, j), u = axis(i), v = axis(j);
                      const double r = length(to_i);
                      values["cos_1"] = -dot(u, to_i) / r, values["cos_2"] = dot(v, to_i) / r;
                      values["cos_12"] = dot(u, v);
                      return fmt::format(", cos_1 = {:.6g}, cos_2 = {:.6g}, cos_12 = {:.6g}",
                                         values["cos_1"], values["cos_2"], values["cos_12"]);
                    });
  }

  /// The density as it is without a truncation, which makes it a little less.
  std::string of_densities() {
    for (const char* const key : {"density", "pair"})
      if (const auto text = settings_.find(key); text != settings_.end() && text->is_string())
        if (std::string what = of_pairs(key); !what.empty()) return what;
    const Curve density(settings_, "density", {"r"}), energy(settings_, "energy", {"rho"});
    for (const std::uint32_t i : few_particles()) {
      Values all;
      if (const auto own = entry("types", c_.types[c_.type[i]], energy, {i}))
        all = *own;
      else if (!energy.parameters().empty())
        continue;
      double& rho = all["rho"] = 0;
      for (std::uint32_t j = 0; j < c_.position.size(); ++j)
        if (const auto values = j != i ? of_pair(i, j, density) : std::nullopt)
          rho += density.value(*values);
      if (const std::string what = energy.wrong(all); !what.empty())
        return fmt::format("{} at rho = {:.6g}, of particle {}", what, rho, i);
    }
    return {};
  }

 private:
  /// `add(i, j, values)` adds what else the curve is a function of, and says it.
  template <class Add>
  std::string of_pairs(const Curve& curve, const Add& add) {
    for (const std::uint32_t i : few_particles())
      for (std::uint32_t j = 0; j < c_.position.size(); ++j) {
        auto values = j != i ? of_pair(i, j, curve) : std::nullopt;
        if (!values) continue;
        const std::string more = add(i, j, *values);
        if (const std::string what = curve.wrong(*values); !what.empty())
          return fmt::format("{} at r = {:.6g}{}, of particles {} and {}", what, (*values)["r"],
                             more, i, j);
      }
    return {};
  }

  static double length(const Vec3<double>& v) { return std::sqrt(dot(v, v)); }

  /// From b to a, to the nearest image.
  Vec3<double> between(std::uint32_t a, std::uint32_t b) const {
    return images_.nearest(c_.position[a] - c_.position[b]);
  }

  bool concerns(std::initializer_list<std::uint32_t> ids) const {
    return !particle_ || std::ranges::find(ids, *particle_) != ids.end();
  }
  std::vector<std::uint32_t> particles() const {
    if (particle_) return {*particle_};
    std::vector<std::uint32_t> all;
    for (std::uint32_t i = 0; i < c_.position.size(); ++i) all.push_back(i);
    return all;
  }
  /// All of them would take too long where there are many.
  std::vector<std::uint32_t> few_particles() const {
    constexpr std::size_t most = 10000;
    return particle_ || c_.position.size() <= most ? particles() : std::vector<std::uint32_t>{};
  }

  /// Parameters and attributes; nothing where the settings do not have them.
  std::optional<Values> entry(const char* list, const std::string& name, const Curve& curve,
                              const std::vector<std::uint32_t>& ids) {
    const auto of = settings_.find(list);
    if (of == settings_.end() || !of->contains(name)) return {};
    return completed((*of)[name], curve, ids);
  }
  std::optional<Values> completed(const Json& given, const Curve& curve,
                                  const std::vector<std::uint32_t>& ids) {
    Values values;
    for (const std::string& p : curve.parameters())
      if (const auto it = given.find(p); it != given.end() && it->is_number())
        values[p] = it->get<double>();
      else if (const auto number = attribute(p, ids))
        values[p] = *number;
      else
        return {};
    return values;
  }
  /// NAME of one particle, NAME_1, NAME_2, … of several.
  std::optional<double> attribute(std::string name, const std::vector<std::uint32_t>& ids) {
    std::size_t which = 0;
    if (ids.size() > 1) {
      if (name.size() < 3 || name[name.size() - 2] != '_') return {};
      which = std::size_t(name.back() - '1');
      name.resize(name.size() - 2);
    }
    if (which >= ids.size()) return {};
    if (!columns_.contains(name)) columns_[name] = attribute_of(c_, name);
    const auto& column = columns_[name];
    return column ? std::optional((*column)[ids[which]]) : std::nullopt;
  }

  /// Of two particles within the cut-off.
  std::optional<Values> of_pair(std::uint32_t i, std::uint32_t j, const Curve& curve) {
    const double r = length(between(i, j));
    const Json* const pair = pair_of(c_.types[c_.type[i]], c_.types[c_.type[j]]);
    if (!pair) return {};
    const Json cutoff = pair->value("cutoff", settings_.value("cutoff", Json()));
    if (cutoff.is_number() && r > cutoff.get<double>()) return {};
    auto values = completed(*pair, curve, {i, j});
    if (values) (*values)["r"] = r;
    return values;
  }
  const Json* pair_of(const std::string& a, const std::string& b) {
    const auto [it, is_new] = pairs_.try_emplace({a, b});
    if (!is_new) return it->second.is_null() ? nullptr : &it->second;
    const Json *like_a = nullptr, *like_b = nullptr;
    for (const Json& pair : settings_.at("pairs")) {
      const Json& types = pair.at("types");
      if (types == Json::array({a, b}) || types == Json::array({b, a})) it->second = pair;
      if (types == Json::array({a, a})) like_a = &pair;
      if (types == Json::array({b, b})) like_b = &pair;
    }
    const Json rules = settings_.value("mixing", Json::object());
    if (it->second.is_null() && like_a && like_b && rules.is_object() && !rules.empty())
      for (const auto& [name, rule] : rules.items()) {
        const double x = like_a->at(name).get<double>(), y = like_b->at(name).get<double>();
        it->second[name] = rule == "geometric" ? std::sqrt(x * y) : (x + y) / 2;
      }
    return it->second.is_null() ? nullptr : &it->second;
  }

  const Json& settings_;
  const Configuration& c_;
  const Images<double> images_;
  std::optional<std::uint32_t> particle_;
  std::map<std::string, std::optional<std::vector<double>>> columns_;
  std::map<std::pair<std::string, std::string>, Json> pairs_;
};

}  // namespace

std::string undefined_formula(const std::string& type, const Json& settings, const Configuration& c,
                              std::optional<std::uint32_t> particle) {
  try {
    Search search(settings, c, particle);
    if (type == "pair_formula") return search.of_pairs();
    if (type == "bond_formula") return search.of_bonds();
    if (type == "angle_formula") return search.of_angles();
    if (type == "dihedral_formula") return search.of_dihedrals();
    if (type == "anisotropic_formula") return search.of_directions();
    if (type == "external_formula") return search.of_places();
    if (type == "many_body_formula") return search.of_densities();
  } catch (const nlohmann::json::exception&) {  // of what another text than "energy" says
  } catch (const UserError&) {
  }
  return {};
}

}  // namespace perrin
