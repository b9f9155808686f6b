// A library to be preloaded: a file system without locks. All calls that lock fail with the error
// LOCK_ERRNO, a number.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>

static int refuse(void) {
  const char* text = getenv("LOCK_ERRNO");
  errno = text ? atoi(text) : ENOLCK;
  return -1;
}

static int locks(int command) {
  return command == F_OFD_SETLK || command == F_OFD_SETLKW || command == F_OFD_GETLK ||
         command == F_SETLK || command == F_SETLKW || command == F_GETLK;
}

#define FCNTL(name)                                                 \
  int name(int fd, int command, ...) {                              \
    static int (*real)(int, int, ...);                              \
    if (!real) *(void**)&real = dlsym(RTLD_NEXT, #name);            \
    va_list more;                                                   \
    va_start(more, command);                                        \
    void* argument = va_arg(more, void*);                           \
    va_end(more);                                                   \
    return locks(command) ? refuse() : real(fd, command, argument); \
  }
FCNTL(fcntl)
FCNTL(fcntl64)

int flock(int fd, int operation) {
  (void)fd, (void)operation;
  return refuse();
}
