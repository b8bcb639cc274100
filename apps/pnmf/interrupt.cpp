#include "interrupt.hpp"

#include <unistd.h>

#include <csignal>

namespace pnmf::cli {
namespace {

volatile std::sig_atomic_t requested = 0;

extern "C" void on_signal(int number) {
    requested = number;
    constexpr char note[] = "\npnmf: stopping after this sweep; a second signal stops at once\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, note, sizeof note - 1);
}

} // namespace

void catch_interrupts() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    // The handler serves once: the second signal has its usual effect.
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGHUP, &action, nullptr);
}

int interrupt_signal() {
    return requested;
}

} // namespace pnmf::cli
