/* Makes one call of the C library fail, on purpose: loaded before a program by LD_PRELOAD.
 *
 *   PNMF_FAIL_CALL     open, write, pwrite, fsync, close, rename, ftruncate, copy, thread or memory; or disk: all
 *                      of the first seven, counted together
 *   PNMF_FAIL_AT       the number of the call that fails, from 1; 0 counts and lets all pass
 *   PNMF_FAIL_LASTING  1: that call and all later ones fail
 *   PNMF_FAIL_ERROR    the error it gives, a number of errno.h
 *   PNMF_FAIL_UNDER    only calls about files in this folder count; threads and memory have no folder
 *   PNMF_FAIL_COUNT    a file that gets the number of calls at the program's end
 *
 * A failing close closes: that is what systems do.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <unistd.h>

enum call { OPEN, WRITE, PWRITE, FSYNC, CLOSE, RENAME, FTRUNCATE, COPY, THREAD, MEMORY, DISK, NONE };

static const char* const call_names[] = {"open",      "write", "pwrite", "fsync",  "close", "rename",
                                         "ftruncate", "copy",  "thread", "memory", "disk"};

#define MOST_FILES 4096
static enum call chosen = NONE;
static long fail_at = 0;
static int lasting = 0;
static int error_number = EIO;
static char under[4096];
static _Atomic long seen = 0;
static _Atomic char followed[MOST_FILES]; /* descriptors of files in the folder */

/* Nothing here may allocate: memory is among the calls that fail. */
__attribute__((constructor(101))) static void begin(void) {
    const char* name = getenv("PNMF_FAIL_CALL");
    const char* at = getenv("PNMF_FAIL_AT");
    const char* error = getenv("PNMF_FAIL_ERROR");
    const char* folder = getenv("PNMF_FAIL_UNDER");
    const char* lasts = getenv("PNMF_FAIL_LASTING");
    fail_at = at != NULL ? atol(at) : 0;
    error_number = error != NULL ? atoi(error) : EIO;
    lasting = lasts != NULL && *lasts == '1';
    if (folder != NULL) {
        strncpy(under, folder, sizeof under - 1);
    }
    for (int i = 0; name != NULL && i < NONE; ++i) {
        if (strcmp(name, call_names[i]) == 0) {
            chosen = (enum call)i;
        }
    }
}

__attribute__((destructor)) static void end(void) {
    const char* path = getenv("PNMF_FAIL_COUNT");
    if (path != NULL) {
        char text[32];
        const int length = snprintf(text, sizeof text, "%ld\n", (long)seen);
        const int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        syscall(SYS_write, file, text, (size_t)length);
        syscall(SYS_close, file);
    }
}

/* Whether this call is the one to fail; counts it. */
static int fails(enum call call) {
    if (call != chosen && !(chosen == DISK && call <= FTRUNCATE)) {
        return 0;
    }
    const long number = ++seen;
    if (fail_at == 0 || (number != fail_at && !(lasting && number > fail_at))) {
        return 0;
    }
    errno = call == MEMORY ? ENOMEM : error_number;
    return 1;
}

static int is_under(const char* path) {
    char here[4096];
    char whole[8192];
    if (path == NULL) {
        return 0;
    }
    if (*path != '/') {
        if (getcwd(here, sizeof here) == NULL) {
            return 0;
        }
        snprintf(whole, sizeof whole, "%s/%s", here, path);
        path = whole;
    }
    return under[0] != '\0' && strncmp(path, under, strlen(under)) == 0;
}

static int is_followed(int file) { return file >= 0 && file < MOST_FILES && followed[file]; }

static int follow(int file, int wanted) {
    if (file >= 0 && file < MOST_FILES) {
        followed[file] = (char)wanted;
    }
    return file;
}

#define REAL(type, name, parameters)                                                                          \
    static type(*real) parameters = NULL;                                                                     \
    if (real == NULL) {                                                                                       \
        real = (type(*) parameters)dlsym(RTLD_NEXT, name);                                                    \
    }

static int open_as(const char* path, int flags, unsigned mode) {
    const int counts = is_under(path);
    if (counts && fails(OPEN)) {
        return -1;
    }
    return follow((int)syscall(SYS_openat, AT_FDCWD, path, flags, mode), counts);
}

static unsigned mode_of(int flags, va_list* rest) {
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(*rest, unsigned) : 0;
}

#define OPEN_CALL(name)                                                                                       \
    int name(const char* path, int flags, ...) {                                                              \
        va_list rest;                                                                                         \
        va_start(rest, flags);                                                                                \
        const unsigned mode = mode_of(flags, &rest);                                                          \
        va_end(rest);                                                                                         \
        return open_as(path, flags, mode);                                                                    \
    }
OPEN_CALL(open)
OPEN_CALL(open64)

#define WRITE_CALL(name, type, call, number, parameters, arguments)                                           \
    type name parameters {                                                                                    \
        if (is_followed(file) && fails(call)) {                                                               \
            return -1;                                                                                        \
        }                                                                                                     \
        return (type)syscall arguments;                                                                       \
    }
WRITE_CALL(write, ssize_t, WRITE, 0, (int file, const void* from, size_t size), (SYS_write, file, from, size))
WRITE_CALL(pwrite, ssize_t, PWRITE, 0, (int file, const void* from, size_t size, off_t at),
           (SYS_pwrite64, file, from, size, at))
WRITE_CALL(pwrite64, ssize_t, PWRITE, 0, (int file, const void* from, size_t size, off_t at),
           (SYS_pwrite64, file, from, size, at))
WRITE_CALL(fsync, int, FSYNC, 0, (int file), (SYS_fsync, file))
WRITE_CALL(fdatasync, int, FSYNC, 0, (int file), (SYS_fdatasync, file))
WRITE_CALL(ftruncate, int, FTRUNCATE, 0, (int file, off_t size), (SYS_ftruncate, file, size))
WRITE_CALL(ftruncate64, int, FTRUNCATE, 0, (int file, off_t size), (SYS_ftruncate, file, size))
WRITE_CALL(sendfile, ssize_t, COPY, 0, (int file, int from, off_t* at, size_t size),
           (SYS_sendfile, file, from, at, size))

int close(int file) {
    const int failing = is_followed(file) && fails(CLOSE);
    follow(file, 0);
    const int result = (int)syscall(SYS_close, file);
    if (failing) {
        errno = error_number;
        return -1;
    }
    return result;
}

int rename(const char* from, const char* to) {
    if (is_under(to) && fails(RENAME)) {
        return -1;
    }
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
    REAL(int, "pthread_create", (pthread_t*, const pthread_attr_t*, void* (*)(void*), void*))
    if (fails(THREAD)) {
        return EAGAIN;
    }
    return real(thread, attributes, start, argument);
}

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

void* malloc(size_t size) { return fails(MEMORY) ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return fails(MEMORY) ? NULL : __libc_calloc(count, size); }
void* realloc(void* old, size_t size) { return fails(MEMORY) ? NULL : __libc_realloc(old, size); }
void* memalign(size_t alignment, size_t size) {
    return fails(MEMORY) ? NULL : __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** place, size_t alignment, size_t size) {
    void* memory = memalign(alignment, size);
    if (memory == NULL) {
        return ENOMEM;
    }
    *place = memory;
    return 0;
}
