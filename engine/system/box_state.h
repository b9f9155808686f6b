// The box that particles are in, on the host and on the device, and whether steps change it.
#pragma once

#include "engine/device/buffer.h"
#include "engine/system/archive.h"
#include "engine/system/box.h"

namespace perrin {

class BoxState {
 public:
  BoxState(const Device& device, const Box& box);
  BoxState(const BoxState&) = delete;
  BoxState& operator=(const BoxState&) = delete;

  /// As the host knows it. On a CUDA device whose steps change the box: that of the last
  /// download().
  const Box& host() const { return host_; }
  /// At the start of the job.
  const Box& given() const { return given_; }
  /// The metric, for kernels.
  Current<Metric> metric() const { return {host_.metric(), metric_.data(), moves_}; }
  /// Where kernels find the box and may change it. Afterwards changed() is called.
  Box* data() { return device_.is_cuda() ? kept_.data() : &host_; }
  const Box* data() const { return device_.is_cuda() ? kept_.data() : &host_; }

  /// Another box, from the host.
  void set(const Box& box);
  /// After kernels have changed it: the metric follows. Device work.
  void changed();
  /// The host's box becomes that of the device, where steps change it. Waits.
  void download();

  bool moves() const { return moves_; }
  /// Steps change it, from here on.
  void let_move() { moves_ = true; }

  /// The box at the start of the job: that of the job that a resumed run goes on with.
  void state_of_given(Archive& archive);

 private:
  Device device_;
  Box host_, given_;
  Buffer<Box> kept_;       // on a CUDA device
  Buffer<Metric> metric_;  // of it
  bool moves_ = false;
};

}  // namespace perrin
