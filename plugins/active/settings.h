// What the integrators of this plug-in are told in a job.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/components/setup.h"
#include "engine/settings/settings.h"

namespace perrin::active {

/// Numbers by particle type.
using ByType = std::map<std::string, double>;

/// Common to all of them: overdamped motion that is driven by `speed`.
struct OverdampedSettings {
  double timestep = 0.001, temperature = 0;
  std::optional<double> friction, speed;
  ByType frictions, speeds;
  std::optional<std::string> speed_attribute;
};

template <class D>
void describe_friction(D& d, OverdampedSettings& s) {
  d.optional("friction", s.friction, Positive{},
             "friction coefficient xi: force per velocity (mass/time)");
  d.optional("frictions", s.frictions, Positive{},
             "friction coefficients by particle type; other types have that of friction");
}

template <class D>
void describe_speeds(D& d, OverdampedSettings& s) {
  d.optional("speeds", s.speeds, NonNegative{},
             "speeds by particle type; other types have that of speed; 0: a passive particle");
  d.optional("speed_attribute", s.speed_attribute, Any{},
             "the attribute that is the speed of each particle, in place of speed and speeds; at "
             "least 0");
}

/// Of particles that swim along their axis.
struct SwimmerSettings : OverdampedSettings {
  std::optional<double> rotational_friction, rotational_diffusion, angular_speed;
  ByType rotational_frictions, rotational_diffusions, angular_speeds;
};

template <class D>
void describe_swimmer(D& d, SwimmerSettings& s) {
  describe_friction(d, s);
  d.optional("speed", s.speed, NonNegative{},
             "speed v0 of a particle along its axis, the x axis of its own frame (length/time)");
  describe_speeds(d, s);
  d.optional("rotational_diffusion", s.rotational_diffusion, NonNegative{},
             "rotational diffusion coefficient D_r (1/time), whatever the temperature; directions "
             "are correlated as exp(-(d - 1) D_r t) in d dimensions. Default: k_B T / "
             "rotational_friction");
  d.optional("rotational_diffusions", s.rotational_diffusions, NonNegative{},
             "the same by particle type; other types have that of rotational_diffusion");
  d.optional("rotational_friction", s.rotational_friction, Positive{},
             "friction of the rotation: torque per angular velocity (mass length^2/time). Default: "
             "k_B T / rotational_diffusion");
  d.optional("rotational_frictions", s.rotational_frictions, Positive{},
             "the same by particle type; other types have that of rotational_friction");
  d.optional("angular_speed", s.angular_speed, Any{},
             "angular velocity about the z axis of the particle's own frame (1/time): without "
             "noise a particle swims in circles of the radius speed / angular_speed");
  d.optional("angular_speeds", s.angular_speeds, Any{},
             "the same by particle type; other types have that of angular_speed");
}

struct ActiveBrownianSettings : SwimmerSettings {};

template <class D>
void describe(D& d, ActiveBrownianSettings& s) {
  d.example(
      "{\"timestep\": 0.0001, \"temperature\": 1, \"friction\": 1, \"speed\": 20, "
      "\"rotational_friction\": 0.3333}");
  d.required("timestep", s.timestep, Positive{}, "time step (time)");
  d.required("temperature", s.temperature, NonNegative{},
             "temperature of the heat bath: noise of the displacements, and of the rotation where "
             "rotational_diffusion does not say it; 0: none");
  describe_swimmer(d, s);
}

struct RunAndTumbleSettings : SwimmerSettings {
  std::optional<double> tumble_rate;
  ByType tumble_rates;
};

template <class D>
void describe(D& d, RunAndTumbleSettings& s) {
  d.example(
      "{\"timestep\": 0.0001, \"friction\": 1, \"speed\": 20, \"tumble_rate\": 2, "
      "\"temperature\": 0.1}");
  d.required("timestep", s.timestep, Positive{}, "time step (time)");
  d.optional("tumble_rate", s.tumble_rate, NonNegative{},
             "tumbles of a particle per time: at each its orientation is drawn anew, uniformly");
  d.optional("tumble_rates", s.tumble_rates, NonNegative{},
             "rates by particle type; other types have that of tumble_rate");
  d.optional("temperature", s.temperature, NonNegative{},
             "temperature of the heat bath: noise of the displacements, and of the rotation during "
             "runs where rotational_friction is given and rotational_diffusion is not; 0: none");
  describe_swimmer(d, s);
}

struct ActiveOrnsteinUhlenbeckSettings : OverdampedSettings {
  double persistence_time = 1;
};

template <class D>
void describe(D& d, ActiveOrnsteinUhlenbeckSettings& s) {
  d.example(
      "{\"timestep\": 0.0005, \"friction\": 1, \"speed\": 5, \"persistence_time\": 1, "
      "\"temperature\": 0.1}");
  d.required("timestep", s.timestep, Positive{}, "time step (time)");
  d.required("persistence_time", s.persistence_time, Positive{},
             "correlation time tau of the active velocities (time)");
  describe_friction(d, s);
  d.optional("speed", s.speed, NonNegative{},
             "root mean square of the active velocity, all axes together (length/time); in d "
             "dimensions the active diffusion coefficient is speed^2 persistence_time / d");
  describe_speeds(d, s);
  d.optional("temperature", s.temperature, NonNegative{},
             "temperature of a heat bath beside it: noise of the displacements; 0: none");
}

/// [type]: whether an integrator moves any of its particles; false: all are sites of rigid bodies.
std::vector<bool> moved_types(const Configuration& configuration);
/// A number for every type, of those that the job gives for all and by name. `missing`: where it
/// says none; without it, none is a mistake of types that are moved, which is reported.
/// `other_key`: that may say it as well.
std::vector<double> numbers_by_type(Setup& setup, const std::string& key,
                                    const std::optional<double>& of_all, const ByType& by_name,
                                    const std::optional<double>& missing = {},
                                    const std::string& other_key = {});
/// The same, and nothing where the job says nothing.
std::vector<std::optional<double>> optional_by_type(Setup& setup, const std::string& key,
                                                    const std::optional<double>& of_all,
                                                    const ByType& by_name);

}  // namespace perrin::active
