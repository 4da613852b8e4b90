// SPDX-License-Identifier: BSD-3-Clause
// Transfers of MPI-IO that are under way while their rank continues: MPI_File_iwrite_at and
// MPI_File_iread_at, or, where all ranks of the file post together, MPI_File_iwrite_at_all and
// MPI_File_iread_at_all.
//
// Code and count of each transfer are checked, as with the library's other calls. What libraries
// answer with a crash or with silence they are not requested:
// - MPI_Wait and MPI_Test of a transfer that failed, in Open MPI's OMPIO (4.1.4) a crash. Waiting
// is
//   looking again and again, in the order of the posts, and the processor is offered to others
//   between two rounds.
// - A read past the end of the file, in OMPIO without an end, in Open MPI's ROMIO without an error.
//   It is refused here.
// - One call of more than 2 GiB, of which ROMIO moves nothing and says that it moved all.
// ROMIO in MPICH 4.0 never says that a transfer is over that failed on its way: the sentinel ends
// such a run. OMPIO and MPICH move the data by POSIX asynchronous I/O, Open MPI's ROMIO at the
// post.
//
// The collective ones are not to be trusted at all (in Open MPI's ROMIO a crash) before a job of
// its own has tried them. They are looked at in the order of the posts only, each when those before
// are over: a library may exchange messages when it is asked, and so all ranks ask in the same
// order. What one rank must not ask for, it takes part in with nothing to move.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>
#include <vector>

#include "parallel/session.hpp"
#include "storage/transfer_queue.hpp"

namespace effio {

class MpiQueue final : public TransferQueue {
  public:
    /// `session` and `path` must outlive it; `file` is open until it is gone, with a view of bytes.
    MpiQueue(Session& session, const std::string& path, MPI_File file, std::size_t depth,
             bool collective)
        : session_(session), path_(path), file_(file), collective_(collective), transfers_(depth) {
        order_.reserve(depth);
    }

    void post_write(std::size_t slot, std::span<const std::byte> data,
                    std::int64_t offset) override;
    void post_read(std::size_t slot, std::span<std::byte> data, std::int64_t offset) override;
    Completion wait() override;
    bool test() override;

  private:
    struct Transfer {
        MPI_Request request = MPI_REQUEST_NULL;
        bool write = false;
        std::int64_t bytes = 0;
        std::int64_t offset = 0;
        Status refused;  ///< why it never began
    };
    /// One that is over and was not waited for yet.
    struct Over {
        std::size_t slot = 0;
        int code = MPI_SUCCESS;
        std::int64_t moved = 0;
    };

    void post(std::size_t slot, bool write, std::byte* data, std::size_t bytes,
              std::int64_t offset);
    Status check(const Transfer& transfer);
    int begin(const Transfer& transfer, std::byte* data, int count, MPI_Request& request);
    const char* name_of(bool write) const;
    bool look();
    Status status_of(const Over& over, Transfer& transfer) const;

    Session& session_;
    const std::string& path_;
    MPI_File file_;
    bool collective_;
    std::vector<Transfer> transfers_;  ///< by slot
    std::vector<std::size_t> order_;   ///< slots under way, the first posted first
    std::optional<Over> over_;
    std::int64_t size_ = 0;  ///< bytes of the file, as far as was asked
};

}  // namespace effio
