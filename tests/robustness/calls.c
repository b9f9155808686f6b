// A library to be preloaded: logs every call that changes a file below the folder CALLS_UNDER, with
// its data, to CALLS_LOG, for power.py. A record: its length behind this number (uint32), kind
// (char), lengths of two names (uint32 each), place in the file, inode, length of the data (int64
// each), the names, the data. Kinds: Create, Write, Truncate, Sync, sync of a folDer, Rename, Link,
// Unlink.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static const char* under;
static int out = -1;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

#define REAL(result, name, ...)       \
  static result (*real)(__VA_ARGS__); \
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void begin(void) {
  const char* name = getenv("CALLS_LOG");
  under = getenv("CALLS_UNDER");
  int (*real)(const char*, int, ...) = 0;
  *(void**)&real = dlsym(RTLD_NEXT, "open");
  if (name && under) out = real(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

static int is_under(const char* path) { return out >= 0 && strstr(path, under) == path; }

static const char* absolute(const char* path, char* room) {
  if (path[0] == '/' || !getcwd(room, PATH_MAX)) room[0] = 0;
  const size_t n = strlen(room);
  if (snprintf(room + n, PATH_MAX - n, "%s%s", n ? "/" : "", path) < 0) abort();
  return room;
}

/// The name that an open file had; NULL: not one of ours.
static const char* name_of(int fd, char* room) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = out < 0 || fd == out ? -1 : readlink(link, room, PATH_MAX - 1);
  if (n < 0) return NULL;
  room[n] = 0;
  return is_under(room) ? room : NULL;
}

static void record(char kind, const char* a, const char* b, int64_t at, int64_t inode,
                   const void* data, int64_t n) {
  ssize_t (*real)(int, const void*, size_t) = 0;
  *(void**)&real = dlsym(RTLD_NEXT, "write");
  const uint32_t la = (uint32_t)strlen(a), lb = b ? (uint32_t)strlen(b) : 0;
  const int64_t numbers[3] = {at, inode, n};
  const uint32_t total = (uint32_t)(33 + la + lb + n);
  char* bytes = malloc(total + 4);
  char* to = bytes;
#define PUT(from, size) memcpy(to, from, size), to += size
  PUT(&total, 4), PUT(&kind, 1), PUT(&la, 4), PUT(&lb, 4), PUT(numbers, 24), PUT(a, la);
  if (lb) PUT(b, lb);
  if (n) PUT(data, (size_t)n);
  pthread_mutex_lock(&mutex);
  if (real(out, bytes, total + 4) != (ssize_t)total + 4) abort();
  pthread_mutex_unlock(&mutex);
  free(bytes);
}

static void record_fd(char kind, int fd, int64_t at, const void* data, int64_t n) {
  char room[PATH_MAX];
  struct stat status;
  const char* name = name_of(fd, room);
  if (!name || fstat(fd, &status) != 0) return;
  if (kind == 'S' && S_ISDIR(status.st_mode)) kind = 'D';
  record(kind, name, NULL, at, (int64_t)status.st_ino, data, n);
}

#define PWRITE(name)                                           \
  ssize_t name(int fd, const void* data, size_t n, off_t at) { \
    REAL(ssize_t, name, int, const void*, size_t, off_t);      \
    const ssize_t done = real(fd, data, n, at);                \
    if (done > 0) record_fd('W', fd, at, data, done);          \
    return done;                                               \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

ssize_t write(int fd, const void* data, size_t n) {
  REAL(ssize_t, write, int, const void*, size_t);
  const off_t at = fd > 2 ? lseek(fd, 0, SEEK_CUR) : 0;
  const ssize_t done = real(fd, data, n);
  if (done > 0 && fd > 2) record_fd('W', fd, at, data, done);
  return done;
}

#define TRUNCATE(name)                                  \
  int name(int fd, off_t size) {                        \
    REAL(int, name, int, off_t);                        \
    const int status = real(fd, size);                  \
    if (status == 0) record_fd('T', fd, size, NULL, 0); \
    return status;                                      \
  }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

#define SYNC(name)                                   \
  int name(int fd) {                                 \
    REAL(int, name, int);                            \
    const int status = real(fd);                     \
    if (status == 0) record_fd('S', fd, 0, NULL, 0); \
    return status;                                   \
  }
SYNC(fsync)
SYNC(fdatasync)

static int named(char kind, int status, const char* a, const char* b) {
  char first[PATH_MAX], second[PATH_MAX];
  absolute(a, first);
  if (b) absolute(b, second);
  if (status == 0 && is_under(first)) record(kind, first, b ? second : NULL, 0, 0, NULL, 0);
  return status;
}

int rename(const char* a, const char* b) {
  REAL(int, rename, const char*, const char*);
  return named('R', real(a, b), a, b);
}
int renameat2(int x, const char* a, int y, const char* b, unsigned flags) {
  REAL(int, renameat2, int, const char*, int, const char*, unsigned);
  return named('R', real(x, a, y, b, flags), a, b);
}
int link(const char* a, const char* b) {
  REAL(int, link, const char*, const char*);
  return named('L', real(a, b), a, b);
}
int unlink(const char* a) {
  REAL(int, unlink, const char*);
  return named('U', real(a), a, NULL);
}

static int created(const char* path, int there, int fd) {
  char room[PATH_MAX];
  struct stat status;
  if (fd >= 0 && !there && is_under(absolute(path, room)) && fstat(fd, &status) == 0)
    record('C', room, NULL, 0, (int64_t)status.st_ino, NULL, 0);
  return fd;
}

#define OPEN(name)                                        \
  int name(const char* path, int flags, ...) {            \
    REAL(int, name, const char*, int, ...);               \
    va_list more;                                         \
    va_start(more, flags);                                \
    const mode_t mode = va_arg(more, mode_t);             \
    va_end(more);                                         \
    struct stat status;                                   \
    const int there = stat(path, &status) == 0;           \
    return created(path, there, real(path, flags, mode)); \
  }
OPEN(open)
OPEN(open64)

#define FOPEN(name)                                \
  FILE* name(const char* path, const char* mode) { \
    REAL(FILE*, name, const char*, const char*);   \
    struct stat status;                            \
    const int there = stat(path, &status) == 0;    \
    FILE* file = real(path, mode);                 \
    if (file) created(path, there, fileno(file));  \
    return file;                                   \
  }
FOPEN(fopen)
FOPEN(fopen64)
