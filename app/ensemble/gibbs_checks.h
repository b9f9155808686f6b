// What the jobs of systems that exchange particles and volume must have in common.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/job/job.h"
#include "engine/job/variations.h"

namespace perrin {

/// The options of an ensemble: of one that exchanges particles, on the CPU. Throws UserError where
/// a GPU is named.
JobOptions for_exchange(const Variations& variations, JobOptions options);

class GibbsChecks {
 public:
  explicit GibbsChecks(const Variations& variations) : variations_(variations) {}
  /// Of each system in turn, made to be validated alone. Throws UserError with all that is wrong.
  /// Nothing of ensembles without such an exchange.
  void look(std::int64_t system, Job& job);

 private:
  /// What two systems must agree in.
  struct Card {
    std::int64_t system = -1;
    std::vector<std::string> types;
    int dimension = 3;
    std::map<std::string, std::int64_t> here, room;             // by type, of those with room
    std::map<std::string, std::map<std::string, double>> like;  // mass, charge, … of such a type
  };
  void report(const std::string& path, const std::string& what);
  Card card_of(std::int64_t system, const Configuration& configuration);
  void check_system(const Configuration& configuration);
  void check_stages(const RunParts& parts, bool has_room);
  void check_observers(const RunParts& parts);
  void compare(const Card& first, const Card& second);
  void check_room(const Card& in, const Card& of);

  const Variations& variations_;
  std::optional<JsonFile> file_;  // of the system that is looked at
  Problems problems_;
  std::optional<Card> first_;  // of a pair
};

}  // namespace perrin
