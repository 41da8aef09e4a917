/* Preloaded into unshuffle by scripts/reliability.py: the FAIL_AT-th call that changes a file below FAIL_BELOW fails as on a full disk.
   The number of such calls is written to FAIL_COUNT at the end. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long num_calls;

static int is_below(const char *path) {
    const char *folder = getenv("FAIL_BELOW");
    return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

static int fails(void) {
    const char *at = getenv("FAIL_AT");
    return atomic_fetch_add(&num_calls, 1) + 1 == (at ? atol(at) : -1);
}

static int is_file_below(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_below(path);
}

ssize_t write(int fd, const void *bytes, size_t size) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = dlsym(RTLD_NEXT, "write");
    if (fd > 2 && is_file_below(fd) && fails()) { errno = ENOSPC; return -1; }
    return real(fd, bytes, size);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    static ssize_t (*real)(int, const struct iovec *, int);
    if (!real) real = dlsym(RTLD_NEXT, "writev");
    if (fd > 2 && is_file_below(fd) && fails()) { errno = ENOSPC; return -1; }
    return real(fd, parts, count);
}

static int opens(const char *name, const char *path, int flags, mode_t mode) {
    int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, name);
    if ((flags & (O_CREAT | O_TRUNC)) && is_below(path) && fails()) { errno = ENOSPC; return -1; }
    return real(path, flags, mode);
}

int open(const char *path, int flags, ...) {
    va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest);
    return opens("open", path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest);
    return opens("open64", path, flags, mode);
}

int rename(const char *from, const char *to) {
    static int (*real)(const char *, const char *);
    if (!real) real = dlsym(RTLD_NEXT, "rename");
    if (is_below(to) && fails()) { errno = ENOSPC; return -1; }
    return real(from, to);
}

__attribute__((destructor)) static void tell(void) {
    const char *path = getenv("FAIL_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) { fprintf(file, "%ld\n", atomic_load(&num_calls)); fclose(file); }
}
