// SPDX-License-Identifier: BSD-3-Clause
// Carries out one cell: its visit, part by part, and the outcome of each pass.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "frame/benchmark.hpp"
#include "frame/readable.hpp"
#include "frame/study/mover.hpp"
#include "frame/study/options.hpp"
#include "frame/study/result.hpp"
#include "parallel/agree.hpp"
#include "parallel/common_clock.hpp"
#include "parallel/topology.hpp"
#include "storage/target.hpp"

namespace effio::study {

/// The ranks of a cell.
struct CellRanks {
    Comm comm;
    /// The same ranks in the order of the run, where `comm` has another.
    std::optional<Comm> members;
    Topology topology;
    NodeOrder order;
    CommonClock common;

    explicit CellRanks(Comm group, std::optional<Comm> in_order = {})
        : comm(std::move(group)),
          members(std::move(in_order)),
          topology(find_topology(comm)),
          order(comm, topology),
          common(comm, topology) {}
    /// Whose root is the run's.
    const Comm& of_the_run() const { return members ? *members : comm; }
};

/// The backends of a study: the run's, and those that cells have for themselves.
class Backends {
  public:
    /// One backend: bytes, or a library of arrays with the storage that its files are on.
    struct Backend {
        std::unique_ptr<Storage> bytes = {};
        std::unique_ptr<ArrayLibrary> arrays = {};
        Storage& storage() const { return bytes != nullptr ? *bytes : arrays->storage(); }
    };
    /// Those of a definition, whose cells must outlive it. The run has none itself where
    /// its backend has no name.
    static Result<Backends> make(Job& job, const BackendChoice& run, const Definition& definition);

    Storage& of(const Cell& cell) const { return backend_of(cell).storage(); }
    /// Null where the cell's files are bytes.
    ArrayLibrary* arrays_of(const Cell& cell) const { return backend_of(cell).arrays.get(); }
    /// The run's, else that of some cell: all remove files alike.
    Storage& any() const { return (run_.bytes ? run_ : *own_.front()).storage(); }
    const Storage* run() const { return run_.bytes.get(); }
    bool real_files() const;

  private:
    const Backend& backend_of(const Cell& cell) const {
        const auto found = of_cells_.find(&cell);
        return found == of_cells_.end() ? run_ : *found->second;
    }
    Backend run_;
    std::vector<std::unique_ptr<Backend>> own_;
    std::map<const Cell*, const Backend*> of_cells_;
};

/// What a study works with; the same for all cells.
struct StudyContext {
    Job& job;
    const Options& options;
    const Target& target;
    const Backends& backends;
    // For cells past the cache: null if the file system has no O_DIRECT. `queued` is for several
    // calls in flight: null also if the kernel has no io_uring.
    Storage* direct;
    Storage* queued;
    const HintRules& hints;
    bool each_rank = false;  ///< results report single ranks

    /// The storage of a cell that goes past the cache.
    Storage* past_cache(const Cell& cell) const { return cell.in_flight() > 1 ? queued : direct; }
};

/// One cell in one repetition.
struct Visit {
    const Cell& cell;
    const FileSet& files;
    std::int64_t repetition = 0;
    bool create = false;              ///< the files are new
    std::uint64_t generation = 0;     ///< of what the files contain, before the first pass
    std::uint64_t data_run = 0;       ///< see Payload::seed_of
    std::vector<NextPass> next = {};  ///< by pass; without: one that reads
    bool foreign = false;             ///< this run does not write the files
};

/// Collective over the ranks of the cell. Wrong data are among a result's errors and do not make it
/// invalid; any other failure does, ends the visit, and leaves the file unclosed.
class Measure {
  public:
    Measure(const StudyContext& context, CellRanks& ranks, const Visit& visit);
    ~Measure();
    Measure(const Measure&) = delete;
    Measure& operator=(const Measure&) = delete;

    std::vector<PassResult> run();
    /// What all ranks of the cell know at the end.
    const Agreed& agreed() const { return agreed_; }

  private:
    struct Done;
    bool passes(std::vector<Done>& done);
    bool pass(Done& done, bool first, bool last);
    void cool(Cold& cold) const;
    VisitSteps steps(Done& done, bool first, bool last);
    Status move_in_turn(Done& done);
    void unlink(Done& last);
    std::vector<VisitSteps::Part> opening();
    Status check_size(Done& done) const;
    void check_memory(Done& done);
    void check_kept(Done& done);
    NextPass next_after(std::size_t pass) const;
    bool is_never_read() const;
    void read_again(Done& done);
    void check_before_it_is_overwritten(Done& done);
    std::int64_t bytes_read() const { return visit_.cell.bytes_read(owner_); }
    void note_wrong(Done& done, const Mismatch& wrong, const std::string& path) const;
    void save_calls(Done& done) const;
    PassResult sum_up(Done& done);
    void add_rank_results(const Done& done, PassResult& result) const;
    Batches batches(const Done& done, const PassResult& result) const;
    std::unique_ptr<Mover> make_mover() const;
    Session& session() const { return context_.job.session; }
    bool verifies() const;
    bool reads_own_metadata() const;
    /// Each rank of arrays has a separate file.
    bool apart() const { return visit_.cell.holds_arrays() && visit_.files.indexed; }

    const StudyContext& context_;
    CellRanks& ranks_;
    const Visit& visit_;
    Storage& storage_;
    int owner_;  ///< whose data this rank moves
    Addresses addresses_;
    std::optional<Comm> own_files_;  ///< the ranks of the same file, if not all
    std::string path_;               ///< of the file that holds this rank's data
    std::unique_ptr<RankContext> place_;
    std::unique_ptr<Mover> mover_;
    Payload payload_;
    std::uint64_t generation_;
    Agreed agreed_;
};

}  // namespace effio::study
