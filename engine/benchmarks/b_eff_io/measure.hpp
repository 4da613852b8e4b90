// SPDX-License-Identifier: BSD-3-Clause
// One row of the pattern table, timed as the definition says (docs/definitions/b-eff-io.md, What a
// row's time holds).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "benchmarks/b_eff_io/buffers.hpp"
#include "benchmarks/b_eff_io/definition.hpp"
#include "benchmarks/b_eff_io/result.hpp"
#include "core/batches.hpp"
#include "parallel/agree.hpp"
#include "storage/byte_file.hpp"

namespace effio::b_eff_io {

/// The MPI call of a type's data transfers.
CallForm call_form(Type type, bool shared_pointer);

/// What a row is to do.
struct RowTask {
    std::size_t partition = 0;
    std::int64_t ranks = 0;  ///< of the partition
    Access access = Access::write;
    Access writer = Access::write;  ///< reading: who wrote the data last
    Row row;
    CallForm form;
    View place;                ///< the row's stream of bytes in the file, from its start
    std::optional<View> view;  ///< to be set at the start of the row
    bool has_hints = false;
    Hints hints;
    double budget = 0;             ///< Tp
    std::int64_t repetitions = 0;  ///< 0 = driven by time
    std::int64_t cap_calls = 0;    ///< 0 = not limited
    std::int64_t max_messages = 1;
    bool time_calls = true;
    bool compare_all = false;  ///< reading: every byte, inside the interval like the marks
};

struct RowMeasured {
    RowTimes times;
    double start = 0;  ///< this rank's clock after the first barrier
    double stop = 0;   ///< and after the closing one
    std::int64_t repetitions = 0;
    StopReason stopped = StopReason::count;
    Histogram call_times;
    Batches batches;            ///< of all ranks' bytes, by this rank's clock
    std::int64_t compared = 0;  ///< bytes of timed reads, all of each call
    Outcome outcome;            ///< of this rank: failed calls and wrong chunks
    bool call_failed = false;   ///< a call, view or sync failed on some rank
    Agreed agreed;  ///< of all ranks, after the sync (writing) or the last call (reading)
};

/// Collective over `comm`. `warn` receives messages about errors.
RowMeasured measure_row(Session& session, const Comm& comm, ByteFile& file, Buffers& buffers,
                        const RowTask& task, const std::function<void(const std::string&)>& warn);

/// Collective over `comm`, untimed: reads the row once more and compares every byte with what the
/// buffers held when it was written. Sets the view where the task does.
struct RowVerified {
    std::int64_t bytes = 0;  ///< compared by this rank
    Outcome outcome;
};
RowVerified verify_row(ByteFile& file, Buffers& buffers, const RowTask& task,
                       const Session& session);

}  // namespace effio::b_eff_io
