// SPDX-License-Identifier: BSD-3-Clause
// Outcomes of the passes of a study, and its figures over the repetitions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/batches.hpp"
#include "core/evidence.hpp"
#include "core/fields.hpp"
#include "core/record.hpp"
#include "core/stats.hpp"
#include "frame/observers.hpp"
#include "frame/study/cell.hpp"
#include "frame/visit.hpp"
#include "parallel/over_ranks.hpp"
#include "parallel/session.hpp"

namespace effio::study {

/// One rank of a pass.
struct RankLine {
    std::string host;
    double bytes = 0;
    double total = 0;  ///< seconds
    double transfer = 0;
    int rank = 0;  ///< of the run
    std::int64_t calls = 0;
    std::vector<NamedNumber> seconds;  ///< of the parts
    // After each part, where the ranks wait (Manner::waits):
    std::vector<NamedNumber> file_waits;
    std::vector<NamedNumber> global_waits;
};

/// A file that a cell removed (Manner::unlinks).
struct RemovedFile {
    std::string path;
    double seconds = 0;
    int rank = 0;  ///< that removed it
};

/// One pass of one cell; the same on all ranks of the cell. Seconds of parts are those of the
/// visit: the first pass has its open, the last one its close.
struct PassResult : VisitResult {
    const Cell* cell = nullptr;
    Pass pass;
    std::int64_t repetition = 0;
    int nodes = 1;
    std::string call;  ///< that moved the data
    std::string backend;
    // Bytes of all ranks, by what was compared with what had been written.
    bool verifies = false;
    std::int64_t timed_reads = 0;     ///< as the timed calls put them into memory
    std::int64_t second_reads = 0;    ///< as an untimed read found them
    std::int64_t not_verifiable = 0;  ///< written, and overwritten before anything read them
    std::int64_t files = 0;           ///< visited, of items; else 0
    /// For the parts in the same order: variance of the ranks' seconds, n-1 in the denominator.
    std::vector<double> variance;
    Spread rank_rates;  ///< bytes per second of each rank's own calls
    RankValue slowest;  ///< seconds in its calls
    RankValue fastest;
    Batches batches;  ///< of the calls; slices that all ranks did together
    // After each part, where the ranks wait (Manner::waits):
    PartTimes file_waits;    ///< for the ranks of the same file
    PartTimes global_waits;  ///< for all, after that
    // On the root, if requested:
    std::vector<RankLine> each;
    std::vector<RemovedFile> removed;

    /// What was compared, in words.
    std::string checked() const;
    /// Over the slowest rank's calls alone.
    double transfer_rate() const { return rate_of(bytes, longest("transfer")); }
    double file_rate() const { return static_cast<double>(files) / counted_seconds; }
    Json variances() const;  ///< by part
    Measurement to_measurement(const std::string& benchmark) const;
};

/// A measurement's detail.
const Fields<PassResult>& pass_fields();

/// The rate that others are compared with.
struct Peak {
    double rate = 0;
    bool given = false;           ///< by the user, not measured
    std::vector<double> values;   ///< of the repetitions, in their order; empty if given
    std::string where_text = {};  ///< of the cell that measured it
    std::string fault_text = {};
    Json where = Json::object();
};

/// A pass over the repetitions.
struct Mean {
    const Cell* cell = nullptr;
    Pass pass;
    Samples rates;                          ///< of valid repetitions; bytes per second
    std::map<std::int64_t, double> rounds;  ///< the same by repetition
    Samples transfer_rates;
    Samples synced_rates;            ///< with the flush
    Samples seconds;                 ///< that the rate counts
    std::int64_t hole_bytes = 0;     ///< of the files last written
    bool flushed = false;            ///< those, in a separate part
    std::vector<double> file_rates;  ///< files per second, of items
    std::int64_t invalid = 0;        ///< repetitions, which no rate counts
    std::int64_t wrong = 0;          ///< pieces or values, found by this pass
    StorageShare storage_share;      ///< of the bytes of valid repetitions
    std::optional<double> holes;     ///< the largest share of bytes read that were never written
    std::map<std::int64_t, double> round_seconds;       ///< that the rate counts, by repetition
    std::map<std::int64_t, double> round_synced_rates;  ///< with the flush, by repetition
    std::string backend;
    // Filled by Means::list.
    std::int64_t wrong_in_cell = 0;  ///< in its files, by any pass: reads find what writes did
    std::optional<Peak> peak;
    std::optional<double> speed_up;  ///< over the same with `from_ranks`, the fewest
    /// Speed-up divided by the growth of the ranks, if the two rates are known and differ.
    std::optional<double> efficiency;
    std::string no_efficiency;  ///< why `efficiency` has no value
    int from_ranks = 0;

    /// Rate as a share of the peak.
    std::optional<double> share() const {
        return peak ? std::optional(rates.mean() / peak->rate) : std::nullopt;
    }
    /// Share of the bytes of all repetitions; empty if it is not known.
    std::optional<double> storage_fraction() const;
    Whereabouts whereabouts() const;
    /// "on storage".
    std::string evidence_text() const;
    /// Wrong data and repetitions without a rate, for statements of this rate; empty if there are
    /// neither.
    std::string fault_text() const;
    /// Above by more than rounding errors.
    bool is_above_peak() const {
        constexpr double digits = 1e-6;
        return peak && *share() > 1 + digits;
    }
    /// Why the rate is above the peak. A cache is named only if the rate's evidence shows it.
    std::string above_peak() const;

    /// The valid rates in the order in which they were measured.
    std::vector<double> values() const;
    /// Name of the figure that is this rate.
    std::string_view figure_name() const { return cell->is_peak ? "peak" : "bandwidth"; }
    /// Coordinates with pattern and access.
    Json where() const;
    std::string where_text() const;
};

/// For people: the passes with wrong data or failed repetitions, a line each; empty if there are
/// none.
std::string faults_of(const std::vector<Mean>& means);

/// A Throughput at one place.
struct Flow {
    const Throughput* what = nullptr;
    Json where = Json::object();
    std::string where_text;
    std::vector<double> values = {};      ///< of the repetitions that did all of the passes
    std::string fault_text = {};          ///< of the first pass that has one
    std::optional<double> value() const;  ///< their mean
};

class Means {
  public:
    explicit Means(const Definition& definition) : definition_(definition) {}
    void add(const PassResult& result);
    /// Means in the order of the cells, those that are the peak included.
    std::vector<Mean> list() const;
    /// The study's throughputs, from the means that list() gave.
    std::vector<Flow> flows(const std::vector<Mean>& means) const;
    /// The highest measured rate of each kind of access (writing, reading, modifying). Rates whose
    /// bytes were on storage come before all others.
    static std::vector<const Mean*> best(const std::vector<Mean>& means);
    /// The lowest rate of the same access as `best`, chosen among the same rates.
    static const Mean* weakest(const std::vector<Mean>& means, const Mean& best);

  private:
    std::optional<Peak> peak_of(const Mean& mean) const;
    std::int64_t wrong_in_cell(const Mean& mean) const;
    void compare_with_fewest(std::vector<Mean>& all) const;

    const Definition& definition_;
    std::map<std::pair<std::size_t, std::string>, Mean> means_;  ///< by cell and pass
};

/// Sees a run from the root.
class Observer : public Interface {
  public:
    virtual void start(const Session&) {}
    virtual void pass(const PassResult&) {}
    virtual void end(const std::vector<Mean>&, const std::vector<Flow>&) {}
    /// Results report single ranks.
    virtual bool wants_ranks() const { return false; }
};

}  // namespace effio::study
