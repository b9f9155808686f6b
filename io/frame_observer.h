// What observers that write frames of all particles have in common, whatever the format.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/components/box_user.h"
#include "engine/components/observer.h"
#include "engine/components/setup.h"
#include "engine/dynamics/observation.h"
#include "engine/dynamics/present_attributes.h"
#include "engine/dynamics/reservoir.h"
#include "engine/system/part.h"
#include "io/frame_bonds.h"
#include "io/gather.h"
#include "io/writer.h"

namespace perrin::io {

/// Whose frames are written. Of particles that come and go all have their places in a frame.
inline const Group* group_of_frames(const std::string& name, Setup& setup) {
  return name == "all" && has_absent(setup.configuration()) ? nullptr
                                                            : setup.fixed_group(name, "group");
}

/// For FrameGather: the type from which on particles are not there, if they come and go.
inline std::optional<std::uint32_t> absent_from(const Setup& setup) {
  const Configuration& c = setup.configuration();
  if (!has_absent(c)) return std::nullopt;
  return first_absent_type(c.types);
}

/// File: FrameFile, GsdFile or XtcFile: path, layout and more; open(resumed, configuration),
/// append(frame), is_open(), last_step(), state(archive).
template <class File>
class FrameObserver : public Observer, public BoxUser {
 public:
  /// `group`: whose frames are written; nullptr (a mistake, which is told): all.
  template <class... Arguments>
  FrameObserver(std::int64_t stride, const Group* group, const FrameGather::Wants& wants,
                Arguments&&... file)
      : file_(std::forward<Arguments>(file)...), stride_(stride), wants_(wants) {
    if (group && !group->has_all()) group_ = *group;
  }

  std::int64_t stride() const override { return stride_; }
  void begin(const Observation& seen, bool resumed) override {
    if (file_.is_open()) return;  // a later stage
    const Particles& particles = seen.particles();
    const Configuration all = particles.configuration();
    gather_ = std::make_unique<FrameGather>(seen.device(), particles.size(), wants_,
                                            group_ ? group_->ids() : std::vector<std::uint32_t>());
    file_.open(resumed, group_ ? part_of(all, *group_) : all);
  }
  void observe(const Observation& seen) override {
    const auto step = std::int64_t(seen.step());
    if (step == file_.last_step()) return;  // the end of one stage is the beginning of the next
    H5mdFrame frame;
    const auto take = [&] { frame = (*gather_)(seen.particles()); };
    wants_.force || wants_.torque ? seen.with_whole_forces(take) : take();
    frame.step = step;
    frame.time = seen.time();
    const auto begun =
        std::ranges::count_if(seen.stages().steps(), [](auto at) { return at >= 0; });
    if (seen.dynamic_bonds()) frame.topology = bonds_(seen, group_);
    if (attributes_) frame.attributes = present_attributes(seen);
    frame.stage = begun > 0 ? std::uint32_t(begun - 1) : 0;
    file_.append(std::move(frame));
  }
  void end(const Observation&) override { writer().wait(); }
  bool takes_kept_velocities() const override { return true; }
  std::string caveat() const override {
    if (!wants_.unwrapped) return {};
    return "\"unwrapped\" positions include the change of the box, multiplied by the number of "
           "boxes that a particle has crossed: a mean square displacement computed from them is "
           "too large. The observer mean_square_displacement sums displacements relative to a box "
           "that a barostat changes";
  }
  void state(Archive& archive) override { file_.state(archive); }

 protected:
  /// For constructors of formats whose frames have the numbers of attributes that change.
  void take_attributes(const Setup& setup) { attributes_.emplace(setup.configuration()); }
  /// What of frames overdamped motion has not; empty: nothing is wanted.
  std::string wanted_velocities() const {
    return wants_.velocity           ? "\"velocity\" of frames"
           : wants_.angular_momentum ? "\"angular_momentum\" of frames"
                                     : "";
  }
  /// Refuses what particles without orientations have not. `quantities`: of the settings.
  static void check_orientations(const std::vector<std::string>& quantities, Setup& setup) {
    for (std::size_t k = 0; k < quantities.size(); ++k)
      if ((quantities[k] == "orientation" || quantities[k] == "angular_momentum" ||
           quantities[k] == "torque") &&
          setup.configuration().orientation.empty())
        setup.error(fmt::format("quantities[{}]", k),
                    fmt::format("the particles have no orientations, so frames cannot have \"{}\": "
                                "add \"orientations\" to the job, or read a system that has them",
                                quantities[k]));
  }

  File file_;

 private:
  std::vector<FrameArray<double>> present_attributes(const Observation& seen) const {
    std::vector<FrameArray<double>> frame;
    for (auto& all : attributes_->values(seen.particles(), seen.time())) {
      std::vector<double> members;
      if (group_)
        for (const std::uint32_t id : group_->ids()) members.push_back(all[id]);
      frame.emplace_back(group_ ? std::move(members) : std::move(all));
    }
    return frame;
  }

  std::int64_t stride_;
  std::optional<Group> group_;  // nothing: all particles
  FrameGather::Wants wants_;
  std::unique_ptr<FrameGather> gather_;
  FrameBonds bonds_;
  std::optional<PresentAttributes> attributes_;
};

}  // namespace perrin::io
