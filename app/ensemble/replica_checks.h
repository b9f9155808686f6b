// What the jobs of systems that exchange their particles as replicas must not have.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "engine/components/endless_potential.h"
#include "engine/job/job.h"
#include "engine/job/variations.h"

namespace perrin {

/// Energies decide on exchanges, whoever's particles they are: of a potential, and of nothing that
/// one of the systems keeps of the particles that it had.
class ReplicaChecks {
 public:
  explicit ReplicaChecks(const Variations& variations) : variations_(variations) {}
  /// Of each system, made to be validated alone. Throws UserError with all that is wrong. Nothing
  /// of ensembles without such an exchange.
  void look(std::int64_t system, Job& job);

 private:
  void report(const std::string& path, const std::string& what);
  void check_force(std::span<const ForceOnGroup> forces, std::size_t k, const std::string& type,
                   const Configuration& c);
  void check_stages(const RunParts& parts);

  const Variations& variations_;
  std::optional<JsonFile> file_;  // of the system that is looked at
  Problems problems_;
};

}  // namespace perrin
