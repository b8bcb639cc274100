#include <sched.h>
#include <signal.h>

#include <cerrno>

/// What the C library of a page declares and does not have. Who asks for it knows that it can be refused.
extern "C" {

int sigaltstack(const stack_t*, stack_t*) {
    errno = ENOSYS;
    return -1;
}

/// One thread.
int sched_getaffinity(pid_t, size_t, cpu_set_t*) {
    return 0;
}

int __sched_cpucount(size_t, const cpu_set_t*) { // CPU_COUNT
    return 1;
}

} // extern "C"
