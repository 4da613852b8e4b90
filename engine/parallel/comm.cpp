// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/comm.hpp"

#include <array>
#include <utility>

#include "parallel/mpi_comm.hpp"

namespace effio {
namespace {

MPI_Datatype mpi_type(NumberType type) {
    switch (type) {
        case NumberType::character:
            return MPI_CHAR;
        case NumberType::integer:
            return MPI_INT;
        case NumberType::integer64:
            return MPI_INT64_T;
        case NumberType::unsigned64:
            return MPI_UINT64_T;
        case NumberType::real:
            break;
    }
    return MPI_DOUBLE;
}

}  // namespace

Error mpi_error(std::string operation, std::string path, int code,
                std::optional<std::int64_t> offset) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    int error_class = MPI_ERR_OTHER;
    MPI_Error_class(code, &error_class);
    MPI_Error_string(code, text.data(), &length);
    std::string cause(text.data(), static_cast<std::size_t>(length));
    // ROMIO's texts hold several lines; one is enough for a message.
    for (char& c : cause) {
        if (c == '\n') c = ' ';
    }
    Error error = io_error(std::move(operation), std::move(path), std::move(cause));
    error.mpi_class = error_class;
    error.offset = offset;
    return error;
}

Comm Comm::world(Clock& clock) {
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    return MpiComm::make(copy, clock, true);
}

Comm Comm::self(Clock& clock) {
    return MpiComm::make(MPI_COMM_SELF, clock, false);
}

Comm::Comm(Comm&& other) noexcept
    : handle_(other.handle_),
      clock_(other.clock_),
      rank_(other.rank_),
      size_(other.size_),
      owned_(std::exchange(other.owned_, false)) {}

Comm& Comm::operator=(Comm&& other) noexcept {
    if (this != &other) {
        release();
        handle_ = other.handle_;
        clock_ = other.clock_;
        rank_ = other.rank_;
        size_ = other.size_;
        owned_ = std::exchange(other.owned_, false);
    }
    return *this;
}

Comm::~Comm() {
    release();
}

void Comm::release() {
    if (!std::exchange(owned_, false)) return;
    MPI_Comm own = raw(*this);
    MPI_Comm_free(&own);
}

std::optional<Comm> Comm::split(std::optional<int> color) const {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(raw(*this), color.value_or(MPI_UNDEFINED), rank_, &part);
    join();
    return MpiComm::made(part, *clock_);
}

Comm Comm::split(int color, Clock& clock) const {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(raw(*this), color, rank_, &part);
    join();
    return MpiComm::make(part, clock, true);
}

Comm Comm::split_by_shared_memory() const {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split_type(raw(*this), MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &part);
    join();
    return MpiComm::make(part, *clock_, true);
}

std::optional<Comm> Comm::in_order(std::span<const int> ranks) const {
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group listed = MPI_GROUP_NULL;
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_group(raw(*this), &all);
    MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &listed);
    MPI_Comm_create(raw(*this), listed, &part);
    MPI_Group_free(&listed);
    MPI_Group_free(&all);
    join();
    return MpiComm::made(part, *clock_);
}

std::optional<Comm> Comm::cartesian(std::span<const int> extents, bool periodic) const {
    const std::vector<int> periods(extents.size(), periodic ? 1 : 0);
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Cart_create(raw(*this), static_cast<int>(extents.size()), extents.data(), periods.data(), 1,
                    &part);
    join();
    return MpiComm::made(part, *clock_);
}

Comm Comm::reordered(int key) const {
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Comm_split(raw(*this), 0, key, &other);
    join();
    return MpiComm::make(other, *clock_, true);
}

void Comm::barrier() const {
    if (clock_->is_virtual()) [[unlikely]] {
        join_clocks(clock_->collective_cost());
    } else {
        MPI_Barrier(raw(*this));
    }
}

void Comm::broadcast(void* values, std::size_t count, NumberType type, int root) const {
    MPI_Bcast(values, static_cast<int>(count), mpi_type(type), root, raw(*this));
    join();
}

void Comm::reduce(void* values, std::size_t count, NumberType type, Reduction how) const {
    const MPI_Op op = how == Reduction::sum ? MPI_SUM : how == Reduction::min ? MPI_MIN : MPI_MAX;
    MPI_Allreduce(MPI_IN_PLACE, values, static_cast<int>(count), mpi_type(type), op, raw(*this));
    join();
}

void Comm::broadcast(std::string& text, int root) const {
    auto length = static_cast<int>(text.size());
    broadcast(length, root);
    text.resize(static_cast<std::size_t>(length));
    broadcast(std::span<char>(text.data(), text.size()), root);
}

std::int64_t Comm::sum_below(std::int64_t value) const {
    std::int64_t below = 0;
    MPI_Exscan(&value, &below, 1, MPI_INT64_T, MPI_SUM, raw(*this));
    join();
    return rank_ == 0 ? 0 : below;  // MPI leaves rank 0's result undefined
}

std::vector<double> Comm::gather(double value) const {
    std::vector<double> all(is_root() ? static_cast<std::size_t>(size_) : 0);
    MPI_Gather(&value, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, 0, raw(*this));
    join();
    return all;
}

std::vector<std::string> Comm::gather(const std::string& text) const {
    const auto length = static_cast<int>(text.size());
    std::vector<int> lengths(is_root() ? static_cast<std::size_t>(size_) : 0);
    MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, raw(*this));
    std::vector<int> starts;
    int total = 0;
    for (const int n : lengths) {
        starts.push_back(total);
        total += n;
    }
    std::string joined(static_cast<std::size_t>(total), '\0');
    MPI_Gatherv(text.data(), length, MPI_CHAR, joined.data(), lengths.data(), starts.data(),
                MPI_CHAR, 0, raw(*this));
    join();
    std::vector<std::string> all;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        all.push_back(joined.substr(static_cast<std::size_t>(starts[i]),
                                    static_cast<std::size_t>(lengths[i])));
    }
    return all;
}

void Comm::fetch(Partners partners, std::span<const std::int64_t> mine,
                 std::span<std::int64_t> theirs) const {
    constexpr int numbers = 1;
    MPI_Sendrecv(mine.data(), static_cast<int>(mine.size()), MPI_INT64_T, partners.taker, numbers,
                 theirs.data(), static_cast<int>(theirs.size()), MPI_INT64_T, partners.owner,
                 numbers, raw(*this), MPI_STATUS_IGNORE);
}

void Comm::join_clocks(double cost) const {
    if (!clock_->is_virtual()) return;
    std::array<double, 2> latest{clock_->now(), cost};
    MPI_Allreduce(MPI_IN_PLACE, latest.data(), 2, MPI_DOUBLE, MPI_MAX, raw(*this));
    clock_->wait_until(latest[0] + latest[1]);
}

}  // namespace effio
