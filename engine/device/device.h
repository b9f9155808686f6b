// Where the work runs: threads of the CPU or one CUDA device with its stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#ifdef PERRIN_CUDA
#include <cuda_runtime_api.h>
#endif

namespace perrin {

class BatchReplay;
struct Condition;
class Decomposition;
class DeviceMemory;
class Halt;
class LaunchList;
class Threads;
class WorkQueue;

/// What a device is beside others, for the simulation that it is handed to.
struct DeviceRole {
  /// For decomposition_of() (engine/domain/decomposition.h); nullptr: the trivial one.
  std::shared_ptr<Decomposition> decomposition{};
  /// The fewest particles that a process is given; 0: where it begins to pay.
  std::int64_t least_share = 0;
  /// The simulation is one of a batch (engine/device/batch.h): which, or nullptr.
  BatchReplay* batch = nullptr;
  int batch_member = 0;
};

/// A cheap copyable handle. All work given to one Device runs in order.
class Device {
 public:
  Device() = default;  // the CPU, one thread
  /// CPU with the given number of threads; 0: OMP_NUM_THREADS or every core. Throws UserError above
  /// Threads::most.
  static Device cpu(int threads = 0);
  /// The CUDA device with this index. Throws UserError where there is none, with the reason.
  static Device cuda(int index = 0);
  /// "auto", "cpu", "cuda" or "cuda:N". Auto takes the first CUDA device, else the CPU.
  /// Throws UserError.
  static Device parse(const std::string& name, int threads = 0);
  /// The same device and order of work, but halted and skipping by itself: what one simulation
  /// stops must not stop another. It has no decomposition.
  Device apart() const;
  const DeviceRole& role() const { return role_; }
  Device with(DeviceRole role) const;

  bool is_cuda() const { return cuda_ != nullptr; }
  /// Of the CPU: those that loops run on, on a CUDA device those for work of the host.
  int threads() const { return threads_; }
  Threads* host_threads() const;  // nullptr: the calling thread alone
  /// "cpu" or "cuda:0": what parse() takes.
  std::string name() const;
  /// For people: "NVIDIA H200 (cuda:0)", "CPU, 2 threads".
  std::string description() const;
  int multiprocessors() const;  // of a CUDA device; threads() on the CPU

  /// Waits for the work given so far; throws RunError naming what failed.
  void synchronize() const;
  DeviceMemory memory() const;
  WorkQueue queue() const;
  Halt halt() const;

 private:
  struct Shared;  // what the handles of one device have in common
  struct Cuda;
  struct HaltState;
  int threads_ = 1;
  std::shared_ptr<Shared> shared_;
  std::shared_ptr<Cuda> cuda_;
  std::shared_ptr<HaltState> halt_;
  DeviceRole role_;

  friend class DeviceMemory;
  friend class WorkQueue;
  friend class Halt;
  friend class Recording;
};

/// Throws UserError for a name that Device::parse() does not take. GPUs need not be there.
void check_device_name(const std::string& name);
/// Number of usable CUDA devices (0 without a driver or in a CPU-only build).
int cuda_device_count();

// Three rooms of a device, each a view: as long as the Device lives.

/// Its memory; prefer Buffer.
class DeviceMemory {
 public:
  explicit DeviceMemory(const Device& device) : device_(device) {}
  void* allocate(std::size_t bytes) const;  // zeros
  void release(void* memory) const noexcept;
  /// The host's memory may be changed afterwards. Of much memory it waits.
  void copy_in(void* device, const void* host, std::size_t bytes) const;
  void copy_out(void* host, const void* device, std::size_t bytes) const;  // waits
  void copy(void* to, const void* from, std::size_t bytes) const;          // device to device
  void zero(void* memory, std::size_t bytes) const;

 private:
  const Device& device_;
};

/// Halting: a kernel that cannot go on (a list is full, a particle is lost) sets the halt word;
/// every later kernel of for_each() and sum() then does nothing, so that the state stays as it was
/// until the host looks. Skipping: the host suppresses launches, to repeat the rest of a step.
class Halt {
 public:
  explicit Halt(const Device& device) : device_(device) {}
  std::uint32_t* word() const;  // on a CUDA device; nullptr on the CPU
  bool raised() const;          // waits
  void clear() const;
  void set_skipping(bool skip) const;
  bool skipping() const;

 private:
  const Device& device_;
};

/// The work given to it: whether it is done, recorded or noted, and decisions within it.
class WorkQueue {
 public:
  explicit WorkQueue(const Device& device) : device_(device) {}
  /// What is given now will be repeated: it is noted for a batch, or recorded as a graph.
  bool recording() const;
  /// Where work is noted; nullptr: it is done, or recorded.
  LaunchList* collects() const;
  /// A condition that kernels may raise and when() asks for, made before the kernels that raise it.
  /// `flag` is a word on this device: work is due while it is not 0.
  Condition condition(std::uint32_t* flag) const;
  /// Runs `work` if the condition was raised, without making the host wait while a step is being
  /// recorded (a conditional node of the CUDA graph; then only what was raised since condition()
  /// counts); otherwise the host reads the flag. `work` must only launch device work on this
  /// device.
  void when(const Condition& condition, const std::function<void()>& work) const;

#ifdef PERRIN_CUDA
  cudaStream_t stream() const;
  /// For launch_early(): may the kernel launched now come in before its predecessor has ended? Only
  /// behind another kernel, on devices that can.
  bool next_may_overlap() const;
  /// Does the code of this kernel that runs here wait for what comes before it (launch.h)? Not what
  /// was compiled for architectures before 9.0, which a newer device runs where it finds nothing
  /// else. Every kernel is asked for itself: a plug-in may be compiled for other ones.
  bool waits(const void* kernel) const;
  /// What is given next does not follow a kernel: events are put between by others.
  void begin_anew() const;
  /// What the work given last is, until more is given.
  void note_last(const void* what) const;
  bool last_is(const void* what) const;
#endif

 private:
  const Device& device_;
};

inline DeviceMemory Device::memory() const { return DeviceMemory(*this); }
inline WorkQueue Device::queue() const { return WorkQueue(*this); }
inline Halt Device::halt() const { return Halt(*this); }

/// A sequence of device work recorded once and replayed: a CUDA graph; of a member of a batch a
/// list of launches, if all of it can be done for several at once. On the CPU it runs the function
/// each time.
class Recording {
 public:
  Recording() = default;
  /// Records `work`, which must neither allocate nor wait.
  Recording(const Device& device, std::function<void()> work);
  void replay(int times = 1) const;
  explicit operator bool() const { return bool(work_); }

 private:
  struct Graph;
  bool collect();
  Device device_;
  std::function<void()> work_;
  std::shared_ptr<Graph> graph_;
  std::shared_ptr<const LaunchList> list_;  // of a member of a batch
};

#ifdef PERRIN_CUDA
/// Throws RunError naming `what` if a CUDA call failed.
void check_cuda(cudaError_t status, const char* what);
#endif

}  // namespace perrin
