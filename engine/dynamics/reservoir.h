// Particles that are not there, for moves that insert and remove some: the room of a job for more.
//
// They are in every array, with ids, masses and attributes of their own, and at places in the box.
// But their type is one that no potential acts on (is_absent()), and their velocities are 0. Who
// inserts one gives it the type that it has when it is there, who removes one takes that away. Of
// rigid bodies centres and sites come and go together.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "engine/system/configuration.h"

namespace perrin {

class StepContext;

/// How many particles of each type there is room for.
using ReservoirSettings = std::map<std::string, std::int64_t>;

/// Takes a mistake: its key in the settings, and what is wrong.
using ReservoirMistake = std::function<void(const std::string&, const std::string&)>;

/// Adds them behind all others, at random places. Until take_away() they are of the types that they
/// have when they are there, as attributes by types want it. Bodies get their sites afterwards.
void add_reservoir(const ReservoirSettings& settings, std::uint64_t seed, Configuration& c);
/// They are not there any more, nor are the sites of those that are centres of bodies. Reports
/// types whose particles differ in mass, charge, diameter or another attribute: nobody could say
/// which one is inserted.
void take_away(const ReservoirSettings& settings, Configuration& c,
               const ReservoirMistake& mistake);

bool has_absent(const Configuration& c);
/// The type that particles of this type have when they are not there; nullopt: they always are.
std::optional<std::uint32_t> absent_type(const Configuration& c, std::uint32_t type);
/// Of a configuration with these types: absent ones are the last.
std::uint32_t first_absent_type(const std::vector<std::string>& types);
/// [id]: 1 for those that are there.
Group::Members present_members(const Configuration& c);

/// After particles were inserted or removed, between steps: counts who is there. `present`: the
/// group of these, which follows.
void count_present(StepContext& context, Group& present);

}  // namespace perrin
