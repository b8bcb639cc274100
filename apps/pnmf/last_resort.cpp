#include "last_resort.hpp"

#include "say.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>

namespace pnmf::cli {
namespace {

bool reached_end = false;

/// Nothing may be allocated here.
[[noreturn]] void end_at_once() {
    try {
        if (std::current_exception()) {
            throw;
        }
        say_text("pnmf: stopped by a fault of the program\n");
    } catch (const std::bad_alloc&) {
        say_text("pnmf: out of memory\n");
    } catch (const std::exception& e) {
        say_text("pnmf: ");
        say_text(e.what());
        say_text("\n");
    } catch (...) {
        say_text("pnmf: stopped by a fault of the program\n");
    }
    std::_Exit(1);
}

extern "C" void on_crash(int) {
    constexpr char note[] =
        "pnmf: stopped by a crash, of the program or of a library it uses; either memory has run "
        "out, or a file is damaged, or the program is wrong\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, note, sizeof note - 1);
    ::_exit(1);
}

extern "C" void on_foreign_exit() {
    if (!reached_end) {
        say_text("pnmf: ended by a library it uses, as when memory runs out\n");
        std::_Exit(1);
    }
}

[[maybe_unused]] bool core_is_wanted() { // with a sanitiser nobody asks
    rlimit limit{};
    return getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur > 0;
}

/// Before the constructors of other global objects, which take memory.
[[gnu::constructor(102)]] void prepare_for_the_worst() {
    std::set_terminate(end_at_once);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    if (core_is_wanted()) {
        return;
    }
    static std::array<char, 1U << 14U> buffer; // a stack of its own: the usual one may be what ran out
    const stack_t stack{.ss_sp = buffer.data(), .ss_flags = 0, .ss_size = buffer.size()};
    sigaltstack(&stack, nullptr);
    struct sigaction action {};
    action.sa_handler = on_crash;
    action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) {
        sigaction(signal, &action, nullptr);
    }
#endif
}

} // namespace

void guard_end() {
    std::atexit(on_foreign_exit);
}

void reach_end() {
    reached_end = true;
}

} // namespace pnmf::cli
