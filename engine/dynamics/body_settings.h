// The "bodies" of a job: particles that carry others, as rigid bodies.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/settings/settings.h"
#include "engine/system/configuration.h"

namespace perrin {

struct BodySite {
  std::string type;
  Vec3<double> at{};
};
template <class D>
void describe(D& d, BodySite& s) {
  d.required("type", s.type, Any{}, "particle type; one that the system does not have is new");
  d.required("at", s.at, Any{}, "place in the frame of the body (length)");
}

struct BodySettings {
  std::vector<BodySite> sites;
  std::optional<double> mass;
  std::optional<std::array<double, 3>> moments_of_inertia;
};
template <class D>
void describe(D& d, BodySettings& s) {
  d.example(
      "{\"sites\": [{\"type\": \"A\", \"at\": [0.5, 0, 0]}, {\"type\": \"A\", \"at\": [-0.5, 0, "
      "0]}]}");
  d.required("sites", s.sites, Any{},
             "particles that each of the body's centres carries, beside those of the system");
  d.optional("mass", s.mass, Positive{}, "of the body; default: that of all sites");
  d.optional("moments_of_inertia", s.moments_of_inertia, NonNegative{},
             "about the axes of the body's frame (mass length^2), whose origin is then the centre "
             "of mass. Default: those of the sites as points; the frame is moved to their centre "
             "of mass and turned to their principal axes");
}

using ReportMistake = std::function<void(const std::string&, const std::string&)>;

/// Adds the sites to a configuration, for every particle of the types that are keys of `settings`:
/// with ids after those that are there, body by body. They are put in place by place_sites(). Where
/// it comes from a file with bodies, the sites are there, and must be those of `settings`.
void add_bodies(const std::map<std::string, BodySettings>& settings, Configuration& configuration,
                const ReportMistake& report);
/// When masses are known: masses and moments of inertia of the centres. Refuses a start from a file
/// that has the sites among its particles and does not say which are in bodies (its name; else
/// empty): they would be there twice.
void weigh_bodies(const std::map<std::string, BodySettings>& settings, const std::string& file,
                  Configuration& configuration, const ReportMistake& report);
/// When orientations are known: puts sites where their bodies are.
void place_sites(Configuration& configuration);

}  // namespace perrin
