#include "io/trial_read.hpp"
#include "cells/processes.hpp"
#include "io/hdf5_handle.hpp"
#include "io/hdf5_memory.hpp"
#include "io/zarr.hpp"
#include "parallel_region.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <new>
#include <optional>
#include <system_error>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

namespace pnmf::io {

namespace fs = std::filesystem;

namespace {

#if defined(PNMF_SANITIZED)
constexpr bool with_sanitiser = true;
#else
constexpr bool with_sanitiser = false;
#endif

thread_local bool tried = false;

enum class Verdict : int { none, ended, no_memory };

/// A word that parent and child both see. The exit code of a child can be lost: another part of the process
/// may ignore its children or wait for them.
class SharedVerdict {
  public:
    SharedVerdict()
        : place_(::mmap(nullptr, sizeof(Word), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
        if (place_ != MAP_FAILED) {
            word_ = new (place_) Word(Verdict::none);
        }
    }
    ~SharedVerdict() {
        if (word_ != nullptr) {
            ::munmap(place_, sizeof(Word));
        }
    }
    SharedVerdict(const SharedVerdict&) = delete;
    SharedVerdict& operator=(const SharedVerdict&) = delete;

    bool is_there() const { return word_ != nullptr; }
    void set(Verdict verdict) { word_->store(verdict); }
    Verdict get() const { return word_->load(); }

  private:
    using Word = std::atomic<Verdict>;

    void* place_;
    Word* word_ = nullptr;
};

/// Bytes of address space that this process has; nothing where the system does not say.
std::optional<std::uint64_t> address_space() {
    std::FILE* const file = std::fopen("/proc/self/statm", "re");
    if (file == nullptr) {
        return std::nullopt;
    }
    unsigned long pages = 0;
    const bool found = std::fscanf(file, "%lu", &pages) == 1;
    std::fclose(file);
    return found ? std::optional(std::uint64_t{pages} * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)))
                 : std::nullopt;
}

void limit(int what, std::uint64_t most) {
    rlimit held{};
    if (::getrlimit(what, &held) == 0) {
        held.rlim_cur = std::min<rlim_t>(held.rlim_max, most);
        ::setrlimit(what, &held);
    }
}

SharedVerdict* verdict_of_child = nullptr;

/// A library that goes on after a failed allocation crashes soon. That says nothing about the file.
extern "C" void on_crash_of_child(int number) {
    if (hdf5::allocation_failed() && verdict_of_child != nullptr) {
        verdict_of_child->set(Verdict::no_memory);
    }
    ::raise(number); // its usual action now
}

/// Signals: those that stop a run are the parent's, which decides about its child; all others do to the child
/// what they do to a program that knows nothing of them.
void take_usual_signals() {
    for (const int number : {SIGXCPU, SIGALRM, SIGSYS, SIGTRAP, SIGPIPE}) {
        std::signal(number, SIG_DFL);
    }
    // HDF5 may call itself without end where it finds no memory: the usual stack is full then.
    static std::array<char, 1U << 14U> buffer;
    const stack_t stack{.ss_sp = buffer.data(), .ss_flags = 0, .ss_size = buffer.size()};
    ::sigaltstack(&stack, nullptr);
    struct sigaction crash {};
    crash.sa_handler = on_crash_of_child;
    crash.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND | SA_NODEFER);
    sigemptyset(&crash.sa_mask);
    for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) {
        ::sigaction(number, &crash, nullptr);
    }
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD}) {
        std::signal(number, SIG_IGN);
    }
    sigset_t none;
    sigemptyset(&none);
    ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

/// What the child does before it reads: no core, nothing printed, limits, and an end with its parent.
void become_child(pid_t parent, const TrialLimits& limits) {
#if defined(__linux__)
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_DUMPABLE, 0);
#endif
    if (::getppid() != parent) {
        ::_exit(1);
    }
    if (const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0) {
        ::dup2(nowhere, STDOUT_FILENO);
        ::dup2(nowhere, STDERR_FILENO);
    }
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, limits.seconds);
    if (const auto taken = address_space()) {
        limit(RLIMIT_AS, *taken + limits.memory);
    }
    constexpr std::uint64_t longest = 1'000'000'000;
    take_usual_signals();
    ::alarm(static_cast<unsigned>(std::min(longest, 10 * limits.seconds)));
}

[[noreturn]] void read_in_child(const std::function<void()>& read, SharedVerdict& verdict) {
    verdict_of_child = &verdict;
    errno = 0;
    try {
        read();
        verdict.set(Verdict::ended);
    } catch (const std::bad_alloc&) {
        verdict.set(Verdict::no_memory);
    } catch (const SystemError&) { // HDF5 had no memory
        verdict.set(Verdict::no_memory);
    } catch (...) { // the parent will find the same fault, and say it
        verdict.set(memory_was_short() ? Verdict::no_memory : Verdict::ended);
    }
    ::_exit(0);
}

/// How the child ended; nothing where another part of the process has taken the answer.
std::optional<int> wait_for(pid_t child) {
    int status = 0;
    pid_t ended = 0;
    do {
        ended = ::waitpid(child, &status, 0);
    } while (ended < 0 && errno == EINTR);
    return ended == child ? std::optional(status) : std::nullopt;
}

[[noreturn]] void refuse(const fs::path& file, Verdict verdict, std::optional<int> status) {
    const int number = status && WIFSIGNALED(*status) ? WTERMSIG(*status) : 0;
    // A library that calls exit has found no memory: HDF5 does so.
    if (verdict == Verdict::no_memory || number == SIGKILL || (status && WIFEXITED(*status))) {
        refuse_for_memory(file);
    }
    require(number != SIGXCPU && number != SIGALRM,
            "{}: is damaged, or on a disk that does not answer: reading it takes longer than a file of its "
            "size can",
            file.string());
    fail("{}: is damaged: the library that decodes such files crashed when a copy of this process read it",
         file.string());
}

/// Not once MPI has begun: it may have given pages of this process to a network card (RDMA), and after a fork
/// these can be the child's.
bool may_fork() {
    return &all_processes() == &one_process();
}

/// False when there is no child to do it.
bool try_read(const fs::path& file, const std::function<void()>& read, const TrialLimits& limits) {
    SharedVerdict verdict;
    if (!verdict.is_there()) {
        return false;
    }
    const pid_t parent = ::getpid();
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    // The child shall not run a handler of its parent's before it has put them away.
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t child = hdf5::fork_between_sessions();
    if (child == 0) {
        become_child(parent, limits);
        read_in_child(read, verdict);
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (child < 0) {
        return false; // as many processes as are allowed, or no memory for one: the file may well be whole
    }
    const auto status = wait_for(child);
    if (verdict.get() != Verdict::ended) {
        refuse(file, verdict.get(), status);
    }
    return true;
}

} // namespace

bool memory_was_short() {
    return hdf5::allocation_failed();
}

void refuse_for_memory(const fs::path& file) {
    throw SystemError(fmt::format(
        "{}: there is too little memory to read it: the machine has too little left, or a damaged file "
        "asks for too much",
        file.string()));
}

TrialLimits usual_limits(std::uintmax_t file_bytes) {
    constexpr std::uint64_t base = std::uint64_t{256} << 20U;
    constexpr std::uint64_t most_of_a_byte = 10'000;
    const auto machine = static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES))) *
                         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const std::uint64_t enough = file_bytes > (machine - std::min(base, machine)) / most_of_a_byte
                                     ? machine
                                     : base + most_of_a_byte * file_bytes;
    return {.memory = enough, .seconds = 30 + (file_bytes >> 20U)};
}

TrialRead::TrialRead(const fs::path& file, const std::function<void()>& read)
    : TrialRead(file, read, [&file] {
          std::error_code error;
          // What a store becomes must be there before a child is.
          const auto size = fs::file_size(zarr::hdf5_of(file), error);
          return usual_limits(error ? 0 : size);
      }()) {}

TrialRead::TrialRead(const fs::path& file, const std::function<void()>& read, const TrialLimits& limits)
    : outermost_(!tried) {
    if (!outermost_) {
        return;
    }
    tried = true;
    if (!with_sanitiser && !inside_parallel_body() && may_fork()) {
        try {
            by_child_ = try_read(file, read, limits);
        } catch (...) {
            tried = false; // no destructor follows
            throw;
        }
    }
    errno = 0; // see memory_was_short
}

TrialRead::~TrialRead() {
    if (outermost_) {
        tried = false;
    }
}

} // namespace pnmf::io
