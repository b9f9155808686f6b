// A library to be preloaded: makes the n-th call of one kind fail, as a bad disk or a full one
// would.
//
//   FAULT_CALL    write, sync, truncate, rename, link, unlink, open, close, read, memory or
//                 hdf5_memory
//   FAULT_AT      which call of that kind fails, from 1; 0: none
//   FAULT_STICKY  set: all later ones, too
//   FAULT_SHORT   set: a write does half of its bytes and reports that, which is no failure
//   FAULT_ERRNO   what the call reports (5: EIO)
//   FAULT_BYTES   smallest allocation that counts (65536): memory counts those of everybody but the
//                 HDF5 library, hdf5_memory those of HDF5
//   FAULT_COUNT   file that is told, at the end, how many calls there were
//
// Files are those beyond standard error; opened ones count if their name has ".h5" or ".perrin" in
// it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static const char* call = "";
static long at;
static int sticky, half, error;
static size_t least;
static atomic_long calls;
static atomic_int ready;

static void set_up(void) {
  if (ready) return;
  const char* text = getenv("FAULT_CALL");
  call = text ? text : "";
  text = getenv("FAULT_AT");
  at = text ? atol(text) : 0;
  text = getenv("FAULT_ERRNO");
  error = text ? atoi(text) : EIO;
  text = getenv("FAULT_BYTES");
  least = text ? (size_t)atol(text) : 65536;
  sticky = getenv("FAULT_STICKY") != NULL;
  half = getenv("FAULT_SHORT") != NULL;
  ready = 1;
}

static int fails(const char* kind) {
  set_up();
  if (strcmp(kind, call) != 0) return 0;
  const long n = ++calls;
  if (at == 0 || n < at || (n > at && !sticky)) return 0;
  errno = error;
  return 1;
}

__attribute__((destructor)) static void report(void) {
  const char* name = getenv("FAULT_COUNT");
  at = 0;
  FILE* out = name ? fopen(name, "w") : NULL;
  if (!out) return;
  fprintf(out, "%ld\n", (long)calls);
  fclose(out);
}

#define REAL(result, name, ...)            \
  static result (*real)(__VA_ARGS__);      \
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, name)

#define PWRITE(name)                                                                       \
  ssize_t name(int fd, const void* data, size_t n, off_t offset) {                         \
    REAL(ssize_t, #name, int, const void*, size_t, off_t);                                 \
    if (!fails("write")) return real(fd, data, n, offset);                                 \
    return half && n > 1 ? real(fd, data, n / 2, offset) : -1;                             \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

ssize_t write(int fd, const void* data, size_t n) {
  REAL(ssize_t, "write", int, const void*, size_t);
  if (fd > 2 && fails("write")) return half && n > 1 ? real(fd, data, n / 2) : -1;
  return real(fd, data, n);
}

#define PREAD(name)                                                        \
  ssize_t name(int fd, void* data, size_t n, off_t offset) {               \
    REAL(ssize_t, #name, int, void*, size_t, off_t);                       \
    return fails("read") ? -1 : real(fd, data, n, offset);                 \
  }
PREAD(pread)
PREAD(pread64)

#define TRUNCATE(name)                                        \
  int name(int fd, off_t size) {                              \
    REAL(int, #name, int, off_t);                             \
    return fails("truncate") ? -1 : real(fd, size);           \
  }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

#define SYNC(name)                             \
  int name(int fd) {                           \
    REAL(int, #name, int);                     \
    return fails("sync") ? -1 : real(fd);      \
  }
SYNC(fsync)
SYNC(fdatasync)

int rename(const char* from, const char* to) {
  REAL(int, "rename", const char*, const char*);
  return fails("rename") ? -1 : real(from, to);
}
int renameat2(int a, const char* from, int b, const char* to, unsigned flags) {
  REAL(int, "renameat2", int, const char*, int, const char*, unsigned);
  return fails("rename") ? -1 : real(a, from, b, to, flags);
}
int link(const char* from, const char* to) {
  REAL(int, "link", const char*, const char*);
  return fails("link") ? -1 : real(from, to);
}
int unlink(const char* path) {
  REAL(int, "unlink", const char*);
  return fails("unlink") ? -1 : real(path);
}
int close(int fd) {
  REAL(int, "close", int);
  if (fd <= 2 || !fails("close")) return real(fd);
  real(fd);
  errno = error;
  return -1;
}

static int counts(const char* path) { return strstr(path, ".h5") || strstr(path, ".perrin"); }
#define OPEN(name)                                             \
  int name(const char* path, int flags, ...) {                 \
    REAL(int, #name, const char*, int, ...);                   \
    va_list rest;                                              \
    va_start(rest, flags);                                     \
    const mode_t mode = va_arg(rest, mode_t);                  \
    va_end(rest);                                              \
    if (counts(path) && fails("open")) return -1;              \
    return real(path, flags, mode);                            \
  }
OPEN(open)
OPEN(open64)

// The C library's own, under names that need no search (dlsym allocates).
extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static int no_memory(size_t n, void* caller) {
  set_up();
  if (n < least || !strstr(call, "memory")) return 0;
  Dl_info library;
  const int of_hdf5 =
      dladdr(caller, &library) && library.dli_fname && strstr(library.dli_fname, "libhdf5");
  if (!fails(of_hdf5 ? "hdf5_memory" : "memory")) return 0;
  errno = ENOMEM;
  return 1;
}
#define NO_MEMORY(n) no_memory(n, __builtin_return_address(0))
void* malloc(size_t n) { return NO_MEMORY(n) ? NULL : __libc_malloc(n); }
void* calloc(size_t n, size_t size) {
  return NO_MEMORY(n * size) ? NULL : __libc_calloc(n, size);
}
void* realloc(void* old, size_t n) { return NO_MEMORY(n) ? NULL : __libc_realloc(old, n); }
void* memalign(size_t to, size_t n) { return NO_MEMORY(n) ? NULL : __libc_memalign(to, n); }
void* aligned_alloc(size_t to, size_t n) { return NO_MEMORY(n) ? NULL : __libc_memalign(to, n); }
int posix_memalign(void** out, size_t to, size_t n) {
  if (NO_MEMORY(n)) return ENOMEM;
  *out = __libc_memalign(to, n);
  return *out ? 0 : ENOMEM;
}
