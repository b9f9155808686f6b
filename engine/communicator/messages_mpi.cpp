// The C interface alone.
#define OMPI_SKIP_MPICXX
#define MPICH_SKIP_MPICXX
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "engine/communicator/messages.h"

namespace perrin {
namespace {

constexpr int outcome_tag = 0, ring_tag = 1;

class MpiPost : public Post {
 public:
  MpiPost(MPI_Comm communicator, int tag, int slots)
      : communicator_(communicator), tag_(tag), requests_(std::size_t(slots), MPI_REQUEST_NULL) {}

  void send(int slot, int to, const void* data, std::size_t bytes) override {
    MPI_Isend(data, int(bytes), MPI_BYTE, to, tag_, communicator_, at(slot));
  }
  void receive(int slot, int from, void* data, std::size_t most) override {
    MPI_Irecv(data, int(most), MPI_BYTE, from, tag_, communicator_, at(slot));
  }
  bool done(int slot) override {
    int is_done = 0;
    MPI_Test(at(slot), &is_done, MPI_STATUS_IGNORE);
    return is_done != 0;
  }
  void cancel(int slot) override {
    if (*at(slot) == MPI_REQUEST_NULL) return;
    MPI_Cancel(at(slot));
    MPI_Wait(at(slot), MPI_STATUS_IGNORE);
  }

 private:
  MPI_Request* at(int slot) { return &requests_[std::size_t(slot)]; }

  MPI_Comm communicator_;
  int tag_;
  std::vector<MPI_Request> requests_;
};

class MpiMessages : public Messages {
 public:
  MpiMessages() {
    int begun = 0;
    MPI_Initialized(&begun);  // a program that uses this library may have done it
    ends_ = !begun;
    if (ends_) {
      int provided = 0;
      MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    }
    // A communicator for each kind: what is of one is never taken for what is of another.
    for (MPI_Comm& of : communicators_) MPI_Comm_dup(MPI_COMM_WORLD, &of);
    MPI_Comm_dup(MPI_COMM_WORLD, &of_posts_);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &host_rank_);
    MPI_Comm_size(host, &host_count_);
    MPI_Comm_free(&host);
    MPI_Irecv(&bell_, 1, MPI_CHAR, MPI_ANY_SOURCE, ring_tag, communicator(Kind::alarm), &ringing_);
  }

  int rank() const override { return rank_; }
  int count() const override { return count_; }
  int host_rank() const override { return host_rank_; }
  int host_count() const override { return host_count_; }

  void send(Kind kind, int to, const void* data, std::size_t bytes) override {
    MPI_Isend(data, int(bytes), MPI_BYTE, to, outcome_tag, communicator(kind), add(kind));
  }
  void receive(Kind kind, int from, void* data, std::size_t bytes) override {
    MPI_Irecv(data, int(bytes), MPI_BYTE, from, outcome_tag, communicator(kind), add(kind));
  }
  void broadcast(void* data, std::size_t bytes, int root) override {
    MPI_Ibcast(data, int(bytes), MPI_BYTE, root, communicator(Kind::collective),
               add(Kind::collective));
  }
  void all_gather(void* data, const std::vector<std::size_t>& offsets) override {
    counts_.assign(std::size_t(count_), 0);  // kept until it is done
    begins_.assign(std::size_t(count_), 0);
    for (std::size_t p = 0; p < counts_.size(); ++p) {
      counts_[p] = int(offsets[p + 1] - offsets[p]);
      begins_[p] = int(offsets[p]);
    }
    MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, data, counts_.data(), begins_.data(), MPI_BYTE,
                    communicator(Kind::collective), add(Kind::collective));
  }
  void reduce(std::int64_t* values, int n, Reduction reduction) override {
    const MPI_Op operation = reduction == Reduction::sum   ? MPI_SUM
                             : reduction == Reduction::min ? MPI_MIN
                                                           : MPI_MAX;
    MPI_Iallreduce(MPI_IN_PLACE, values, n, MPI_INT64_T, operation, communicator(Kind::collective),
                   add(Kind::collective));
  }

  std::unique_ptr<Post> post(int slots) override {
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    ++posts_;
    if (level != MPI_THREAD_MULTIPLE) return nullptr;
    return std::make_unique<MpiPost>(of_posts_, posts_ % 32768, slots);  // tags that all MPIs have
  }

  bool done(Kind kind) override {
    std::vector<MPI_Request>& requests = requests_[int(kind)];
    int all = 0;
    MPI_Testall(int(requests.size()), requests.data(), &all, MPI_STATUSES_IGNORE);
    if (all) requests.clear();
    return all != 0;
  }

  bool rung() override {
    if (!rung_) {
      int arrived = 0;
      MPI_Test(&ringing_, &arrived, MPI_STATUS_IGNORE);
      rung_ = arrived != 0;
    }
    return rung_;
  }

  void ring() override {
    static const char signal = 1;
    for (int p = 0; p < count_; ++p)
      if (p != rank_)
        MPI_Isend(&signal, 1, MPI_CHAR, p, ring_tag, communicator(Kind::alarm), add(Kind::alarm));
  }

  void finish() override {
    wait_for_all();
    // A process that has rung sends to all: what is on its way is taken before the end.
    if (!rung()) {
      MPI_Cancel(&ringing_);
      MPI_Wait(&ringing_, MPI_STATUS_IGNORE);
    }
    int more = 1;
    while (more) {
      MPI_Iprobe(MPI_ANY_SOURCE, ring_tag, communicator(Kind::alarm), &more, MPI_STATUS_IGNORE);
      if (more)
        MPI_Recv(&bell_, 1, MPI_CHAR, MPI_ANY_SOURCE, ring_tag, communicator(Kind::alarm),
                 MPI_STATUS_IGNORE);
    }
    if (ends_) MPI_Finalize();
  }

  void abort(int status) override { MPI_Abort(MPI_COMM_WORLD, status); }

 private:
  /// Until all have come to their end. One that left early rings: others would wait for it.
  void wait_for_all() {
    const auto begin = std::chrono::steady_clock::now();
    bool has_rung = false;
    MPI_Request all = MPI_REQUEST_NULL;
    MPI_Ibarrier(communicator(Kind::alarm), &all);
    for (int done = 0; !done;) {
      MPI_Test(&all, &done, MPI_STATUS_IGNORE);
      if (done) break;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      if (has_rung || std::chrono::steady_clock::now() - begin < std::chrono::seconds(5)) continue;
      has_rung = true;
      ring();
    }
  }

  MPI_Comm communicator(Kind kind) const { return communicators_[int(kind)]; }
  MPI_Request* add(Kind kind) { return &requests_[int(kind)].emplace_back(MPI_REQUEST_NULL); }

  MPI_Comm communicators_[3], of_posts_ = MPI_COMM_NULL;
  int posts_ = 0;
  std::vector<MPI_Request> requests_[3];
  std::vector<int> counts_, begins_;
  MPI_Request ringing_ = MPI_REQUEST_NULL;
  char bell_ = 0;
  bool rung_ = false, ends_ = true;
  int rank_ = 0, count_ = 1, host_rank_ = 0, host_count_ = 1;
};

}  // namespace

std::unique_ptr<Messages> start_mpi() { return std::make_unique<MpiMessages>(); }

std::string mpi_name() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string name(text, std::size_t(length));
  name.erase(std::min(name.find_first_of(",\n"), name.size()));
  if (name.rfind("Open MPI v", 0) == 0) name.erase(9, 1);
  return name;
}

}  // namespace perrin
