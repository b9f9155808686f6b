// Several integrators in one stage, each of which moves the particles of its group.
//
// Each runs its own steps() as if it were alone, in a Fiber of its own. Where one asks for
// neighbours or forces it waits until all have asked; that is done once, and all go on. So an
// integrator needs to know nothing of the others, and a step has one search for neighbours and one
// computation of forces. On a GPU their passes over particles meet likewise: two that are alike are
// one kernel, but where an integrator applies friction of pairs: that comes before the others begin
// their next step.
//
// One of them may have a barostat: the box and all places change by it, and the momenta of all
// particles that move. It meets the others where the box moves.
//
// Groups may be chosen anew between steps: who is whose and what is counted of it is then found
// again. Velocities stay what they are, so the total energy does, too.
//
// Sites of rigid bodies are moved with their centres, whatever groups they are in.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/base/fiber.h"
#include "engine/components/attribute_reader.h"
#include "engine/components/integrator.h"
#include "engine/components/setup.h"
#include "engine/components/step_context.h"
#include "engine/components/step_meetings.h"

namespace perrin {

class GroupIntegrators final : public Integrator, public AttributeReader, private StepMeetings {
 public:
  static constexpr std::size_t most = 255;  // integrators

  /// From the "integrators" of a stage; every particle, but sites of rigid bodies, must be in the
  /// group of exactly one of them.
  /// Reports the user's mistakes.
  static std::unique_ptr<Integrator> make(const std::vector<Part<Integrator>>& parts, Setup& setup);

  /// One integrator of all particles that are there (is_absent()). Reports why it cannot be.
  static std::unique_ptr<Integrator> of_present(std::unique_ptr<Integrator> integrator,
                                                const std::string& type, Setup& setup);

  /// An integrator for each group; every particle but sites is in exactly one of them.
  GroupIntegrators(std::vector<std::unique_ptr<Integrator>> integrators, std::vector<Group> groups,
                   const Configuration& configuration, const Device& device);

  void begin(StageContext& context) override;
  void end() override;
  void steps(StepContext& context, int n) override;
  double timestep() const override;
  double typical_displacement(const StepContext& context) const override;
  bool recordable() const override;
  bool finished(const StepContext& context) override;
  std::int64_t finish_stride() const override;
  std::string report() override;
  std::string shortcoming() override;
  Motion motion() const override { return motion_; }
  std::optional<double> bath_kt(std::uint64_t steps) const override;
  void measure_heat(StepContext& context, double* heat) override;
  const double* measured_heat_of(const std::string& group) const override;
  void measure_work(StepContext& context, double* work) override;
  bool acts_on_groups() const override { return false; }
  /// Takes the particles that the groups have now; throws RunError where one is in none or in two.
  bool follow_group(StageContext& context) override;
  void follow_attributes(const std::map<std::string, std::vector<double>>& changed) override;
  /// Before begin(), where particles may have come and gone since it was made.
  void follow_present(const StepContext& context);
  GroupMask thermal() const override { return {thermal_.data(), 1}; }
  bool turns_particles() const override;
  bool follows_deformation() const override { return false; }
  bool takes_impulses() const override;
  bool applies_pair_friction() const override;
  BoxMover* box_mover() const override;
  std::string objection(const Force& force) const override;
  void state(Archive& archive) override;
  friend bool works_without_potential(const Integrator& integrator);

 private:
  struct Member {
    std::unique_ptr<Integrator> integrator;
    Group group;
    StepContext::OfIntegrator own;
    Fiber fiber;
    StepMeeting at = StepMeeting::neighbors;  // where it waits, if not for …
    const GroupPass* pass = nullptr;          // … this to be launched
    std::int64_t version = 0;                 // of the group, as it was shared out
  };

  void find_thermal(const std::vector<std::uint8_t>& group_of);
  std::vector<std::uint8_t> share_out();
  void find_motion(const std::vector<std::uint8_t>& group_of);
  bool take_turns(StepContext& context);
  void resume(StepContext& context, Member& member);
  void resume_watched(StepContext& context, Member& member);
  bool meet(StepMeeting meeting) override;
  void meet(const GroupPass& pass) override;
  bool run_passes();
  std::uint64_t fingerprint_of_others(StepContext& context, const Member& member);
  template <class Measure>
  void add_up(StepContext& context, double* total, const Measure& measure);

  std::vector<std::uint32_t> type_;  // [id]
  std::vector<bool> site_;           // [id]: of a rigid body, or not there: nobody moves it
  std::size_t types_;
  DegreesOfFreedom all_;  // of the system
  std::vector<std::unique_ptr<Member>> members_;
  // In the order in which they take turns: one that applies friction of pairs goes first, while the
  // others have not begun their next step.
  std::vector<Member*> turns_;
  Buffer<std::uint8_t> group_of_;  // [id]: the number of the integrator; `most`: nobody's
  Buffer<std::uint8_t> thermal_;   // [id]: 1 where velocities count; empty: everywhere
  Motion motion_;
  Buffer<double> parts_;            // of what is added up, from each integrator
  StepContext* context_ = nullptr;  // of the steps that are made
  Member* running_ = nullptr;
  bool nobody_has_done_it_ = false;  // what the integrators meet for
  int watched_ = 0;                  // rounds that are still to be watched
};

/// Whether it does (NoPotential), or one of those that it consists of.
bool works_without_potential(const Integrator& integrator);

}  // namespace perrin
