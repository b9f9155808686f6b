#include "engine/device/device.h"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/instruction_set.h"
#include "engine/device/device_state.h"

namespace perrin {

namespace {

bool processor_has(InstructionSet set) {
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (set != InstructionSet::avx512) return set == InstructionSet::baseline || avx2;
  return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
}

InstructionSet best_instruction_set() {
  const char* limit = std::getenv("PERRIN_ISA");
  const std::string at_most = limit ? limit : "";
  using enum InstructionSet;
  for (const InstructionSet set : {avx512, avx2, baseline}) {
    if (at_most == "baseline" && set != baseline) continue;
    if (at_most == "avx2" && set == avx512) continue;
    if (has_instruction_set(set) && processor_has(set)) return set;
  }
  throw UserError("this Perrin was built for other processors (PERRIN_INSTRUCTION_SETS in CMake)" +
                  (limit ? ", or PERRIN_ISA=" + at_most + " leaves none of them" : std::string()));
}

}  // namespace

InstructionSet instruction_set() {
  static const InstructionSet best = best_instruction_set();
  return best;
}

#ifdef PERRIN_CUDA

void check_cuda(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // a launch error must not be reported twice
  if (status == cudaErrorMemoryAllocation) {
    std::size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    throw RunError(fmt::format("out of device memory in {} ({} of {} MiB free)", what, free >> 20,
                               total >> 20));
  }
  throw RunError(fmt::format("CUDA error in {}: {}", what, cudaGetErrorString(status)));
}

namespace {

/// Streams are kept for others: the driver of CUDA 13.0 crashes now and then where a stream is
/// destroyed while another thread works.
class StreamPool {
 public:
  cudaStream_t take(int device) {
    const std::lock_guard lock(mutex_);
    for (auto it = free_.begin(); it != free_.end(); ++it)
      if (it->device == device) {
        cudaStream_t const stream = it->stream;
        free_.erase(it);
        return stream;
      }
    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
    return stream;
  }
  void give_back(int device, cudaStream_t stream) {
    cudaStreamSynchronize(stream);
    const std::lock_guard lock(mutex_);
    free_.push_back({device, stream});
  }

 private:
  struct Free {
    int device;
    cudaStream_t stream;
  };
  std::mutex mutex_;
  std::vector<Free> free_;
};

StreamPool& stream_pool() {
  static auto* const pool = new StreamPool;  // the driver may be gone before static objects are
  return *pool;
}

}  // namespace

Device::Cuda::Cuda(int device_index) : index(device_index) {
  check_cuda(cudaSetDevice(index), "selecting the device");
  check_cuda(cudaGetDeviceProperties(&properties, index), "reading the device's properties");
  main_stream = stream_pool().take(index);
  for (cudaStream_t& body : body_stream) body = stream_pool().take(index);
  stream = main_stream;
}

bool Device::Cuda::has_pool() {
  if (pool == nullptr && properties.memoryPoolsSupported != 0) {
    cudaMemPoolProps wanted{};
    wanted.allocType = cudaMemAllocationTypePinned;
    wanted.location = {cudaMemLocationTypeDevice, index};
    check_cuda(cudaMemPoolCreate(&pool, &wanted), "making a pool of memory");
    std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
    check_cuda(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all),
               "making a pool of memory");
  }
  return pool != nullptr;
}

Device::Cuda::~Cuda() {
  if (pool) cudaMemPoolDestroy(pool);
  for (cudaStream_t body : body_stream) stream_pool().give_back(index, body);
  stream_pool().give_back(index, main_stream);
}

Device::HaltState::HaltState(const std::shared_ptr<Cuda>& of) : cuda(of) {
  if (!cuda) return;
  check_cuda(cudaSetDevice(cuda->index), "selecting the device");
  check_cuda(cudaMalloc(reinterpret_cast<void**>(&word), sizeof *word), "allocating");
  check_cuda(cudaMemsetAsync(word, 0, sizeof *word, cuda->stream), "zeroing");
}

Device::HaltState::~HaltState() {
  if (word) cudaFree(word);
}

int cuda_device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return count;
}

Device Device::cuda(int index) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    cudaGetLastError();
    throw UserError(fmt::format("no CUDA device can be used: {}", cudaGetErrorString(status)));
  }
  if (index < 0 || index >= count)
    throw UserError(fmt::format("there is no device cuda:{}; {} found", index,
                                count == 1 ? "one (cuda:0)" : fmt::format("{}", count)));
  Device device;
  device.threads_ = default_threads();
  device.shared_ = std::make_shared<Shared>(device.threads_);
  device.cuda_ = std::make_shared<Cuda>(index);
  return device.apart();
}

#else

int cuda_device_count() { return 0; }
Device Device::cuda(int) {
  throw UserError("this build has no CUDA back end (it was built without a CUDA toolkit)");
}

#endif

Device Device::cpu(int threads) {
  if (threads > Threads::most)
    throw UserError(
        fmt::format("{} threads requested, at most {} can be used", threads, Threads::most));
  Device device;
  device.threads_ = threads > 0 ? threads : default_threads();
  device.shared_ = std::make_shared<Shared>(device.threads_);
  return device.apart();
}

Device Device::apart() const {
  Device device = *this;
  device.halt_ = std::make_shared<HaltState>(cuda_);
  device.role_.decomposition.reset();
  return device;
}

Device Device::with(DeviceRole role) const {
  Device device = *this;
  device.role_ = std::move(role);
  return device;
}

void check_device_name(const std::string& name) {
  const bool numbered = name.starts_with("cuda:") && name.size() > 5 && name.size() < 10 &&
                        name.find_first_not_of("0123456789", 5) == std::string::npos;
  if (name != "cpu" && name != "auto" && name != "cuda" && !numbered)
    throw UserError(fmt::format("unknown device \"{}\": expected auto, cpu, cuda or cuda:N", name));
}

Device Device::parse(const std::string& name, int threads) {
  check_device_name(name);
  if (name == "cpu") return cpu(threads);
  if (name == "auto") return cuda_device_count() > 0 ? cuda(0) : cpu(threads);
  return cuda(name == "cuda" ? 0 : std::stoi(name.substr(5)));
}

Threads* Device::host_threads() const {
  return shared_ && threads_ > 1 ? &shared_->threads : nullptr;
}

std::string Device::name() const {
#ifdef PERRIN_CUDA
  if (cuda_) return fmt::format("cuda:{}", cuda_->index);
#endif
  return "cpu";
}

std::string Device::description() const {
#ifdef PERRIN_CUDA
  if (cuda_) return fmt::format("{} ({})", cuda_->properties.name, name());
#endif
  const char* set[] = {"baseline x86-64", "AVX2", "AVX-512"};
  return fmt::format("CPU, {} thread{}, {}", threads_, threads_ == 1 ? "" : "s",
                     set[static_cast<int>(instruction_set())]);
}

int Device::multiprocessors() const {
#ifdef PERRIN_CUDA
  if (cuda_) return cuda_->properties.multiProcessorCount;
#endif
  return threads_;
}

void Device::synchronize() const {
#ifdef PERRIN_CUDA
  if (cuda_) check_cuda(cudaStreamSynchronize(cuda_->stream), "waiting for the device");
#endif
}

std::uint32_t* Halt::word() const {
#ifdef PERRIN_CUDA
  if (device_.halt_) return device_.halt_->word;
#endif
  return nullptr;
}

bool Halt::raised() const {
  if (!device_.is_cuda()) return false;
  std::uint32_t value = 0;
  device_.memory().copy_out(&value, word(), sizeof value);
  return value != 0;
}

void Halt::clear() const {
#ifdef PERRIN_CUDA
  if (device_.cuda_) device_.memory().zero(word(), sizeof(std::uint32_t));
#endif
}

void Halt::set_skipping(bool skip) const {
  if (device_.halt_) device_.halt_->skipping = skip;
}
bool Halt::skipping() const { return device_.halt_ && device_.halt_->skipping; }

}  // namespace perrin
