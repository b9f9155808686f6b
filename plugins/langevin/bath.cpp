#include "bath.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/domain/reduction.h"
#include "engine/domain/work_distribution.h"
#include "engine/system/site_types.h"

namespace perrin::langevin {
namespace {

struct Heat {
  const double* heat;
  PERRIN_HD double operator()(std::int64_t i) const { return heat[i]; }
};

/// The index of a type, which must not be one of sites alone.
std::uint32_t moved_type(Setup& setup, const std::string& name, const std::string& key) {
  const std::uint32_t type = setup.type_index(name, key);
  const Configuration& c = setup.configuration();
  if (type < c.types.size() && c.types[type] == name && types_of_sites_alone(c)[type] != 0)
    setup.error(key, fmt::format("\"{}\" is {}", name, sites_move_with_bodies));
  return type;
}

}  // namespace

Bath::Bath(const BathSettings& s, const std::string& default_noise, Purpose purpose, Setup& setup)
    : settings_(s), k_boltzmann_(setup.k_boltzmann()), instance_(setup.instance(purpose)) {
  const Configuration& c = setup.configuration();
  check_ramp(s.ramp, "temperature", setup);

  const auto schemes = schemes_of(s.rng);
  if (settings_.scheme == "default") settings_.scheme = schemes[0];
  usable_ = std::find(schemes.begin(), schemes.end(), settings_.scheme) != schemes.end();
  if (!usable_) {
    std::string list;
    for (const auto& scheme : schemes) list += (list.empty() ? "" : ", ") + scheme;
    setup.error("scheme", fmt::format("must be one of {1} for rng \"{0}\", got \"{2}\"", s.rng,
                                      list, s.scheme));
  }
  if (settings_.scheme == "one_for_all" && WorkDistribution::several())
    setup.error("scheme",
                "one_for_all draws all numbers from one sequence, which is not possible with "
                "several processes; expected separate_kernel, or another rng");

  const std::string axes = s.axes.value_or(c.box.dimension == 2 ? "xy" : "xyz");
  const auto has = [&](char axis) { return axes.find(axis) != std::string::npos; };
  law_ = {has('x'), has('y'), has('z'),
          (s.noise == "default" ? default_noise : s.noise) == "uniform"};
  check_normals(setup);
  if (c.box.dimension == 2 && law_.z)
    setup.error("axes", fmt::format("the system has two dimensions, got \"{}\"", axes));

  moves_ = {law_.x, law_.y, law_.z};
  if (s.bath_axes) {
    const auto acts = [&](char axis) { return s.bath_axes->find(axis) != std::string::npos; };
    if ((acts('x') && !law_.x) || (acts('y') && !law_.y) || (acts('z') && !law_.z))
      setup.error("bath_axes",
                  fmt::format("must be among the axes that particles move along ({}), got \"{}\"",
                              axes, *s.bath_axes));
    law_.x = acts('x'), law_.y = acts('y'), law_.z = acts('z');
  }
  find_rotational_drag(setup);
  moves_all_ = s.types.empty() && int(moves_.x) + int(moves_.y) + int(moves_.z) == c.box.dimension;
  if (!s.types.empty()) moving_.assign(c.types.size(), 0);
  for (std::size_t k = 0; k < s.types.size(); ++k)
    moving_.at(moved_type(setup, s.types[k], fmt::format("types[{}]", k))) = 1;

  find_drag(setup);
}

/// Of every type; reports what is missing or of no use.
void Bath::find_drag(Setup& setup) {
  const Configuration& c = setup.configuration();
  const BathSettings& s = settings_;
  if (s.viscosity) {
    if (s.friction || !s.frictions.empty() || !s.frictions_of_axes.empty())
      setup.error("viscosity",
                  "give either viscosity, or friction, frictions and frictions_of_axes");
    if (c.diameter.empty())
      setup.error("viscosity",
                  "needs the diameters of the particles, which the system does not have");
    if (c.attribute_changes.contains("diameter") || c.attribute_between.contains("diameter"))
      setup.error("viscosity",
                  "takes diameters that stay as they are, and \"attributes.diameter\" has "
                  "\"changes\" or \"updates\": expected friction or frictions");
    for (std::size_t id = 0; id < c.diameter.size(); ++id)
      if (!(c.diameter[id] > 0)) {
        setup.error("viscosity", fmt::format("particle {} has diameter {}", id, c.diameter[id]));
        break;
      }
    return;
  }
  drag_of_type_.assign(c.types.size(), s.friction.value_or(0));
  for (const auto& [name, drag] : s.frictions)
    drag_of_type_.at(moved_type(setup, name, "frictions." + name)) = drag;
  find_drag_of_axes(setup);
  std::vector<bool> carried(c.types.size(), !c.topology.body.empty());  // by rigid bodies alone
  for (std::size_t id = 0; id < c.type.size(); ++id)
    if (!c.topology.is_site(id)) carried[c.type[id]] = false;
  for (std::size_t t = 0; t < c.types.size(); ++t)
    if (!(drag_of_type_[t] > 0) && carried[t]) drag_of_type_[t] = 1;  // moves nobody
  for (std::size_t t = 0; t < c.types.size(); ++t)
    if (!(drag_of_type_[t] > 0) && (moving_.empty() || moving_[t])) {
      setup.error(
          "friction",
          fmt::format("is missing for type \"{}\": give friction, frictions by type, or viscosity",
                      c.types[t]));
      break;
    }
}

/// Along the axes of particles; what is along none of them then is the least of these.
void Bath::find_drag_of_axes(Setup& setup) {
  const Configuration& c = setup.configuration();
  const auto& given = settings_.frictions_of_axes;
  if (given.empty()) return;
  const std::string key = "frictions_of_axes";
  if (c.orientation.empty())
    return setup.error(key,
                       "has no effect: particles have no orientations; \"orientations\" of the job "
                       "gives them some");
  if (settings_.axes && int(settings_.axes->size()) < c.box.dimension)
    setup.error(key, fmt::format("is not possible where particles move along \"{}\" alone (axes)",
                                 *settings_.axes));
  drag_of_axes_.assign(c.types.size(), {0, 0, 0});
  for (const auto& [name, drag] : given) {
    const std::uint32_t type = moved_type(setup, name, key + "." + name);
    if (settings_.frictions.contains(name))
      setup.error(key + "." + name, "give this type either frictions or frictions_of_axes");
    setup.refuse_z(key + "." + name, drag);
    drag_of_axes_.at(type) = drag;
    drag_of_type_.at(type) = std::min(drag.x, drag.y);
    if (c.box.dimension == 3) drag_of_type_.at(type) = std::min(drag_of_type_.at(type), drag.z);
  }
}

/// Of every type; reports what is missing or of no use.
void Bath::find_rotational_drag(Setup& setup) {
  const Configuration& c = setup.configuration();
  const BathSettings& s = settings_;
  const bool given = read_rotational_drag(setup);
  if (c.orientation.empty()) {
    if (given)
      setup.error(s.rotational_friction             ? "rotational_friction"
                  : !s.rotational_frictions.empty() ? "rotational_frictions"
                                                    : "rotational_frictions_of_axes",
                  "has no effect: particles have no orientations; \"orientations\" of the job "
                  "gives them some");
    return;
  }
  if (s.viscosity && !given && !c.diameter.empty()) {
    std::vector<double> diameter(c.types.size(), 0);
    for (std::size_t id = 0; id < c.diameter.size(); ++id) {
      double& of_type = diameter[c.type[id]];
      if (of_type > 0 && of_type != c.diameter[id])
        return setup.error("rotational_frictions",
                           fmt::format("is needed where particles of one type (\"{}\") have "
                                       "several diameters",
                                       c.types[c.type[id]]));
      of_type = c.diameter[id];
    }
    for (std::size_t t = 0; t < diameter.size(); ++t) {
      const double drag = M_PI * *s.viscosity * std::pow(diameter[t], 3);
      rotational_drag_[t] = {drag, drag, drag};
    }
    return;
  }
  if (!given)
    setup.warn("rotational_friction",
               "is not given: no heat bath acts on the rotation of the particles");
}

/// What the settings say; false: nothing.
bool Bath::read_rotational_drag(Setup& setup) {
  const Configuration& c = setup.configuration();
  const BathSettings& s = settings_;
  const auto same = [](double drag) { return Vec3<double>{drag, drag, drag}; };
  rotational_drag_.assign(c.types.size(), same(s.rotational_friction.value_or(0)));
  for (const auto& [name, drag] : s.rotational_frictions)
    rotational_drag_.at(moved_type(setup, name, "rotational_frictions." + name)) = same(drag);
  const std::string key = "rotational_frictions_of_axes";
  const auto& of_axes = s.rotational_frictions_of_axes;
  if (!of_axes.empty() && c.box.dimension == 2)
    setup.error(key,
                "in two dimensions particles turn about z alone: give rotational_friction or "
                "rotational_frictions");
  for (const auto& [name, drag] : of_axes) {
    if (s.rotational_frictions.contains(name))
      setup.error(key + "." + name,
                  "give this type either rotational_frictions or rotational_frictions_of_axes");
    rotational_drag_.at(moved_type(setup, name, key + "." + name)) = {drag[0], drag[1], drag[2]};
  }
  return s.rotational_friction || !s.rotational_frictions.empty() || !of_axes.empty();
}

void Bath::check_normals(Setup& setup) const {
  const std::string& name = settings_.normals;
  if (name == "default") return;
  if (law_.uniform)
    setup.error("normals", fmt::format("is for Gaussian noise, and this noise is uniform: expected "
                                       "\"noise\": \"gaussian\" beside it, got \"{}\"",
                                       name));
  const NormalMethod method = normal_method(name);
  if (method == NormalMethod::inversion && usual_method != method)
    setup.error("normals",
                "inversion has the accuracy of single precision, and this build of Perrin has "
                "double precision; expected box_muller, polar or ziggurat");
  const bool rejects = method == NormalMethod::polar || method == NormalMethod::ziggurat;
  if (settings_.rng == "lagged_fibonacci" && rejects)
    setup.error("normals",
                fmt::format("must be inversion or box_muller for rng \"lagged_fibonacci\", in "
                            "which every particle has the same number of words in every step, "
                            "got \"{}\", which takes as many as it needs",
                            name));
}

Bath::ById Bath::by_id(const StepContext& context) const {
  const Particles& p = context.particles();
  const auto position = p.position().to_host();
  const auto velocity = p.velocity().to_host();
  const auto ids = p.id().to_host();
  ById all;
  all.type.resize(ids.size()), all.mass.resize(ids.size()), all.drag.resize(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto id = ids[i];
    all.type[id] = position[i].type();
    all.mass[id] = 1 / double(velocity[i].w);
    all.drag[id] = settings_.viscosity
                       ? 3 * M_PI * *settings_.viscosity * p.properties().diameter.at(id)
                       : drag_of_type_.at(position[i].type());
  }
  return all;
}

void Bath::begin(StepContext& context, bool tally_heat) {
  start_ = std::int64_t(context.step());
  particles_ = context.particles().size();
  mask_ =
      moving_.empty() ? Buffer<std::uint32_t>() : Buffer<std::uint32_t>(context.device(), moving_);
  heat_ = {};
  if (!tally_heat) return;
  heat_ = {context.particles(), IndexedBy::place};
  heat_scratch_ = Buffer<double>(context.device(), sum_chunks);
}

void Bath::rest(StepContext& context) const {
  Particles& p = context.particles();
  if (!moving_.empty() || !(moves_.x && moves_.y && moves_.z)) {
    const auto position = p.position().to_host();
    auto velocity = p.velocity().to_host();
    const auto id = p.id().to_host();
    std::vector<std::uint8_t> group;  // [id]
    if (const GroupMask mask = context.group()) {
      group.resize(velocity.size());
      context.device().memory().copy_out(group.data(), mask.value, group.size());
    }
    for (std::size_t i = 0; i < velocity.size(); ++i) {
      if (!group.empty() && group[id[i]] != context.group().member) continue;
      const bool moves = moving_.empty() || moving_[position[i].type()];
      Real4& v = velocity[i];
      if (!moves || !moves_.x) v.x = 0;
      if (!moves || !moves_.y) v.y = 0;
      if (!moves || !moves_.z) v.z = 0;
    }
    p.velocity().assign(velocity);
  }
}

Temperature Bath::temperature() const {
  const Ramp kt = settings_.ramp.ramp(settings_.temperature, k_boltzmann_, start_);
  return {Real(std::sqrt(kt.from)), kt};
}

bool Bath::measure_heat(double* total) {
  if (!heat_) return false;
  sum<double>(heat_scratch_.device(), "heat", heat_.size(), Heat{heat_.data()}, heat_scratch_,
              total);
  return true;
}

void Bath::state(Archive& archive) {
  archive_ramp_start(archive, start_);
  std::vector<double> heat = heat_.to_host();
  archive("heat", heat);
  if (archive.is_saving() || heat.empty()) return;  // counted from now on
  archive.require(std::int64_t(heat.size()) == particles_, "heat", "a number for every particle");
  if (heat_) heat_.assign(heat);
}

}  // namespace perrin::langevin
