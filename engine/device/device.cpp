#include "engine/device/device.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/instruction_set.h"
#include "engine/device/batch_replay.h"
#include "engine/device/condition.h"
#include "engine/device/launch_list.h"
#include "engine/device/record_node.h"
#include "engine/device/threads.h"

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

struct Device::Shared {
  explicit Shared(int count) : threads(count) {}
  Threads threads;
};

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

struct Device::Cuda {
  int index = 0;
  cudaStream_t stream = nullptr;       // where work goes now
  cudaStream_t main_stream = nullptr;  // the device's own
  cudaStream_t body_stream[2]{};       // for recording the body of when(), and one in that
  int depth = 0;                       // bodies that are being recorded
  const void* last = nullptr;          // Device::note_last()
  bool recording = false;
  bool after_kernel = false;  // the last work given was a kernel
  cudaDeviceProp properties{};

  explicit Cuda(int device_index) : index(device_index) {
    check_cuda(cudaSetDevice(index), "selecting the device");
    check_cuda(cudaGetDeviceProperties(&properties, index), "reading the device's properties");
    main_stream = stream_pool().take(index);
    for (cudaStream_t& body : body_stream) body = stream_pool().take(index);
    stream = main_stream;
  }
  Cuda(const Cuda&) = delete;
  Cuda& operator=(const Cuda&) = delete;
  ~Cuda() {
    for (cudaStream_t body : body_stream) stream_pool().give_back(index, body);
    stream_pool().give_back(index, main_stream);
  }
};

struct Device::Halt {
  bool skipping = false;
  LaunchList* list = nullptr;     // work is noted there
  std::uint32_t* word = nullptr;  // on the device; nullptr on the CPU
  std::shared_ptr<Cuda> cuda;

  explicit Halt(const std::shared_ptr<Cuda>& of) : cuda(of) {
    if (!cuda) return;
    check_cuda(cudaSetDevice(cuda->index), "selecting the device");
    check_cuda(cudaMalloc(&word, sizeof *word), "allocating");
    check_cuda(cudaMemsetAsync(word, 0, sizeof *word, cuda->stream), "zeroing");
  }
  Halt(const Halt&) = delete;
  Halt& operator=(const Halt&) = delete;
  ~Halt() {
    if (word) cudaFree(word);
  }
};

namespace {

/// Leaves the noting of work that a library would do on the stream.
struct NotForSeveral {};

cudaGraph_t capturing_graph(cudaStream_t stream) {
  cudaStreamCaptureStatus status{};
  cudaGraph_t graph = nullptr;
#if CUDART_VERSION >= 13000
  check_cuda(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, nullptr, nullptr, nullptr),
             "recording");
#else
  check_cuda(cudaStreamGetCaptureInfo_v2(stream, &status, nullptr, &graph, nullptr, nullptr),
             "recording");
#endif
  return graph;
}

}  // namespace

void record_node(cudaStream_t stream, cudaGraphNodeParams& params) {
  cudaStreamCaptureStatus status{};
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* after = nullptr;
  std::size_t count = 0;
  cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
  const cudaGraphEdgeData* edges = nullptr;
  check_cuda(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &after, &edges, &count),
             "recording");
  check_cuda(cudaGraphAddNode(&node, graph, after, edges, count, &params), "recording a node");
  check_cuda(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1,
                                                 cudaStreamSetCaptureDependencies),
             "recording");
#else
  check_cuda(cudaStreamGetCaptureInfo_v2(stream, &status, nullptr, &graph, &after, &count),
             "recording");
  check_cuda(cudaGraphAddNode(&node, graph, after, count, &params), "recording a node");
  check_cuda(
      cudaStreamUpdateCaptureDependencies(stream, &node, 1, cudaStreamSetCaptureDependencies),
      "recording");
#endif
}

cudaStream_t Device::stream() const {
  if (halt_ && halt_->list) throw NotForSeveral();
  cuda_->last = nullptr;
  return cuda_->stream;
}

bool Device::next_may_overlap() const {
  return std::exchange(cuda_->after_kernel, true) && cuda_->properties.major >= 9;
}

void Device::begin_anew() const { cuda_->after_kernel = false; }

void Device::note_last(const void* what) const { cuda_->last = what; }
bool Device::last_is(const void* what) const { return cuda_->last == what; }

int Device::cuda_count() {
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

struct Device::Cuda {};
struct Device::Halt {
  explicit Halt(const std::shared_ptr<Cuda>&) {}
  bool skipping = false;
};
int Device::cuda_count() { return 0; }
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
  device.halt_ = std::make_shared<Halt>(cuda_);
  device.decomposition_.reset();
  return device;
}

Device Device::with_decomposition(std::shared_ptr<Decomposition> decomposition) const {
  Device device = *this;
  device.decomposition_ = std::move(decomposition);
  return device;
}

Device Device::with_least_share(std::int64_t particles) const {
  Device device = *this;
  device.least_share_ = particles;
  return device;
}

Device Device::parse(const std::string& name, int threads) {
  if (name == "cpu") return cpu(threads);
  if (name == "auto") return cuda_count() > 0 ? cuda(0) : cpu(threads);
  if (name == "cuda") return cuda(0);
  if (name.rfind("cuda:", 0) == 0 && name.size() > 5 && name.size() < 10 &&
      name.find_first_not_of("0123456789", 5) == std::string::npos)
    return cuda(std::stoi(name.substr(5)));
  throw UserError(fmt::format("unknown device \"{}\": expected auto, cpu, cuda or cuda:N", name));
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

Condition Device::condition(std::uint32_t* flag) const {
  Condition condition{flag, 0};
#ifdef PERRIN_CUDA
  if (LaunchList* const list = collects()) {
    list->refuse("a decision");
    return condition;
  }
  if (cuda_ && cuda_->recording) {
    cudaGraphConditionalHandle handle{};
    check_cuda(cudaGraphConditionalHandleCreate(&handle, capturing_graph(cuda_->stream), 0,
                                                cudaGraphCondAssignDefault),
               "recording a condition");
    condition.handle = handle;
  }
#endif
  return condition;
}

void Device::when(const Condition& condition, const std::function<void()>& work) const {
  if (skipping() || collects()) return;  // condition() has refused
#ifdef PERRIN_CUDA
  if (cuda_ && cuda_->recording) {
    PERRIN_ASSERT(condition.handle != 0);
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = condition.handle;
    params.conditional.type = cudaGraphCondTypeIf;
    params.conditional.size = 1;
    record_node(stream(), params);
    PERRIN_ASSERT(cuda_->depth < int(std::size(cuda_->body_stream)));
    cudaStream_t const outer = cuda_->stream, body = cuda_->body_stream[cuda_->depth++];
    check_cuda(cudaStreamBeginCaptureToGraph(body, params.conditional.phGraph_out[0], nullptr,
                                             nullptr, 0, cudaStreamCaptureModeThreadLocal),
               "recording a conditional body");
    cuda_->stream = body;
    cuda_->after_kernel = false;
    work();
    cuda_->stream = outer;
    cuda_->after_kernel = false;
    cuda_->last = nullptr;
    --cuda_->depth;
    check_cuda(cudaStreamEndCapture(body, nullptr), "recording a conditional body");
    return;
  }
#endif
  std::uint32_t value = 0;
  copy_out(&value, condition.flag, sizeof value);
  if (value != 0 && !(is_cuda() && halted())) work();
}

std::uint32_t* Device::halt_word() const {
#ifdef PERRIN_CUDA
  if (halt_) return halt_->word;
#endif
  return nullptr;
}

bool Device::halted() const {
  if (!is_cuda()) return false;
  std::uint32_t value = 0;
  copy_out(&value, halt_word(), sizeof value);
  return value != 0;
}

void Device::clear_halt() const {
#ifdef PERRIN_CUDA
  if (cuda_) zero(halt_->word, sizeof(std::uint32_t));
#endif
}

void Device::set_skipping(bool skip) const {
  if (halt_) halt_->skipping = skip;
}
bool Device::skipping() const { return halt_ && halt_->skipping; }

bool Device::recording() const {
#ifdef PERRIN_CUDA
  if (cuda_) return cuda_->recording || collects();
#endif
  return false;
}

LaunchList* Device::collects() const {
#ifdef PERRIN_CUDA
  if (halt_) return halt_->list;
#endif
  return nullptr;
}

Device Device::with_batch(BatchReplay* batch, int member) const {
  Device device = *this;
  device.batch_ = batch;
  device.batch_member_ = member;
  return device;
}

#ifdef PERRIN_CUDA
namespace {
/// Before steps are recorded one has run that is not: what is allocated there once may stay there.
void refuse_while_recording(bool recording, const char* what) {
  if (recording)
    throw RunError(
        fmt::format("a force or integrator {} inside a step while the GPU's steps were recorded; "
                    "this must be done in its constructor or in begin()",
                    what));
}
}  // namespace
#endif

void* Device::allocate(std::size_t bytes) const {
#ifdef PERRIN_CUDA
  if (cuda_) {
    refuse_while_recording(recording(), "allocated memory");
    void* memory = nullptr;
    check_cuda(cudaSetDevice(cuda_->index), "selecting the device");
    check_cuda(cudaMalloc(&memory, bytes),
               fmt::format("allocating {} MiB", (bytes >> 20) + 1).c_str());
    return memory;
  }
#endif
  // Cache-line aligned; vector loops may read (never use) up to 512 bytes beyond the end.
  // Large arrays in large pages: pair loops jump about in them.
  constexpr std::size_t large_page = std::size_t(2) << 20;
  const bool large = bytes >= large_page / 4;
  const std::size_t alignment = large ? large_page : 64;
  const std::size_t size = (bytes + 512 + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, size);
  if (memory && large) madvise(memory, size, MADV_HUGEPAGE);
  if (!memory) throw RunError(fmt::format("out of memory allocating {} MiB", (bytes >> 20) + 1));
  return memory;
}

void Device::release(void* memory) const noexcept {
  if (!memory) return;
#ifdef PERRIN_CUDA
  if (cuda_) {
    cudaFree(memory);
    return;
  }
#endif
  std::free(memory);
}

void Device::copy_in(void* device, const void* host, std::size_t bytes) const {
#ifdef PERRIN_CUDA
  if (cuda_) {
    refuse_while_recording(recording(), "copied from the host");
    check_cuda(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, cuda_->stream),
               "copying to the device");
    return synchronize();
  }
#endif
  std::memcpy(device, host, bytes);
}

void Device::copy_out(void* host, const void* device, std::size_t bytes) const {
#ifdef PERRIN_CUDA
  if (cuda_) {
    refuse_while_recording(recording(), "copied to the host");
    check_cuda(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, cuda_->stream),
               "copying from the device");
    return synchronize();
  }
#endif
  std::memcpy(host, device, bytes);
}

void Device::copy(void* to, const void* from, std::size_t bytes) const {
  if (bytes == 0 || skipping()) return;
#ifdef PERRIN_CUDA
  if (LaunchList* const list = collects()) return list->add_copy(to, from, bytes);
  if (cuda_) {
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream()),
               "copying on the device");
    cuda_->after_kernel = false;
    return;
  }
#endif
  std::memcpy(to, from, bytes);
}

void Device::zero(void* memory, std::size_t bytes) const {
  if (bytes == 0 || skipping()) return;
#ifdef PERRIN_CUDA
  if (LaunchList* const list = collects()) return list->add_zero(memory, bytes);
  if (cuda_) {
    check_cuda(cudaMemsetAsync(memory, 0, bytes, stream()), "zeroing");
    cuda_->after_kernel = false;
    return;
  }
#endif
  std::memset(memory, 0, bytes);
}

struct Recording::Graph {
#ifdef PERRIN_CUDA
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ~Graph() {
    if (executable) cudaGraphExecDestroy(executable);
    if (graph) cudaGraphDestroy(graph);
  }
#endif
};

Recording::Recording(const Device& device, std::function<void()> work)
    : device_(device), work_(std::move(work)) {
#ifdef PERRIN_CUDA
  if (!device_.cuda_) return;
  if (device_.batch_ && collect()) return;
  auto& cuda = *device_.cuda_;
  graph_ = std::make_shared<Graph>();
  check_cuda(cudaStreamBeginCapture(cuda.stream, cudaStreamCaptureModeThreadLocal), "recording");
  cuda.recording = true;
  cuda.after_kernel = false;  // what comes before the recording is known when it is replayed
  cuda.last = nullptr;
  try {
    work_();
  } catch (...) {
    cuda.recording = false;
    cuda.depth = 0;
    cuda.stream = cuda.main_stream;
    cudaStreamEndCapture(cuda.main_stream, &graph_->graph);
    throw;
  }
  cuda.recording = false;
  check_cuda(cudaStreamEndCapture(cuda.stream, &graph_->graph), "recording a step");
  check_cuda(cudaGraphInstantiate(&graph_->executable, graph_->graph, 0), "creating a graph");
  check_cuda(cudaGraphUpload(graph_->executable, cuda.stream), "uploading a graph");
#endif
}

/// Notes the work for the batch; false: it is not of a kind that can be done for several.
bool Recording::collect() {
#ifdef PERRIN_CUDA
  const auto list = std::make_shared<LaunchList>();
  device_.halt_->list = list.get();
  bool noted = true;
  try {
    work_();
  } catch (const NotForSeveral&) {
    noted = false;
  } catch (...) {
    device_.halt_->list = nullptr;
    throw;
  }
  device_.halt_->list = nullptr;
  if (!noted || !list->refused().empty()) return false;
  list_ = list;
  return true;
#else
  return false;
#endif
}

void Recording::replay(int times) const {
#ifdef PERRIN_CUDA
  if (list_) return device_.batch_->replay(device_.batch_member_, list_, times);
  if (graph_) {
    if (device_.batch_) device_.batch_->works_alone(device_.batch_member_);
    for (int k = 0; k < times; ++k)
      check_cuda(cudaGraphLaunch(graph_->executable, device_.cuda_->stream), "replaying a step");
    device_.cuda_->after_kernel = false;
    device_.cuda_->last = nullptr;
    return;
  }
#endif
  for (int k = 0; k < times; ++k) work_();
}

}  // namespace perrin
