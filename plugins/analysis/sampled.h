// What observers have in common that sample the system at a stride and write a row of
// numbers less often. A row holds samples of one stage alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/components/box_user.h"
#include "engine/components/observer.h"
#include "engine/components/setup.h"
#include "engine/settings/settings.h"
#include "engine/system/box.h"
#include "io/observable_file.h"

namespace perrin::analysis {

struct SampledSettings {
  std::int64_t stride = 100, rows_every = 10000;
  std::string file;
};
/// `row`: what a row holds.
template <class D>
void describe_sampling(D& d, SampledSettings& s, const std::string& row) {
  d.optional("stride", s.stride, Positive{}, "sampling interval (steps)");
  d.optional("rows_every", s.rows_every, Positive{},
             "output interval (steps), a multiple of stride, counted from the start of each stage; "
             "samples after the last row of a stage make one more row at its end. A row is " +
                 row);
  d.optional("file", s.file, Any{}, "HDF5 file, relative to the output directory");
}

class SampledObserver : public Observer, public BoxUser {
 public:
  /// Reports what is wrong with the settings.
  SampledObserver(const SampledSettings& settings, std::vector<io::ObservableColumn> columns,
                  Setup& setup);
  std::int64_t stride() const final { return settings_.stride; }
  bool needs_even_steps() const final { return true; }
  void begin(const Observation& seen, bool resumed) final;
  void observe(const Observation& seen) final;
  void observe_totals(const Instant& instant) final;
  void end(const Observation& seen) final;
  void state(Archive& archive) final;

 protected:
  /// Adds what is measured of the particles now; or, where only_totals(), of an instant's totals.
  virtual void sample(const Observation&) {}
  virtual void sample_totals(const Instant&) {}
  /// The values of all columns, in this box. What averages over the samples since the last row
  /// begins anew.
  virtual std::vector<double> row(const Box& box) = 0;
  /// What does not change, into the new file.
  virtual void constants(const io::Node&) {}
  /// What sample() has added up.
  virtual void sums(Archive& archive) = 0;

  std::int64_t samples() const { return samples_; }  // since the last row
  /// For row(): the volume whose inverse is the mean of 1/V over the samples since the last row.
  double volume() const { return volume_; }
  std::int64_t last_sample() const { return last_sample_; }  // its step; -1: none

 private:
  SampledSettings settings_;
  io::ObservableFile file_;
  /// When and in which box a sample is taken, or a row is written.
  struct Moment {
    std::int64_t step;
    double time;
    const Box& box;
    bool box_moves, box_deforms;
  };
  static Moment moment(const Observation& seen);
  /// Whether a sample is to be taken. Throws UserError where it would have no meaning.
  bool is_due(const Moment& at) const;
  /// Counts one, and writes a row where that is due.
  void count(const Moment& at);
  /// A row of what was sampled since the last one.
  void write_row(const Moment& at);

  std::int64_t first_step_ = 0;  // of the stage: rows are counted from here
  std::int64_t samples_ = 0, last_sample_ = -1;
  double inverse_volumes_ = 0;  // summed up
  double volume_ = 0;           // of the row that is being written
};

/// Numbers that an observer has added up, as many as before.
void state_of_sums(Archive& archive, std::vector<double>& sums);

}  // namespace perrin::analysis
