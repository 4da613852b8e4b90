// SPDX-License-Identifier: BSD-3-Clause
// The loops of b_eff_io: accesses, partitions, files, rows (docs/definitions/b-eff-io.md, Files and
// calls).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "benchmarks/b_eff_io/buffers.hpp"
#include "benchmarks/b_eff_io/cap_shares.hpp"
#include "benchmarks/b_eff_io/definition.hpp"
#include "benchmarks/b_eff_io/measure.hpp"
#include "benchmarks/b_eff_io/result.hpp"
#include "frame/benchmark.hpp"
#include "frame/cold.hpp"
#include "frame/observers.hpp"
#include "frame/run_loop.hpp"
#include "parallel/common_clock.hpp"
#include "storage/hints.hpp"
#include "storage/target.hpp"

namespace effio::b_eff_io {

/// What a partition may create: "b_eff_io_data_i<index %02d>_<ranks %03d>_<type>", and "." with a
/// rank of three digits behind it for type 2.
std::vector<FileSet> files_of(std::size_t partition, std::int64_t ranks);

class Runner {
  public:
    /// Observers are called on the session's root only, `warn` on every rank.
    Runner(Job& job, const Setup& setup, Storage& storage, const Target& target,
           const HintRules& hints, std::vector<Observer*> observers,
           std::function<void(const std::string&)> warn);

    Ending run();

  private:
    struct Partition {
        std::size_t index = 0;
        std::int64_t ranks = 0;
        std::array<Row, row_count> rows;
        Repetitions repetitions{};
        CapShares cap;
        Segment segment;
        std::int64_t errors = 0;
    };
    /// Sums over the rows of one access to one partition.
    struct Sums {
        std::int64_t bytes = 0;
        double weighted = 0;
        int units = 0;
        double seconds = 0;    ///< of the access, with all around it
        double measured = 0;   ///< seconds of all rows so far
        double scheduled = 0;  ///< seconds planned for them
    };
    /// One file while it is open.
    struct OpenFile {
        OpenFile(Partition& of, const Comm& of_partition, const Comm& of_file, Access a, Type t,
                 CommonClock& clock)
            : partition(of),
              comm(of_partition),
              file_comm(of_file),
              access(a),
              type(t),
              common(clock) {
            sums.partition = of.index;
            sums.ranks = of.ranks;
            sums.access = a;
            sums.type = t;
        }
        Partition& partition;
        const Comm& comm;       ///< of the partition
        const Comm& file_comm;  ///< of the file: the partition, or this rank alone
        Access access;
        Type type;
        CommonClock& common;  ///< of the partition
        std::string tag;      ///< the part of the name that depends on the partition and type
        std::unique_ptr<ByteFile> file;
        HintRules::FilePlace cell;
        std::optional<Cold> cold;
        TypeResult sums;
        double weighted = 0;
        int units = 0;
    };

    void run_round();
    /// Collective, with --until-ci, before all rounds but the first: what it measures.
    void choose();
    void report_sums();
    void access_partition(Access access, Partition& partition, const Comm& comm);
    void access_file(Access access, Partition& partition, Type type, const Comm& comm,
                     CommonClock& common, Sums& sums);
    bool open_file(OpenFile& f, const Hints& hints);
    void measure(OpenFile& f, const Row& row, Sums& sums);
    /// What it wrote first is overwritten by a second pass.
    bool is_rewritten(Type type) const {
        return setup_.parameters.rewrite || type == Type::scatter;
    }
    RowTask task_of(const OpenFile& f, const Row& row) const;
    double budget_of(const OpenFile& f, const Row& row, const Sums& sums) const;
    Status check_size(OpenFile& f, const Row& row);
    void verify(OpenFile& f);
    void close_file(OpenFile& f, Outcome& outcome);
    void begin_step(const OpenFile& f, const Row& row, double budget);
    Job& job_;
    Session& session_;
    const Setup& setup_;
    Storage& storage_;
    const Target& target_;
    const HintRules& hints_;
    Observers<Observer> notify_;
    std::function<void(const std::string&)> warn_;
    Comm self_;
    Buffers buffers_;
    std::vector<Partition> partitions_;
    RunResult result_;
    RunLoop loop_;
    std::int64_t round_ = 0;
    Choice chosen_;  ///< what the round measures; the same on all ranks
    UntilCi until_ci_;
    std::array<std::vector<Sums>, 3> sums_;  ///< by access and partition, over the rounds
    int units_done_ = 0;
    int units_total_ = 0;  ///< of a round of everything
};

}  // namespace effio::b_eff_io
