#include "engine/device/outgoing.h"

#include <cstring>

namespace perrin {

#ifdef PERRIN_CUDA

HostMemory::HostMemory(const Device& device, std::size_t bytes) : device_(device) {
  if (!device_.is_cuda()) {
    data_ = static_cast<std::byte*>(device_.memory().allocate(bytes));
    return;
  }
  void* memory = nullptr;
  check_cuda(cudaHostAlloc(&memory, bytes, cudaHostAllocDefault),
             "allocating page-locked memory of the host");
  data_ = static_cast<std::byte*>(memory);
}

HostMemory::~HostMemory() {
  if (!device_.is_cuda())
    device_.memory().release(data_);
  else if (data_)
    cudaFreeHost(data_);
}

struct Arrival::Event {
  int device = 0;  // the waiting thread may not have chosen one
  cudaEvent_t event = nullptr;

  Event() {
    check_cuda(cudaGetDevice(&device), "asking for the device");
    check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventBlockingSync),
               "making an event");
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() {
    if (event) cudaEventDestroy(event);
  }
};

void Arrival::wait() const {
  if (!event_) return;
  check_cuda(cudaSetDevice(event_->device), "selecting the device");
  check_cuda(cudaEventSynchronize(event_->event), "copying from the device");
}

struct OutgoingCopies::Stream {
  cudaStream_t stream = nullptr;
  cudaEvent_t work_done = nullptr;

  Stream() {
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    check_cuda(cudaEventCreateWithFlags(&work_done, cudaEventDisableTiming), "making an event");
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    if (stream) {
      cudaStreamSynchronize(stream);  // the memory of a copy may go next
      cudaStreamDestroy(stream);
    }
    if (work_done) cudaEventDestroy(work_done);
  }
};

OutgoingCopies::OutgoingCopies(const Device& device) : device_(device) {
  if (device_.is_cuda()) stream_ = std::make_shared<Stream>();
}

void OutgoingCopies::hold_device() const {
  if (!last_.event_) return;
  device_.queue().begin_anew();
  check_cuda(cudaStreamWaitEvent(device_.queue().stream(), last_.event_->event, 0),
             "waiting for a copy");
}

Arrival OutgoingCopies::copy(void* host, const void* device, std::size_t bytes) {
  if (!stream_) {
    std::memcpy(host, device, bytes);
    return {};
  }
  const auto event = std::make_shared<Arrival::Event>();
  device_.queue().begin_anew();
  check_cuda(cudaEventRecord(stream_->work_done, device_.queue().stream()),
             "copying from the device");
  check_cuda(cudaStreamWaitEvent(stream_->stream, stream_->work_done, 0),
             "copying from the device");
  check_cuda(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream_->stream),
             "copying from the device");
  check_cuda(cudaEventRecord(event->event, stream_->stream), "copying from the device");
  last_.event_ = event;
  return last_;
}

#else

HostMemory::HostMemory(const Device& device, std::size_t bytes)
    : device_(device), data_(static_cast<std::byte*>(device.memory().allocate(bytes))) {}
HostMemory::~HostMemory() { device_.memory().release(data_); }

struct Arrival::Event {};
void Arrival::wait() const {}

struct OutgoingCopies::Stream {};
OutgoingCopies::OutgoingCopies(const Device& device) : device_(device) {}
void OutgoingCopies::hold_device() const {}
Arrival OutgoingCopies::copy(void* host, const void* device, std::size_t bytes) {
  std::memcpy(host, device, bytes);
  return {};
}

#endif

OutgoingCopies::~OutgoingCopies() = default;

}  // namespace perrin
