// SPDX-License-Identifier: BSD-3-Clause
// What a run of b_eff_io finds out, as events; the result file, the table and the classic protocol
// are three observers of the same events. Exists on the root only.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/b_eff_io/definition.hpp"
#include "benchmarks/b_eff_io/parameters.hpp"
#include "benchmarks/b_eff_io/rounds.hpp"
#include "benchmarks/b_eff_io/row_clock.hpp"
#include "core/batches.hpp"
#include "core/record.hpp"
#include "core/stats.hpp"
#include "frame/criterion.hpp"
#include "frame/observers.hpp"
#include "parallel/pace.hpp"
#include "parallel/system.hpp"
#include "storage/hints.hpp"

namespace effio::b_eff_io {

/// What is fixed before the first measurement.
struct Setup {
    Parameters parameters;
    std::int64_t memory_mib = 0;        ///< per process ("MB")
    std::int64_t total_memory_mib = 0;  ///< of the system ("MT")
    std::int64_t lmax = 0;
    std::vector<std::int64_t> partitions;
    Budget budget;                    ///< of one round
    bool shared_pointer = true;       ///< type 1 uses it
    std::string shared_pointer_note;  ///< which component serves it, or why it is not used
    std::int64_t cap_bytes = 0;
    std::string cap_reason;
    Uname uname;
    std::string date;  ///< as ctime prints it
    int nodes = 1;

    /// Of a partition, all rounds together.
    double scheduled_seconds() const {
        return budget.partition_seconds * static_cast<double>(parameters.rounds);
    }
};

/// The seconds of one row on the root and over all ranks.
struct RowTimes {
    double total = 0;  ///< t_pat
    double barrier = 0;
    double broadcast = 0;
    double sync = 0;
    double last_call = 0;  ///< the last call with stamping or checking
    double last_vote = 0;  ///< the barrier and broadcast after it
    double calls() const { return remainder_of(total, barrier + broadcast + sync); }
};

struct RowResult {
    std::size_t partition = 0;
    std::int64_t round = 0;
    std::int64_t ranks = 0;
    Access access = Access::write;
    Row row;
    std::string file;                    ///< short name, rank 0's for separated files
    double scheduled = 0;                ///< Tp in seconds
    std::int64_t repetitions = 0;        ///< r
    std::int64_t bytes = 0;              ///< n*L*r
    RowTimes times;                      ///< of the root
    std::optional<double> ended;         ///< by the root's clock
    RowSpan span;                        ///< over which the rate counts the bytes
    std::vector<Named<Spread>> spreads;  ///< the same parts over the ranks
    std::int64_t errors = 0;             ///< failed calls and wrong chunks on all ranks
    std::vector<Error> error_list;
    bool valid = true;  ///< false: a call, the sync or the size check failed
    StopReason stopped = StopReason::count;
    bool sets_view = false;
    bool has_hints = false;  ///< an info object is passed for this row
    Hints asked;
    GrantedHints granted;
    std::optional<Histogram> call_times;
    Batches batches;  ///< B/s of the calls with their votes, by the root's clock
    std::optional<CacheEvidence> cache;
    std::int64_t cap_calls = 0;  ///< calls that the cap allows; 0 = not limited
    /// What did not come from the device was read ahead by calls before: nothing of the file was
    /// in memory when it was opened, and an access reads nothing twice.
    bool read_ahead() const;
    double rate() const { return span.seconds > 0 ? static_cast<double>(bytes) / span.seconds : 0; }
    /// This one is the sum of both from now on; the latest says which file, hints and caches.
    void join(const RowResult& earlier);
};

struct OpenedFile {
    std::size_t partition = 0;
    std::int64_t ranks = 0;
    Access access = Access::write;
    Type type = Type::scatter;
    bool has_hints = false;
    Hints asked;
    GrantedHints granted;
};

struct TypeResult {
    std::size_t partition = 0;
    std::int64_t ranks = 0;
    Access access = Access::write;
    Type type = Type::scatter;
    double open = 0;
    double close = 0;
    double seconds = 0;  ///< open + rows + close
    std::int64_t bytes = 0;
    double weighted_rate = 0;  ///< wbw
    std::int64_t segment = 0;  ///< Lseg of types 3 and 4
    std::int64_t verified_bytes = 0;
    std::int64_t rounds = 1;  ///< that these are the sums of
    Estimate estimate;        ///< of the rate, where there are several rounds
    double rate() const { return seconds > 0 ? static_cast<double>(bytes) / seconds : 0; }
    void join(const TypeResult& earlier);
};

struct AccessResult {
    std::size_t partition = 0;
    std::int64_t ranks = 0;
    Access access = Access::write;
    std::int64_t bytes = 0;
    double seconds = 0;
    double weighted_rate = 0;
    double average = 0;       ///< b(access)
    Estimate estimate;        ///< of the average, where there are several rounds
    std::int64_t errors = 0;  ///< of the partition, up to now (never reset)
    double rate() const { return seconds > 0 ? static_cast<double>(bytes) / seconds : 0; }
};

/// Everything of one partition, collected.
struct PartitionResult {
    std::int64_t ranks = 0;
    std::array<std::array<std::optional<RowResult>, row_count>, 3> rows;
    std::array<std::array<std::optional<TypeResult>, 5>, 3> types;
    std::array<std::optional<AccessResult>, 3> accesses;
    std::int64_t errors = 0;

    bool complete() const;        ///< all three accesses are done
    bool all_rows_valid() const;  ///< no row has a failed call, sync or size check
    std::array<double, 5> rates(Access access) const;
    double write_average() const;  ///< B_wr
    double effective_bandwidth() const;
    std::int64_t bytes() const;  ///< of the three accesses
    double seconds() const;
    double weighted_rate() const;
    int rows_cut_short() const;  ///< by the cap on bytes
    /// Rows of all accesses whose rate uses the common clock (RowSpan).
    int rows_by_common_clock() const;
};

struct RunResult {
    Setup setup;
    std::vector<PartitionResult> partitions;
    double execution_seconds = 0;
    Rounds rounds;  ///< by partition

    /// Nothing of a single round.
    std::optional<Estimate> estimated(const Formula& formula) const;
    Estimate of_type(std::size_t partition, Access access, Type type) const;
    Estimate of_access(std::size_t partition, Access access) const;
    /// Of half an hour for each partition, which the run may not have used up.
    double official_time_share() const;

    /// The partition with the largest value, the first on a tie; nothing if none is complete and
    /// free of failed calls.
    std::optional<std::size_t> best() const;
    /// The three of b_eff_io 2.1, and after them those that only apply where effio changes the run:
    /// a cap on bytes that cut rows short, -adapt, dropped caches, a backend that is not MPI-IO.
    std::vector<Criterion> criteria(std::size_t partition) const;
    bool valid(std::size_t partition) const;
};

class Observer : public Interface {
  public:
    virtual void start(const Setup&) {}
    virtual void access_begins(Access) {}
    virtual void file_opened(const OpenedFile&) {}
    virtual void row(const RowResult&) {}
    virtual void type(const TypeResult&) {}
    virtual void access(const AccessResult&) {}
    /// The run is over; not called when the job had to be ended.
    virtual void end(const RunResult&) {}
};

}  // namespace effio::b_eff_io
