#include "interrupt.hpp"

#include <unistd.h>

#include <csignal>

namespace pnmf::cli {
namespace {

volatile std::sig_atomic_t requested = 0;
volatile std::sig_atomic_t speaks = 1;

extern "C" void on_signal(int number) {
    requested = number;
    if (speaks == 0) {
        return;
    }
    constexpr char note[] = "\npnmf: stopping after this sweep; a second signal stops at once\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, note, sizeof note - 1);
}

} // namespace

void catch_interrupts(bool speak, bool of_several) {
    speaks = speak ? 1 : 0;
    struct sigaction action {};
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    // The handler serves once: the second signal has its usual effect.
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    sigaction(SIGHUP, &action, nullptr);
    if (of_several) {
        sigaction(SIGUSR1, &action, nullptr); // mpirun hands it on; it kills soon after the others
    }
}

int interrupt_signal() {
    return requested;
}

} // namespace pnmf::cli
