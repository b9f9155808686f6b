#include <iterator>
#include <utility>

#include "engine/base/error.h"
#include "engine/device/batch_replay.h"
#include "engine/device/condition.h"
#include "engine/device/device_state.h"
#include "engine/device/launch_list.h"
#include "engine/device/record_node.h"

namespace perrin {

#ifdef PERRIN_CUDA

namespace {

/// Leaves the noting of work that a library would do on the stream.
struct NotForSeveral {};

cudaGraph_t capturing_graph(cudaStream_t stream) {
  cudaStreamCaptureStatus status{};
  cudaGraph_t graph = nullptr;
  check_cuda(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, nullptr, nullptr, nullptr),
             "recording");
  return graph;
}

}  // namespace

void record_node(cudaStream_t stream, cudaGraphNodeParams& params) {
  cudaStreamCaptureStatus status{};
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* after = nullptr;
  std::size_t count = 0;
  cudaGraphNode_t node = nullptr;
  const cudaGraphEdgeData* edges = nullptr;
  check_cuda(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &after, &edges, &count),
             "recording");
  check_cuda(cudaGraphAddNode(&node, graph, after, edges, count, &params), "recording a node");
  check_cuda(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1,
                                                 cudaStreamSetCaptureDependencies),
             "recording");
}

cudaStream_t WorkQueue::stream() const {
  if (device_.halt_ && device_.halt_->list) throw NotForSeveral();
  if (device_.role_.batch) device_.role_.batch->works_alone(device_.role_.batch_member);
  device_.cuda_->last = nullptr;
  return device_.cuda_->stream;
}

bool WorkQueue::next_may_overlap() const {
  return std::exchange(device_.cuda_->after_kernel, true) && device_.cuda_->properties.major >= 9;
}

bool WorkQueue::waits(const void* kernel) const {
  const auto [found, is_new] = device_.cuda_->waits.try_emplace(kernel, false);
  if (is_new) {
    cudaFuncAttributes loaded{};
    check_cuda(cudaFuncGetAttributes(&loaded, kernel), "architecture of a kernel");
    found->second = loaded.ptxVersion >= 90;  // __CUDA_ARCH__ / 10 of what was compiled
  }
  return found->second;
}

void WorkQueue::begin_anew() const { device_.cuda_->after_kernel = false; }

void WorkQueue::note_last(const void* what) const { device_.cuda_->last = what; }
bool WorkQueue::last_is(const void* what) const { return device_.cuda_->last == what; }

#endif

bool WorkQueue::recording() const {
#ifdef PERRIN_CUDA
  if (device_.cuda_) return device_.cuda_->recording || collects();
#endif
  return false;
}

LaunchList* WorkQueue::collects() const {
#ifdef PERRIN_CUDA
  if (device_.halt_) return device_.halt_->list;
#endif
  return nullptr;
}

Condition WorkQueue::condition(std::uint32_t* flag) const {
  Condition condition{flag, 0};
#ifdef PERRIN_CUDA
  if (LaunchList* const list = collects()) {
    list->refuse("a decision");
    return condition;
  }
  if (device_.cuda_ && device_.cuda_->recording) {
    cudaGraphConditionalHandle handle{};
    check_cuda(cudaGraphConditionalHandleCreate(&handle, capturing_graph(device_.cuda_->stream), 0,
                                                cudaGraphCondAssignDefault),
               "recording a condition");
    condition.handle = handle;
  }
#endif
  return condition;
}

void WorkQueue::when(const Condition& condition, const std::function<void()>& work) const {
  if (device_.halt().skipping() || collects()) return;  // condition() has refused
#ifdef PERRIN_CUDA
  if (device_.cuda_ && device_.cuda_->recording) {
    PERRIN_ASSERT(condition.handle != 0);
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = condition.handle;
    params.conditional.type = cudaGraphCondTypeIf;
    params.conditional.size = 1;
    record_node(stream(), params);
    PERRIN_ASSERT(device_.cuda_->depth < int(std::size(device_.cuda_->body_stream)));
    cudaStream_t const outer = device_.cuda_->stream,
                       body = device_.cuda_->body_stream[device_.cuda_->depth++];
    check_cuda(cudaStreamBeginCaptureToGraph(body, params.conditional.phGraph_out[0], nullptr,
                                             nullptr, 0, cudaStreamCaptureModeThreadLocal),
               "recording a conditional body");
    device_.cuda_->stream = body;
    device_.cuda_->after_kernel = false;
    work();
    device_.cuda_->stream = outer;
    device_.cuda_->after_kernel = false;
    device_.cuda_->last = nullptr;
    --device_.cuda_->depth;
    check_cuda(cudaStreamEndCapture(body, nullptr), "recording a conditional body");
    return;
  }
#endif
  std::uint32_t value = 0;
  device_.memory().copy_out(&value, condition.flag, sizeof value);
  if (value != 0 && !(device_.is_cuda() && device_.halt().raised())) work();
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
  if (device_.role_.batch && collect()) return;
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
  if (list_) return device_.role_.batch->replay(device_.role_.batch_member, list_, times);
  if (graph_) {
    if (device_.role_.batch) device_.role_.batch->works_alone(device_.role_.batch_member);
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
