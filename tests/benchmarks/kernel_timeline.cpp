// What runs on a GPU, and when: a library that a CUDA program loads by itself. Kernels of recorded
// steps are told one by one.
//
//   g++ -shared -fPIC tests/benchmarks/kernel_timeline.cpp -o timeline.so -I/usr/local/cuda/include
//       -L/usr/local/cuda/lib64 -lcupti
//   CUDA_INJECTION64_PATH=./timeline.so TIMELINE=out.txt perrin run job.json
//
// The file has, of the third quarter of all kernels, how often each ran and how long it took, and
// the first of them in order: begin, length, time since the one before ended (all in µs; negative:
// they overlap). With mpirun give each process a file of its own.
#include <cupti.h>
#include <cxxabi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

struct Interval {
  std::uint64_t begin, end;  // ns
  std::string name;
};

std::mutex guard;
std::vector<Interval> intervals;

void CUPTIAPI give_memory(std::uint8_t** memory, std::size_t* bytes, std::size_t* records) {
  *bytes = std::size_t(8) << 20;
  *memory = static_cast<std::uint8_t*>(std::aligned_alloc(8, *bytes));
  *records = 0;
}

void CUPTIAPI take_records(CUcontext, std::uint32_t, std::uint8_t* memory, std::size_t,
                           std::size_t bytes) {
  const std::lock_guard<std::mutex> lock(guard);
  for (CUpti_Activity* record = nullptr;
       cuptiActivityGetNextRecord(memory, bytes, &record) == CUPTI_SUCCESS;) {
    if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
    const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel9*>(record);
    intervals.push_back({kernel->start, kernel->end, kernel->name ? kernel->name : "?"});
  }
  std::free(memory);
}

/// Without namespaces and arguments.
std::string short_name(const std::string& mangled) {
  int status = 0;
  char* text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::string name = text ? text : mangled;
  std::free(text);
  for (const char* part : {"perrin::", "detail::", "(anonymous namespace)::", "void "})
    for (std::size_t at; (at = name.find(part)) != std::string::npos;)
      name.erase(at, std::string(part).size());
  return name.substr(0, std::min<std::size_t>(name.find('('), 90));
}

double microseconds(std::uint64_t from, std::uint64_t to) {
  return (double(to) - double(from)) * 1e-3;
}

void write_timeline() {
  cuptiActivityFlushAll(1);
  const char* path = std::getenv("TIMELINE");
  std::FILE* file = std::fopen(path ? path : "timeline.txt", "w");
  if (!file) return;
  const std::lock_guard<std::mutex> lock(guard);
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  const std::size_t first = intervals.size() / 2, last = intervals.size() * 3 / 4;
  struct Sum {
    long count = 0;
    double time = 0;
  };
  std::map<std::string, Sum> sums;
  for (std::size_t k = first; k < last; ++k) {
    Sum& sum = sums[intervals[k].name];
    ++sum.count;
    sum.time += microseconds(intervals[k].begin, intervals[k].end);
  }
  for (const auto& [name, sum] : sums)
    std::fprintf(file, "%8ld times %10.2f each  %s\n", sum.count, sum.time / double(sum.count),
                 short_name(name).c_str());
  for (std::size_t k = first; k < std::min(last, first + 250); ++k) {
    const Interval& now = intervals[k];
    std::fprintf(file, "%10.2f %8.2f %8.2f  %s\n", microseconds(intervals[first].begin, now.begin),
                 microseconds(now.begin, now.end),
                 k == first ? 0 : microseconds(intervals[k - 1].end, now.begin),
                 short_name(now.name).c_str());
  }
  std::fclose(file);
}

}  // namespace

/// CUDA calls it when the program uses a device first.
extern "C" int InitializeInjection() {
  cuptiActivityRegisterCallbacks(give_memory, take_records);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  std::atexit(write_timeline);
  return 1;
}
