#!/usr/bin/env python3
"""Makes a folder to link with, so that the result runs on Linux systems older than this one.

    old_glibc.py FOLDER

A program that is linked on Debian 12 asks for the newest symbol versions of glibc 2.36 and of GCC
12's libstdc++, and does not start on a system that has older ones. What is in FOLDER takes the
place of libc.so, libm.so and libstdc++.so when `-LFOLDER` is given to the linker:

- shared libraries without code that list the same symbols, each with the newest version that
  manylinux_2_28 has (glibc 2.28, GLIBCXX_3.4.25, CXXABI_1.3.11); the real ones take their place
  at run time, and still hold these versions;
- a small archive with what glibc 2.28 does not have but headers of glibc 2.36 ask for;
- after libstdc++, its archive: what the old libstdc++ lacks (std::filesystem, from_chars) comes
  out of it, as in the gcc-toolset of Red Hat. Link with
  `-Wl,--exclude-libs,libstdc++.a:libolder.a`, so that no library exports it.

Headers stay those of this system. `auditwheel show` says whether the result holds.
"""
import pathlib
import re
import subprocess
import sys

LIMITS = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 25), "CXXABI": (1, 3, 11), "GCC": (7,)}

OLDER = r"""
/* What glibc 2.28 lacks of what is compiled with the headers of a newer one. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <time.h>
#define LOCAL __attribute__((visibility("hidden")))

/* glibc 2.32: whether std::shared_ptr may count without atomic operations. It may not. */
LOCAL char __libc_single_threaded = 0;

/* glibc 2.33; before, stat() was in libc_nonshared.a and called these. */
struct stat;
extern int __xstat(int, const char*, struct stat*);
extern int __fxstat(int, int, struct stat*);
extern int __lxstat(int, const char*, struct stat*);
LOCAL int stat(const char* path, struct stat* s) { return __xstat(1, path, s); }
LOCAL int fstat(int file, struct stat* s) { return __fxstat(1, file, s); }
LOCAL int lstat(const char* path, struct stat* s) { return __lxstat(1, path, s); }
LOCAL int stat64(const char* path, struct stat* s) { return __xstat(1, path, s); }
LOCAL int fstat64(int file, struct stat* s) { return __fxstat(1, file, s); }
LOCAL int lstat64(const char* path, struct stat* s) { return __lxstat(1, path, s); }

/* glibc 2.30: std::condition_variable::wait_until() of a steady clock. */
LOCAL int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                 const struct timespec* until) {
  struct timespec now, real;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &real);
  real.tv_sec += until->tv_sec - now.tv_sec;
  real.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (real.tv_nsec < 0) real.tv_nsec += 1000000000, --real.tv_sec;
  if (real.tv_nsec >= 1000000000) real.tv_nsec -= 1000000000, ++real.tv_sec;
  return pthread_cond_timedwait(condition, mutex, &real);
}

"""
START = r"""
/* For programs alone: crt1.o of glibc 2.34 leaves the constructors of a program to
   __libc_start_main(), which the one of 2.28 expects to be given. */
#define LOCAL __attribute__((visibility("hidden")))
typedef void (*function)(int, char**, char**);
extern function __preinit_array_start[] LOCAL, __preinit_array_end[] LOCAL;
extern function __init_array_start[] LOCAL, __init_array_end[] LOCAL;
extern void _init(void);
static int construct(int argc, char** argv, char** environment) {
  for (function* f = __preinit_array_start; f != __preinit_array_end; ++f)
    (*f)(argc, argv, environment);
  _init();
  for (function* f = __init_array_start; f != __init_array_end; ++f) (*f)(argc, argv, environment);
  return 0;
}
typedef int (*start)(int, char**, char**);
extern int perrin_libc_start_main(start, int, char**, start, void (*)(void), void (*)(void), void*);
__asm__(".symver perrin_libc_start_main, __libc_start_main@GLIBC_2.2.5");
LOCAL int __libc_start_main(start main, int argc, char** argv, start init, void (*fini)(void),
                            void (*rtld_fini)(void), void* stack) {
  return perrin_libc_start_main(main, argc, argv, init ? init : construct, fini, rtld_fini, stack);
}
"""


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def symbols(library):
    """{name: (version, kind, size)}: the newest version within LIMITS of what a library has."""
    newest = {}
    for line in run("readelf", "-W", "--dyn-syms", library).splitlines():
        words = line.split()
        if len(words) < 8 or words[6] in ("UND", "ABS") or "@" not in words[7]:
            continue
        name, version = re.split("@+", words[7])
        match = re.fullmatch(r"(GLIBC|GLIBCXX|CXXABI|GCC)_([0-9.]+)", version)
        if not match or words[3] not in ("FUNC", "IFUNC", "OBJECT"):
            continue
        numbers = tuple(int(n) for n in match[2].split("."))
        if numbers <= LIMITS[match[1]] and (name not in newest or newest[name][0] < numbers):
            newest[name] = numbers, version, words[3], int(words[2], 0)
    return {name: entry[1:] for name, entry in newest.items()}


def stand_in(folder, library):
    """The library without code."""
    name = pathlib.Path(library).name
    text, versions = [], {}
    for symbol, (version, kind, size) in sorted(symbols(library).items()):
        versions.setdefault(version, []).append(symbol)
        section, code = (".data", f".zero {max(size, 1)}") if kind == "OBJECT" else (".text", "ret")
        text.append(f"{section}\n.globl {symbol}\n.type {symbol},@"
                    f"{'object' if kind == 'OBJECT' else 'function'}\n"
                    f".size {symbol},{size or 1}\n.balign 32\n{symbol}: {code}")
    (folder / f"{name}.s").write_text("\n".join(text) + '\n.section .note.GNU-stack,"",@progbits\n')
    script = "".join(f"{version} {{ global: {' '.join(f'{n};' for n in names)} }};\n"
                     for version, names in versions.items())
    (folder / f"{name}.map").write_text(script)
    run("gcc", "-shared", "-nostdlib", f"-Wl,-soname,{name}",
        f"-Wl,--version-script,{folder}/{name}.map", "-o", str(folder / name),
        str(folder / f"{name}.s"))


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    found = {name: run("g++", f"-print-file-name={name}")
             for name in ("libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6",
                          "libpthread.so.0", "libdl.so.2", "libc_nonshared.a", "libgcc.a",
                          "libstdc++.a", "ld-linux-x86-64.so.2")}
    found = {name: str(pathlib.Path(path).absolute()) for name, path in found.items()}
    for name, text in (("older", OLDER), ("start", START)):
        (folder / f"{name}.c").write_text(text)
        run("gcc", "-O2", "-fPIC", "-c", "-o", f"{folder}/{name}.o", f"{folder}/{name}.c")
    run("ar", "rcs", f"{folder}/libolder.a", f"{folder}/older.o", f"{folder}/start.o")
    for name in ("libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6"):
        stand_in(folder, found[name])
    # Threads and dlopen() were in libraries of their own before 2.34, which are still there.
    (folder / "libc.so").write_text(
        f"GROUP({folder}/libolder.a {folder}/libc.so.6 {found['libc_nonshared.a']} "
        f"{found['libpthread.so.0']} {found['libdl.so.2']} "
        f"AS_NEEDED({found['ld-linux-x86-64.so.2']}))\n")
    (folder / "libm.so").write_text(f"GROUP({folder}/libm.so.6)\n")
    (folder / "libgcc_s.so").write_text(
        f"GROUP({folder}/libgcc_s.so.1 {found['libgcc.a']})\n")
    (folder / "libstdc++.so").write_text(
        f"GROUP({folder}/libstdc++.so.6 {found['libstdc++.a']})\n")
    print(folder)


if __name__ == "__main__":
    main()
