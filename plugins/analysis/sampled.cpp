#include "sampled.h"

#include <fmt/format.h>

#include <exception>

#include "engine/components/instant.h"
#include "engine/dynamics/observation.h"
#include "output.h"

namespace perrin::analysis {

SampledObserver::SampledObserver(const SampledSettings& settings,
                                 std::vector<io::ObservableColumn> columns, Setup& setup)
    : settings_(settings), file_(output_path(settings.file, setup), std::move(columns), setup) {
  if (settings.rows_every % settings.stride != 0)
    setup.error("rows_every", fmt::format("must be a multiple of stride ({}), got {}",
                                          settings.stride, settings.rows_every));
}

void SampledObserver::begin(const Observation& seen, bool resumed) {
  if (!resumed) first_step_ = std::int64_t(seen.step());
  file_.begin(seen, resumed, [this](const io::Node& root) { constants(root); });
}

SampledObserver::Moment SampledObserver::moment(const Observation& s) {
  return {std::int64_t(s.step()), s.time(), s.particles().box(), s.particles().box_state().moves(),
          s.box_deforms()};
}

void SampledObserver::observe(const Observation& seen) {
  const Moment now = moment(seen);
  if (!is_due(now)) return;
  sample(seen);
  count(now);
}

void SampledObserver::observe_totals(const Instant& i) {
  const Moment then{std::int64_t(i.step), i.time, i.box, i.box_moves, i.box_deforms};
  if (!is_due(then)) return;
  sample_totals(i);
  count(then);
}

bool SampledObserver::is_due(const Moment& at) const {
  // The end of one stage is the beginning of the next.
  if (at.step == last_sample_) return false;
  if (at.box_deforms ? !follows_deformation() : at.box_moves && !follows_box())
    throw UserError(
        fmt::format("{}: this observer cannot measure in a box that {}: remove it, or continue in "
                    "a job with a fixed box",
                    file_.path().string(), at.box_deforms ? "is deformed" : "changes"));
  return true;
}

void SampledObserver::count(const Moment& at) {
  inverse_volumes_ += 1 / at.box.volume();
  last_sample_ = at.step;
  ++samples_;
  // Samples are at multiples of the stride, the stage may have begun between two of them.
  if ((at.step - first_step_) % settings_.rows_every < settings_.stride) write_row(at);
}

void SampledObserver::write_row(const Moment& at) {
  volume_ = at.box_moves ? double(samples_) / inverse_volumes_ : at.box.volume();
  file_.append(at.step, at.time, row(at.box));
  samples_ = 0;
  inverse_volumes_ = 0;
}

void SampledObserver::end(const Observation& seen) {
  // What is left. A run that was stopped here and is resumed cuts this row off again and goes on
  // from the checkpoint. Where an error has ended the stage (its handler calls this), nothing more
  // is measured.
  if (samples_ > 0 && !std::current_exception()) {
    write_row(moment(seen));
    file_.flush();  // the checkpoint of a complete run counts on it
  }
  file_.end(seen);
}

void SampledObserver::state(Archive& archive) {
  file_.state(archive);
  archive("samples", samples_);
  archive.require(samples_ >= 0, "samples", "at least 0");
  if (archive.has("inverse_volumes")) archive("inverse_volumes", inverse_volumes_);
  archive.require(inverse_volumes_ >= 0, "inverse_volumes", "at least 0");
  // Without it, of an earlier version, which counted rows from step 0.
  if (archive.is_saving() || archive.has("first_step")) archive("first_step", first_step_);
  archive.require(first_step_ >= 0, "first_step", "at least 0");
  archive("last_sample", last_sample_);
  archive.require(last_sample_ >= (samples_ > 0 ? 0 : -1), "last_sample",
                  "the step of the last sample, or -1 if there is none");
  sums(archive);
}

void state_of_sums(Archive& archive, std::vector<double>& sums) {
  const std::size_t size = sums.size();
  archive("sums", sums);
  archive.require(sums.size() == size, "sums", "as many values as there are in this job");
}

}  // namespace perrin::analysis
