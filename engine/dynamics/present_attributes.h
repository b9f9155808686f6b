// Numbers of attributes that change while a job runs, as they are at an instant: those of "changes"
// by their formulas, those of "updates" as they were written last.
#pragma once

#include <string>
#include <vector>

#include "engine/formula/program.h"
#include "engine/system/configuration.h"

namespace perrin {

class Particles;

class PresentAttributes {
 public:
  /// Of a job's system, with the numbers of its start.
  explicit PresentAttributes(const Configuration& configuration);

  /// Those that change, in the order of their letters.
  std::vector<std::string> names() const;
  /// [name][id], at this time of the job.
  std::vector<std::vector<double>> values(const Particles& particles, double time) const;

 private:
  struct Changing {
    std::string name;
    std::vector<formula::Instruction> program;  // of the time and of columns_; empty: "updates"
  };
  std::vector<double> evaluated(const Changing& one, std::size_t count, double time) const;

  std::vector<Changing> changing_;
  std::vector<std::vector<double>> columns_;  // [input][id]: attributes at the start
};

}  // namespace perrin
