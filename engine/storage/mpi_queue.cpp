// SPDX-License-Identifier: BSD-3-Clause
#include "storage/mpi_queue.hpp"

#include <fmt/format.h>

#include <limits>
#include <thread>
#include <utility>

#include "core/units.hpp"
#include "parallel/comm.hpp"

namespace effio {
namespace {

struct Looked {
    bool is_over = false;
    int code = MPI_SUCCESS;
    std::int64_t moved = 0;  ///< bytes
};

/// Looks at a request and, if it is over, lets go of it.
Looked look_at(MPI_Request& request) {
    Looked seen;
    int flag = 0;
    MPI_Status status{};
#ifdef OPEN_MPI
    // MPI_Test and MPI_Wait call the error handler of a failed request's file, which OMPIO (4.1.4)
    // has not set: they crash. This call hands out the status and no more.
    seen.code = MPI_Request_get_status(request, &flag, &status);
#else
    // MPICH looks at its files' requests only in calls that complete them.
    seen.code = MPI_Test(&request, &flag, &status);
#endif
    seen.is_over = flag != 0 || seen.code != MPI_SUCCESS;
    if (!seen.is_over) return seen;
    if (seen.code == MPI_SUCCESS) {
        MPI_Count bytes = 0;
        MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
        seen.moved = bytes == MPI_UNDEFINED || bytes < 0 ? 0 : static_cast<std::int64_t>(bytes);
    }
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    return seen;
}

}  // namespace

const char* MpiQueue::name_of(bool write) const {
    if (collective_) return write ? "MPI_File_iwrite_at_all" : "MPI_File_iread_at_all";
    return write ? "MPI_File_iwrite_at" : "MPI_File_iread_at";
}

int MpiQueue::begin(const Transfer& transfer, std::byte* data, int count, MPI_Request& request) {
    const std::int64_t at = transfer.offset;
    if (transfer.write) {
        return collective_ ? MPI_File_iwrite_at_all(file_, at, data, count, MPI_BYTE, &request)
                           : MPI_File_iwrite_at(file_, at, data, count, MPI_BYTE, &request);
    }
    return collective_ ? MPI_File_iread_at_all(file_, at, data, count, MPI_BYTE, &request)
                       : MPI_File_iread_at(file_, at, data, count, MPI_BYTE, &request);
}

void MpiQueue::post_write(std::size_t slot, std::span<const std::byte> data, std::int64_t offset) {
    // One function serves both directions; the library only reads from it.
    post(slot, true, const_cast<std::byte*>(data.data()), data.size(), offset);
}

void MpiQueue::post_read(std::size_t slot, std::span<std::byte> data, std::int64_t offset) {
    post(slot, false, data.data(), data.size(), offset);
}

void MpiQueue::post(std::size_t slot, bool write, std::byte* data, std::size_t bytes,
                    std::int64_t offset) {
    session_.progress.call(name_of(write));
    Transfer& transfer = transfers_[slot];
    transfer = {MPI_REQUEST_NULL, write, static_cast<std::int64_t>(bytes), offset, {}};
    order_.push_back(slot);
    auto count = static_cast<int>(bytes);
    if (auto fits = check(transfer); !fits) [[unlikely]] {
        transfer.refused = std::move(fits);
        if (!collective_) return;
        count = 0;
    }
    const int code = begin(transfer, data, count, transfer.request);
    if (code == MPI_SUCCESS) [[likely]]
        return;
    // What a failed post left there is nothing to wait for.
    transfer.request = MPI_REQUEST_NULL;
    if (!transfer.refused) return;
    transfer.refused = mpi_error(name_of(write), path_, code);
}

/// What is not requested of libraries.
Status MpiQueue::check(const Transfer& transfer) {
    const char* const name = name_of(transfer.write);
    if (transfer.bytes > std::numeric_limits<int>::max()) {
        return io_error(name, path_,
                        fmt::format("{} is more than one nonblocking call can count",
                                    exact_size(transfer.bytes)));
    }
    if (transfer.write || transfer.offset + transfer.bytes <= size_) return {};
    MPI_Offset size = 0;
    if (const int code = MPI_File_get_size(file_, &size); code != MPI_SUCCESS) {
        return mpi_error("MPI_File_get_size", path_, code);
    }
    size_ = size;
    if (transfer.offset + transfer.bytes <= size_) return {};
    return io_error(name, path_,
                    fmt::format("{} cannot be read: the file ends at byte {}",
                                exact_size(transfer.bytes), size_));
}

/// One round over all that are under way, up to the first that is over.
bool MpiQueue::look() {
    for (auto it = order_.begin(); it != order_.end(); ++it) {
        Transfer& transfer = transfers_[*it];
        if (transfer.request == MPI_REQUEST_NULL) {
            over_ = Over{*it, MPI_SUCCESS, 0};
        } else {
            const Looked seen = look_at(transfer.request);
            if (!seen.is_over && collective_) return false;
            if (!seen.is_over) continue;
            over_ = Over{*it, seen.code, seen.moved};
        }
        order_.erase(it);
        return true;
    }
    return false;
}

bool MpiQueue::test() {
    return over_ || look();
}

Completion MpiQueue::wait() {
    if (!over_) {
        session_.progress.call(collective_ ? "wait for MPI_File_iwrite_at_all, iread_at_all"
                                           : "wait for MPI_File_iwrite_at, MPI_File_iread_at");
        while (!look()) std::this_thread::yield();
    }
    const Over over = *over_;
    over_.reset();
    Transfer& transfer = transfers_[over.slot];
    session_.progress.moved(transfer.bytes);
    session_.progress.beat();
    auto status = status_of(over, transfer);
    if (!status) {
        status.error().offset = transfer.offset;
        return {over.slot, session_.signed_error(std::move(status.error()))};
    }
    return {over.slot, {}};
}

Status MpiQueue::status_of(const Over& over, Transfer& transfer) const {
    if (!transfer.refused) [[unlikely]]
        return std::move(transfer.refused);
    if (over.code != MPI_SUCCESS) return mpi_error(name_of(transfer.write), path_, over.code);
    if (over.moved == transfer.bytes) [[likely]]
        return {};
    return io_error(name_of(transfer.write), path_,
                    fmt::format("moved {} of {} without reporting an error", exact_size(over.moved),
                                exact_size(transfer.bytes)));
}

}  // namespace effio
