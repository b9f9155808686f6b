#include "io/hdf5_driver.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace perrin::io {
namespace {

constexpr std::size_t superblock_size = 48;  // versions 2 and 3 with 8-byte addresses
constexpr std::size_t flags_at = 11, end_at = 28, checksum_at = 44;
constexpr haddr_t smallest_growth = 1 << 20, largest_growth = 1 << 28;

constexpr int locked_elsewhere = -1, not_regular = -2;
thread_local int last_error = 0;  // an errno, or one of these

/// HDF5's checksum of metadata: Bob Jenkins' lookup3 (2006, public domain) over bytes, seed 0.
std::uint32_t lookup3(const unsigned char* bytes, std::size_t n) {
  const auto word = [&](std::size_t at, std::size_t available) {
    std::uint32_t value = 0;
    for (std::size_t k = 0; k < std::min<std::size_t>(4, available); ++k)
      value |= std::uint32_t(bytes[at + k]) << (8 * k);
    return value;
  };
  const auto left = [&](std::size_t at) { return at < n ? n - at : 0; };
  std::uint32_t a = 0xdeadbeef + std::uint32_t(n), b = a, c = a;
  std::size_t at = 0;
  for (; n - at > 12; at += 12) {
    a += word(at, 4), b += word(at + 4, 4), c += word(at + 8, 4);
    a -= c, a ^= std::rotl(c, 4), c += b;
    b -= a, b ^= std::rotl(a, 6), a += c;
    c -= b, c ^= std::rotl(b, 8), b += a;
    a -= c, a ^= std::rotl(c, 16), c += b;
    b -= a, b ^= std::rotl(a, 19), a += c;
    c -= b, c ^= std::rotl(b, 4), b += a;
  }
  if (at == n) return c;
  a += word(at, left(at)), b += word(at + 4, left(at + 4)), c += word(at + 8, left(at + 8));
  c ^= b, c -= std::rotl(b, 14);
  a ^= c, a -= std::rotl(c, 11);
  b ^= a, b -= std::rotl(a, 25);
  c ^= b, c -= std::rotl(b, 16);
  a ^= c, a -= std::rotl(c, 4);
  b ^= a, b -= std::rotl(a, 14);
  c ^= b, c -= std::rotl(b, 24);
  return c;
}

template <class T>
void store(unsigned char* at, T value) {  // little endian, as HDF5 has it
  for (std::size_t k = 0; k < sizeof(T); ++k) at[k] = static_cast<unsigned char>(value >> (8 * k));
}

struct DriverInfo {
  bool gather;
};

struct SteadyFile : H5FD_t {
  std::shared_ptr<SteadyState> state;
  int descriptor = -1;
  bool writing = false, gather = false, created = false, have_superblock = false;
  haddr_t allocated = 0, size = 0, published = 0;
  std::array<unsigned char, superblock_size> superblock{};
};

SteadyFile& of(H5FD_t* file) { return static_cast<SteadyFile&>(*file); }
const SteadyFile& of(const H5FD_t* file) { return static_cast<const SteadyFile&>(*file); }

herr_t fail(SteadyFile& file) {
  last_error = errno;
  if (file.state->error == 0) file.state->error = errno;
  return -1;
}

/// What the file has there; zeros beyond its end, as HDF5's own driver has it.
herr_t read_all(const SteadyFile& file, haddr_t at, std::size_t n, unsigned char* bytes) {
  while (n > 0) {
    const ssize_t done = ::pread(file.descriptor, bytes, n, static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      last_error = errno;
      return -1;
    }
    if (done == 0) {
      std::memset(bytes, 0, n);
      return 0;
    }
    bytes += done, at += haddr_t(done), n -= std::size_t(done);
  }
  return 0;
}

/// Calls f(page number, first byte within it, bytes, bytes before) for each page of a range.
template <class F>
herr_t for_each_page(haddr_t at, std::size_t n, F&& f) {
  constexpr std::size_t page = FileChanges::page;
  for (std::size_t done = 0; done < n;) {
    const std::size_t first = (at + done) % page, size = std::min(page - first, n - done);
    if (f((at + done) / page, first, size, done) < 0) return -1;
    done += size;
  }
  return 0;
}

herr_t gather(SteadyFile& file, haddr_t at, std::size_t n, const unsigned char* bytes) {
  auto& pages = file.state->changes.pages;
  const auto put = [&](std::uint64_t number, std::size_t first, std::size_t size,
                       std::size_t done) {
    auto it = pages.find(number);
    if (it == pages.end()) {
      it = pages.emplace(number, std::array<unsigned char, FileChanges::page>()).first;
      if (read_all(file, number * FileChanges::page, FileChanges::page, it->second.data()) < 0) {
        pages.erase(it);
        return fail(file);
      }
    }
    std::memcpy(it->second.data() + first, bytes + done, size);
    return herr_t(0);
  };
  try {
    return for_each_page(at, n, put);
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
    return fail(file);
  }
}

herr_t write_all(SteadyFile& file, haddr_t at, std::size_t n, const unsigned char* bytes) {
  if (file.gather) {
    file.size = std::max<haddr_t>(file.size, at + n);
    return gather(file, at, n, bytes);
  }
  while (n > 0) {
    const ssize_t done = ::pwrite(file.descriptor, bytes, n, static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done == 0) errno = EIO;
    if (done <= 0) return fail(file);
    bytes += done, at += haddr_t(done), n -= std::size_t(done);
  }
  file.size = std::max(file.size, at);
  return 0;
}

/// On to the disk, the size included.
herr_t sync(SteadyFile& file) {
  while (::fdatasync(file.descriptor) != 0)
    if (errno != EINTR) return fail(file);
  return 0;
}

herr_t set_size(SteadyFile& file, haddr_t size) {
  while (!file.gather && ::ftruncate(file.descriptor, static_cast<off_t>(size)) != 0)
    if (errno != EINTR) return fail(file);
  file.size = size;
  return 0;
}

herr_t publish(SteadyFile& file, haddr_t end) {
  std::array<unsigned char, superblock_size> block = file.superblock;
  block[flags_at] = 0;
  store<std::uint64_t>(block.data() + end_at, end);
  store<std::uint32_t>(block.data() + checksum_at, lookup3(block.data(), checksum_at));
  if (write_all(file, 0, superblock_size, block.data()) < 0) return -1;
  file.published = end;
  return 0;
}

/// Makes the published end of the file lie at or beyond `end`, before anything is written there.
/// The disk has the new size before anything refers to what lies beyond the old one: losing power
/// must not leave a block that refers beyond the end of the file (mend_end()). A new file needs no
/// such care: it gets its name when all of it is on the disk.
herr_t cover(SteadyFile& file, haddr_t end) {
  if (!file.have_superblock || end <= file.published) return 0;
  end += std::clamp(end / 16, smallest_growth, largest_growth);
  if (end > file.size) {
    if (set_size(file, end) < 0) return -1;
    if (!file.gather && !file.created && sync(file) < 0) return -1;
  }
  return publish(file, end);
}

std::uint64_t load(const unsigned char* at) {
  std::uint64_t value = 0;
  for (std::size_t k = 0; k < 8; ++k) value |= std::uint64_t(at[k]) << (8 * k);
  return value;
}

/// Where power was lost, the end that a file's superblock records and its size may be of different
/// moments, and blocks that were written later may lie beyond either: the larger of both is the
/// end. Continuing the file cuts off what is not referred to.
herr_t mend_end(SteadyFile& file) {
  constexpr std::array<unsigned char, 8> signature{0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  std::array<unsigned char, superblock_size> block{};
  if (file.size < superblock_size) return 0;
  if (read_all(file, 0, superblock_size, block.data()) < 0) return -1;
  std::array<unsigned char, 4> sum{};
  store<std::uint32_t>(sum.data(), lookup3(block.data(), checksum_at));
  if (!std::equal(signature.begin(), signature.end(), block.begin()) || block[8] < 2 ||
      !std::equal(sum.begin(), sum.end(), block.begin() + checksum_at))
    return 0;  // HDF5 says what is wrong with it
  const haddr_t recorded = load(block.data() + end_at);
  constexpr haddr_t page = FileChanges::page, most = haddr_t(1) << 62;
  if (recorded == file.size || recorded > most) return 0;
  const haddr_t end = (std::max(recorded, file.size) + page - 1) / page * page;
  if (end > file.size && set_size(file, end) < 0) return -1;
  file.superblock = block;
  return recorded == end ? 0 : publish(file, end);
}

H5FD_t* open_file(const char* name, unsigned flags, hid_t access, haddr_t) {
  int mode = (flags & H5F_ACC_RDWR) ? O_RDWR : O_RDONLY;
  if (flags & H5F_ACC_TRUNC) mode |= O_TRUNC;
  if (flags & H5F_ACC_CREAT) mode |= O_CREAT;
  if (flags & H5F_ACC_EXCL) mode |= O_EXCL;
  // HDF5 is C: no exception may pass through it.
  std::unique_ptr<SteadyFile> file(new (std::nothrow) SteadyFile);
  try {
    if (file) file->state = std::make_shared<SteadyState>();
  } catch (const std::bad_alloc&) {
    file.reset();
  }
  last_error = ENOMEM;
  if (!file) return nullptr;
  // A pipe must not keep us waiting, and nothing is written through a symbolic link.
  mode |= O_CLOEXEC | O_NONBLOCK | (flags & H5F_ACC_RDWR ? O_NOFOLLOW : 0);
  const int descriptor = ::open(name, mode, 0666);
  struct stat status {};
  if (descriptor < 0 || ::fstat(descriptor, &status) != 0) {
    last_error = errno;
    if (descriptor >= 0) ::close(descriptor);
    return nullptr;
  }
  if (!S_ISREG(status.st_mode)) {
    last_error = not_regular;
    ::close(descriptor);
    return nullptr;
  }
  const bool writing = flags & H5F_ACC_RDWR;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  // File systems without locks are no reason to refuse the file.
  if (writing && ::fcntl(descriptor, F_OFD_SETLK, &lock) != 0 &&
      (errno == EAGAIN || errno == EACCES)) {
    last_error = locked_elsewhere;
    ::close(descriptor);
    return nullptr;
  }
  last_error = 0;
  file->descriptor = descriptor;
  file->writing = writing;
  const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access));
  file->gather = writing && info != nullptr && info->gather;
  file->size = haddr_t(status.st_size);
  file->state->device = status.st_dev;
  file->state->inode = status.st_ino;
  file->created = flags & H5F_ACC_CREAT;
  if (writing && !file->created && mend_end(*file) < 0) {
    ::close(descriptor);
    return nullptr;
  }
  return file.release();
}

herr_t close_file(H5FD_t* base) {
  const std::unique_ptr<SteadyFile> file(&of(base));
  if (file->writing && file->state->error == 0 && file->have_superblock) {
    // First the address, then the size: the file is never shorter than it says, on the disk
    // neither.
    const bool needs_sync = !file->created && !file->gather && file->size > file->allocated;
    if (publish(*file, file->allocated) >= 0 && (!needs_sync || sync(*file) >= 0))
      set_size(*file, file->allocated);
  }
  file->state->changes.size = file->size;
  // Interrupted, it is closed all the same.
  if (::close(file->descriptor) != 0 && errno != EINTR) fail(*file);
  file->state->open = false;
  return file->state->error == 0 ? 0 : -1;
}

int compare_files(const H5FD_t* a, const H5FD_t* b) {
  const SteadyState &first = *of(a).state, &second = *of(b).state;
  if (first.device != second.device) return first.device < second.device ? -1 : 1;
  return first.inode < second.inode ? -1 : first.inode > second.inode;
}

herr_t query(const H5FD_t*, unsigned long* flags) {
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA |
           H5FD_FEAT_SUPPORTS_SWMR_IO | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t get_end_of_allocation(const H5FD_t* file, H5FD_mem_t) { return of(file).allocated; }
herr_t set_end_of_allocation(H5FD_t* file, H5FD_mem_t, haddr_t end) {
  of(file).allocated = end;
  return 0;
}
haddr_t get_end_of_file(const H5FD_t* file, H5FD_mem_t) { return of(file).size; }
herr_t get_handle(H5FD_t* file, hid_t, void** handle) {
  *handle = &of(file);
  return 0;
}

herr_t read(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t at, std::size_t n, void* buffer) {
  const SteadyFile& file = of(base);
  auto* bytes = static_cast<unsigned char*>(buffer);
  if (read_all(file, at, n, bytes) < 0) return -1;
  const auto& pages = file.state->changes.pages;
  if (pages.empty()) return 0;
  return for_each_page(
      at, n, [&](std::uint64_t number, std::size_t first, std::size_t size, std::size_t done) {
        if (const auto it = pages.find(number); it != pages.end())
          std::memcpy(bytes + done, it->second.data() + first, size);
        return herr_t(0);
      });
}

herr_t write(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t at, std::size_t n, const void* buffer) {
  SteadyFile& file = of(base);
  if (file.state->error != 0) return 0;
  const auto* bytes = static_cast<const unsigned char*>(buffer);
  if (at == 0 && n >= superblock_size && bytes[8] >= 2) {
    std::memcpy(file.superblock.data(), bytes, superblock_size);
    file.have_superblock = true;
    if (n > superblock_size &&
        write_all(file, superblock_size, n - superblock_size, bytes + superblock_size) < 0)
      return -1;
    if (file.published == 0) return cover(file, std::max(file.size, file.allocated));
    return publish(file, file.published);
  }
  if (cover(file, at + n) < 0) return -1;
  return write_all(file, at, n, bytes);
}

herr_t keep_size(H5FD_t*, hid_t, hbool_t) { return 0; }  // close_file sets it

/// Who reads notices a program that writes the file with a lock of HDF5's own kind. Whoever writes
/// has locked it already (open_file). File systems without locks are no reason to refuse the file.
herr_t lock(H5FD_t* base, hbool_t for_writing) {
  const SteadyFile& file = of(base);
  if (for_writing || file.writing) return 0;
  if (::flock(file.descriptor, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return 0;
  last_error = locked_elsewhere;
  return -1;
}
herr_t no_unlock(H5FD_t*) { return 0; }

H5FD_class_t make_class() {
  H5FD_class_t c{};
#if H5_VERSION_GE(1, 13, 2)
  c.version = H5FD_CLASS_VERSION;
  c.value = H5FD_class_value_t(390);  // of the range for local experiments
#endif
  c.name = "perrin_steady";
  c.maxaddr = (haddr_t(1) << 62) - 1;
  c.fc_degree = H5F_CLOSE_WEAK;
  c.fapl_size = sizeof(DriverInfo);
  c.open = open_file;
  c.close = close_file;
  c.cmp = compare_files;
  c.query = query;
  c.get_eoa = get_end_of_allocation;
  c.set_eoa = set_end_of_allocation;
  c.get_eof = get_end_of_file;
  c.get_handle = get_handle;
  c.read = read;
  c.write = write;
  c.truncate = keep_size;
  c.lock = lock;
  c.unlock = no_unlock;
  const H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(map), std::end(map), c.fl_map);
  return c;
}

/// Registered once; every thread that opens files is the writer's (io/writer.h).
hid_t steady_driver() {
  static const H5FD_class_t description = make_class();
  static const hid_t driver = H5FDregister(&description);
  return driver;
}

SteadyFile* steady_file(hid_t file) {
  const hid_t access = H5Fget_access_plist(file);
  const bool ours = access >= 0 && H5Pget_driver(access) == steady_driver();
  if (access >= 0) H5Pclose(access);
  void* handle = nullptr;
  if (!ours || H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0) return nullptr;
  return static_cast<SteadyFile*>(handle);
}

}  // namespace

herr_t set_steady_driver(hid_t access, bool gather) {
  const DriverInfo info{gather};
  return steady_driver() < 0 ? -1 : H5Pset_driver(access, steady_driver(), &info);
}

std::shared_ptr<const SteadyState> steady_state(hid_t file) {
  const SteadyFile* it = steady_file(file);
  return it == nullptr ? nullptr : it->state;
}

void sync_steady_file(hid_t file) {
  SteadyFile* it = steady_file(file);
  if (it != nullptr) (void)sync(*it);
}

std::string take_driver_error() {
  const int error = std::exchange(last_error, 0);
  if (error == locked_elsewhere) return "another process is writing this file";
  if (error == not_regular) return "it is not a regular file";
  if (error == ELOOP) return "it is a symbolic link, which is never followed for writing";
  return error == 0 ? "" : std::strerror(error);
}

}  // namespace perrin::io
