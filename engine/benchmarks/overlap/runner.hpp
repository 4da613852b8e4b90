// SPDX-License-Identifier: BSD-3-Clause
// The loops of overlap: repetitions, accesses, sizes, kinds of work, methods; in each such cell the
// operation alone, the computation alone, and both, one after the other
// (docs/definitions/overlap.md).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/overlap/definition.hpp"
#include "benchmarks/overlap/parameters.hpp"
#include "benchmarks/overlap/work.hpp"
#include "core/buffer.hpp"
#include "core/record.hpp"
#include "frame/benchmark.hpp"
#include "frame/observers.hpp"
#include "frame/run_loop.hpp"
#include "parallel/common_clock.hpp"
#include "parallel/over_ranks.hpp"
#include "storage/target.hpp"

namespace effio::overlap {

/// A method and how it reaches storage.
struct MethodStorage {
    Method method;
    std::unique_ptr<Storage> storage;
    FileSet files;
    /// Number of the pass that wrote the part of the file for each size; 0 = none did.
    std::vector<std::uint64_t> generations;
    bool can_be_left_out = false;  ///< it was not requested by name
};

/// One repetition of one cell.
struct CellResult {
    Point point;
    std::int64_t repetition = 0;
    Times times;
    double asked_seconds = 0;  ///< of the computation
    std::int64_t polls = 0;    ///< made by all ranks
    /// Seconds of `both`, over ranks; "total" first.
    PartTimes seconds;
    std::optional<double> ended;  ///< when `both` was over, by the session's clock
    int ranks = 1;
    int nodes = 1;
    std::int64_t bytes = 0;  ///< of `both`, all ranks
    std::optional<CacheEvidence> cache;
    std::int64_t verified_bytes = 0;
    std::int64_t error_count = 0;
    std::vector<Error> errors;
    bool valid = true;

    Measurement to_measurement() const;
};

/// Root only.
class Observer : public Interface {
  public:
    virtual void left_out(const std::string& /*why*/) {}
    virtual void cell(const CellResult&) {}
    virtual void end(const std::vector<PointTimes>&) {}
};

class Runner {
  public:
    Runner(Job& job, const Parameters& parameters, const Target& target,
           std::vector<MethodStorage> methods, std::vector<Work>& works,
           std::vector<Observer*> observers);

    /// Collective.
    Ending run();
    const std::vector<MethodStorage>& methods() const { return methods_; }

  private:
    /// The file of a method while it is open.
    struct Open {
        MethodStorage& method;
        std::unique_ptr<ByteFile> file;
        std::unique_ptr<TransferQueue> queue;  ///< null for calls that wait
    };
    /// This rank's part in a treatment; seconds.
    struct RankResult {
        double total = 0;  ///< since the first rank's start
        double post = 0;
        double poll = 0;
        double wait = 0;
        double computing = 0;
        std::int64_t polls = 0;
        Status status;
    };

    void warm_up();
    bool warm_up(MethodStorage& method);
    void repeat(std::int64_t repetition);
    void measure(std::int64_t repetition, MethodStorage& method, bool write, std::size_t size,
                 Work& work);
    std::optional<Open> open(MethodStorage& method);
    void close(Open& open);
    void create(MethodStorage& method, Outcome& mine) const;
    void prepare(Open& open, bool write, std::size_t size);
    /// One access to the method's file.
    Cold cold_of(const MethodStorage& method) const;
    RankResult treat(Treatment treatment, Open& open, bool write, std::size_t size, Work* work,
                     const Polls& polls, double seconds);
    Status begin(Open& open, bool write, std::size_t size);
    void check(Open& open, bool write, std::size_t size, CellResult& cell, Outcome& mine);
    void sync(Open& open, Outcome& mine) const;
    /// Collective; false if a failure or a signal ends the run.
    bool go_on(const Outcome& mine, CellResult* cell = nullptr);
    void begin_step(const std::string& title, const MethodStorage& method, double seconds);
    std::string path_of(const MethodStorage& method) const { return target_.path(method.files, 0); }
    std::int64_t bytes_of(std::size_t size) const { return parameters_.transfers[size].count; }
    /// Offset of this rank's part of the file for a size.
    std::int64_t place_of(std::size_t size) const;
    std::span<std::byte> memory(std::size_t size) {
        return memory_.bytes().first(static_cast<std::size_t>(bytes_of(size)));
    }
    PointTimes& series_of(const Point& point);
    /// Requested length of a computation during the method's operation, from the warm-up.
    double& asked_of(const MethodStorage& method, bool write, std::size_t size);

    Job& job_;
    Session& session_;
    const Parameters& parameters_;
    const Target& target_;
    std::vector<MethodStorage> methods_;
    std::vector<Work>& works_;
    Observers<Observer> notify_;
    CommonClock common_;
    Buffer memory_;
    Buffer again_;  ///< what was written, read back
    std::vector<PointTimes> series_;
    struct Asked {
        Point point;
        double seconds = 0;
    };
    std::vector<Asked> asked_;
    RunLoop loop_;
    UntilCi until_ci_;
    std::uint64_t generation_ = 0;
    std::int64_t done_ = 0;  ///< cells
};

}  // namespace effio::overlap
