#include "mpi/mpi_ranks.hpp"

#include <pnmf/error.hpp>

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

namespace pnmf {

class MpiRanks::Ranks final : public Processes {
  public:
    explicit Ranks(std::size_t largest_piece) : largest_piece_(largest_piece) {
        int provided = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
        if (provided < MPI_THREAD_FUNNELED) {
            MPI_Finalize();
            throw SystemError("this MPI library does not allow threads in a process: use one that was built "
                              "with them (MPI_THREAD_FUNNELED)");
        }
        MPI_Comm_dup(MPI_COMM_WORLD, &world_); // errors end all processes, with a message by MPI
        MPI_Comm_dup(MPI_COMM_WORLD, &ending_);
        MPI_Comm_rank(world_, &rank_);
        MPI_Comm_size(world_, &size_);
        MPI_Comm here = MPI_COMM_NULL;
        MPI_Comm_split_type(world_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &here);
        MPI_Comm_size(here, &here_);
        MPI_Comm_rank(here, &rank_here_);
        MPI_Comm_free(&here);
    }
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;
    ~Ranks() override {
        MPI_Comm_free(&world_);
        MPI_Comm_free(&ending_);
        MPI_Finalize();
    }

    int place() const override { return rank_; }
    int count() const override { return size_; }
    int count_here() const override { return here_; }
    int place_here() const override { return rank_here_; }

    bool all_arrive(double seconds) const {
        using Clock = std::chrono::steady_clock;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Ibarrier(ending_, &request);
        const auto limit = Clock::now() + std::chrono::duration<double>(seconds);
        int arrived = 0;
        do {
            MPI_Test(&request, &arrived, MPI_STATUS_IGNORE);
            if (arrived == 0) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        } while (arrived == 0 && Clock::now() < limit);
        return arrived != 0;
    }

    void end_all(int code) const { MPI_Abort(world_, code); }

  protected:
    void transfer(std::span<const Outgoing> sends, std::span<const Incoming> receives) override {
        std::vector<MPI_Request> requests;
        for (const Incoming& message : receives) {
            in_pieces(message.bytes.size(), [&](std::size_t first, int count) {
                MPI_Irecv(message.bytes.data() + first, count, MPI_BYTE, message.from, 0, world_,
                          &requests.emplace_back());
            });
        }
        for (const Outgoing& message : sends) {
            in_pieces(message.bytes.size(), [&](std::size_t first, int count) {
                MPI_Isend(message.bytes.data() + first, count, MPI_BYTE, message.to, 0, world_,
                          &requests.emplace_back());
            });
        }
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    }

  private:
    /// Pieces of a message keep their order, as all messages between two processes do.
    template <class Piece>
    void in_pieces(std::size_t bytes, const Piece& piece) const {
        for (std::size_t first = 0; first < bytes; first += largest_piece_) {
            piece(first, static_cast<int>(std::min(largest_piece_, bytes - first)));
        }
    }

    std::size_t largest_piece_;
    MPI_Comm world_ = MPI_COMM_NULL;
    MPI_Comm ending_ = MPI_COMM_NULL;
    int rank_ = 0;
    int size_ = 1;
    int here_ = 1;
    int rank_here_ = 0;
};

MpiRanks::MpiRanks(std::size_t largest_piece) : processes_(std::make_unique<Ranks>(largest_piece)) {}

MpiRanks::~MpiRanks() = default;

Processes& MpiRanks::processes() {
    return *processes_;
}

bool MpiRanks::all_arrive(double seconds) {
    return processes_->all_arrive(seconds);
}

void MpiRanks::end_all(int code) {
    processes_->end_all(code);
}

} // namespace pnmf
