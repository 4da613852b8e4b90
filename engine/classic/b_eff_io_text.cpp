// SPDX-License-Identifier: BSD-3-Clause
// The text of b_eff_io's .prot and .sum (docs/definitions/b-eff-io.md). Historic units: MB/s is
// 1e6 B/s, MBytes of memory and files are 2**20 B. Historic spelling, because parsers know it.
#include <fmt/format.h>
#include <fmt/printf.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "classic/b_eff_io.hpp"
#include "core/units.hpp"
#include "parallel/text_file.hpp"

namespace effio {
namespace {

using b_eff_io::Access;
using b_eff_io::all_accesses;
using b_eff_io::all_types;
using b_eff_io::index;
using b_eff_io::name;
using b_eff_io::PartitionResult;
using b_eff_io::Row;
using b_eff_io::RowResult;
using b_eff_io::RunResult;
using b_eff_io::Setup;
using b_eff_io::Type;

constexpr double invalid = -999.999;

double mb(double bytes_per_second) {
    return bytes_per_second / MB_per_s;
}
double million_bytes(std::int64_t bytes) {
    return static_cast<double>(bytes) / 1e6;
}
double mib(std::int64_t bytes) {
    return static_cast<double>(bytes) / static_cast<double>(MiB);
}

std::string error_suffix(std::int64_t errors) {
    return errors > 0 ? fmt::format(", with {} ERRORS --!--!--!--", errors) : "";
}

std::string header_text(const ClassicHeader& h, const Setup& s) {
    std::string out = "b_eff_io.c, Revision 2.1 from Dec. 12, 2001\n\n";
    out += fmt::sprintf(
        "MEMORY_PER_PROCESSOR = %4d MBytes  [1MBytes = 1024*1024 bytes, 1MB = 1e6 bytes]\n",
        s.memory_mib);
    out += fmt::sprintf("Maximum chunk size   = %8.3f MBytes\n\n", mib(s.lmax));
    out += "-N ";
    for (std::size_t i = 0; i < s.partitions.size(); ++i) {
        out += fmt::format("{}{}", i == 0 ? " " : ",", s.partitions[i]);
    }
    out += fmt::format(" T={}, MT={} MBytes", h.scheduled_seconds, s.total_memory_mib);
    if (!h.info_file.empty()) out += " -i " + h.info_file;
    if (h.noshared) out += ", -noshared";
    if (h.nounique) out += ", -nounique";
    if (h.rewrite) out += ", -rewrite";
    if (h.keep) out += ", -keep";
    if (h.adapt) out += ", -adapt (NOT ALLOWED FOR BENCHMARKING)";
    out += fmt::format("\nPATH={}, PREFIX={}\n", h.path, h.prefix);
    out += fmt::format(
        "       system name : {}\n       hostname    : {}\n       OS release  : {}\n"
        "       OS version  : {}\n       machine     : {}\n\nDate of measurement: {}\n\n\n",
        s.uname.system, s.uname.node, s.uname.release, s.uname.version, s.uname.machine, s.date);
    return out;
}

/// The value of a cell of the table.
double cell(const PartitionResult& p, Access access, const Row& row) {
    const auto& result = p.rows[index(access)][static_cast<std::size_t>(row.number)];
    if (!result || !result->valid || result->errors > 0) return invalid;
    return mb(result->rate());
}

bool shows_rewrite(const ClassicHeader& h, Access access, Type type) {
    return access != Access::rewrite || h.rewrite || type == Type::scatter;
}

std::string table_text(const ClassicHeader& h, const Setup& s, const PartitionResult& p) {
    std::string out =
        " number pos chunk-   access   type=0   type=1   type=2   type=3   type=4\n"
        " of PEs     size (l) methode scatter  shared  separate segmened seg-coll\n"
        "            [bytes]  methode  [MB/s]   [MB/s]   [MB/s]   [MB/s]   [MB/s]\n"
        " -----------------------------------------------------------------------\n\n";
    const auto rows = b_eff_io::row_table(s.lmax);
    for (const Access access : all_accesses) {
        for (int position = 1; position <= 7; ++position) {
            std::string line;
            for (const Row& row : rows) {
                if (row.position != position) continue;
                if (row.type == Type::scatter) {
                    line = fmt::sprintf("%4d PEs %1d %8d %-7s", p.ranks, position, row.chunk,
                                        std::string(name(access)));
                }
                line += shows_rewrite(h, access, row.type)
                            ? fmt::sprintf(" %8.3f", cell(p, access, row))
                            : std::string("        -");
            }
            out += line + "\n";
        }
        out += fmt::sprintf("%4d PEs      total-%-7s", p.ranks, std::string(name(access)));
        for (const Type type : all_types) {
            const auto& total = p.types[index(access)][index(type)];
            out += shows_rewrite(h, access, type)
                       ? fmt::sprintf(" %8.3f", total ? mb(total->rate()) : invalid)
                       : std::string("        -");
        }
        out += "\n\n";
    }
    return out;
}

std::string gnuplot_text(const ClassicHeader& h, const Setup& s, const PartitionResult& p) {
    std::string out = "(For gnuplot:)\n";
    out += fmt::format(
        "  set xtics ( '1k' 1, '+8' 2, '32k' 4, '+8' 5, '1M' 7, '+8' 8, '{}M' 10)\n"
        "  set title '{}' -4\n"
        "  set label 1 'b_eff_io'  at 10,50000 right\n"
        "  set label 2 'rel. 2.1'  at 10,25000 right\n",
        s.lmax / MiB, s.uname.text());
    out += fmt::sprintf("  set label 3 'T=%3.1fmin' at 10,12500 right\n",
                        s.budget.partition_seconds / 60);
    out += fmt::format("  set label 4 'n={}'     at 10,6250  right\n", p.ranks);
    if (h.noshared || !s.shared_pointer) {
        out +=
            "  set label 5 'workaround for type 1:'  at 10,0.50 right\n"
            "  set label 6 'individual file pointer' at 10,0.25 right\n";
    }
    return out;
}

/// b_eff_io of a partition in MB/s; 0 where there is none.
double partition_value(const PartitionResult& p) {
    return p.complete() && p.all_rows_valid() ? mb(p.effective_bandwidth()) : 0.0;
}

std::string partition_text(const ClassicHeader& h, const RunResult& run, std::size_t i) {
    const Setup& s = run.setup;
    const PartitionResult& p = run.partitions[i];
    const double minutes = s.budget.partition_seconds / 60;
    std::string out = fmt::sprintf(
        "\nSummary of file I/O bandwidth accumulated on %3d processes with %4d MByte/PE\n%s\n\n",
        p.ranks, s.memory_mib, std::string(77, '-'));
    out += table_text(h, s, p);
    out += "This table shows all results, except pattern 2 (scatter, l=1MBytes, L=2MBytes): \n";
    const auto rows = b_eff_io::row_table(s.lmax);
    out += fmt::sprintf("  bw_pat2= %8.3f MB/s write, %8.3f MB/s rewrite, %8.3f MB/s read\n\n",
                        cell(p, Access::write, rows[2]), cell(p, Access::rewrite, rows[2]),
                        cell(p, Access::read, rows[2]));
    out += gnuplot_text(h, s, p) + "\n";
    for (const Access access : all_accesses) {
        const auto& a = p.accesses[index(access)];
        out += fmt::sprintf("weighted average bandwidth for %-7s : %8.3f MB/s on %d processes\n",
                            std::string(name(access)), a ? mb(a->average) : invalid, p.ranks);
    }
    out += "(type=0 is weighted double)\n\n";
    std::int64_t amount = 0;  // of the last access that was reached
    for (const auto& a : p.accesses) {
        if (a) amount = a->bytes;
    }
    out += fmt::sprintf(
        "Total amount of data written/read with each access method: %8.3f MBytes\n"
        "  = %4.1f percent of the total memory (%d MBytes)\n\n",
        mib(amount),
        s.total_memory_mib > 0 ? 100 * mib(amount) / static_cast<double>(s.total_memory_mib) : 0.0,
        s.total_memory_mib);
    out += fmt::sprintf(
        "b_eff_io of these measurements = %8.3f MB/s on %d processes with %3d MByte/PE and "
        "scheduled time=%3.1f min%s\n\n",
        partition_value(p), p.ranks, s.memory_mib, minutes, error_suffix(p.errors));
    if (run.valid(i) && p.complete()) return out + "VALID for comparison of different systems\n";
    out += "NOT VALID for comparison of different systems\n";
    // The first three are the original's, in its words.
    const std::array<std::string, 3> original{
        fmt::format("scheduled time {:3.1f} min >= 30 min", minutes),
        "shared file pointers must be used for pattern type 1",
        fmt::format("error count ({}) == 0", p.errors)};
    std::size_t number = 0;
    for (const auto& c : run.criteria(i)) {
        const std::string& text = number < original.size() ? original.at(number) : c.text;
        out += fmt::format("  criterion {}: {} -- {}\n", ++number, text,
                           c.reached ? "reached" : "NOT reached");
    }
    if (!p.complete()) {
        out += fmt::format("  criterion {}: the run was completed -- NOT reached\n", ++number);
    }
    return out;
}

constexpr const char* table_head =
    "\n"
    "-----+---+------+----+--------+----------+----------+----------------+-------+-------------"
    "+-------+-------+------+-----+-----+-----+-----+----------------\n"
    "num. acc-| pat- |pat-|scheduled     chunk|     chunk|filename        | repeat|  transferred"
    "|  meas-|=sum of|time of meas.calls|last |last | measured       \n"
    "of   |ess| tern |tern|  time  |      size|      size|                | factor|   MB of this"
    "|  ured |   I/O |barr- |bcast|file-| I/O |barr.| bandwidth      \n"
    "PEs  |   | type |    | [sec]  |   on disk| in memory|                |       |      pattern"
    "|  time |       | ier  |     | sync|call |+bcst| of this pattern\n"
    "-----+---+------+----+--------+----------+----------+----------------+-------+-------------"
    "+-------+-------+------+-----+-----+-----+-----+----------------\n";

std::string hints_text(const Hints& hints) {
    std::string out;
    for (const auto& [key, value] : hints) out += fmt::format(" :: {} {}", key, value);
    return out;
}

class ClassicView : public b_eff_io::Observer {
  public:
    explicit ClassicView(ClassicHeader header) : header_(std::move(header)) {}

    void start(const Setup& setup) override {
        setup_ = setup;
        prot_ = opened(".prot");
        sum_ = opened(".sum");
        put(header_text(header_, setup));
        put_sum(header_text(header_, setup));
    }

    void access_begins(Access) override { put(table_head); }

    void file_opened(const b_eff_io::OpenedFile& f) override {
        if (header_.info_file.empty() || !f.has_hints) return;
        put(fmt::format("file_info on File_open : {} {} {} on_open{}\n", f.ranks, name(f.access),
                        name(f.type), hints_text(f.asked)));
    }

    void row(const RowResult& r) override {
        if (!header_.info_file.empty()) put_hints(r);
        const auto& t = r.times;
        std::string line = fmt::sprintf(
            "n=%-3d a=%d type=%d p=%2d Tp=%5.2f l=%8.0f L=%8.0f %-16s r=%5d S=%8.3f MB t=%5.2f "
            "=%6.3f+%6.3f+%5.3f+%5.3f %5.3f %5.3f bw=%8.3f MB/s",
            r.ranks, static_cast<int>(r.access), static_cast<int>(r.row.type), r.row.number,
            r.scheduled, static_cast<double>(r.row.chunk), static_cast<double>(r.row.memory),
            r.file, r.repetitions, million_bytes(r.bytes), t.total, t.calls(), t.barrier,
            t.broadcast, t.sync, t.last_call, t.last_vote, r.valid ? mb(r.rate()) : invalid);
        if (r.errors > 0) line += fmt::format(" {} ERRORS", r.errors);
        put(line + "\n");
    }

    void type(const b_eff_io::TypeResult& t) override {
        std::string line = fmt::sprintf(
            " total pattern type:  S=%7.3f MB  t=%4.2f t_op=%4.2f t_cl=%4.2f wbw=%8.3f MB/s "
            "b_eff_io_%s_%s=%8.3f MB/s",
            million_bytes(t.bytes), t.seconds, t.open, t.close, mb(t.weighted_rate),
            std::string(name(t.access)), std::string(name(t.type)), mb(t.rate()));
        if (t.segment > 0) line += fmt::sprintf(" Lseg=%1.0f MBytes", mib(t.segment));
        put(line + "\n");
    }

    void access(const b_eff_io::AccessResult& a) override {
        if (a.errors > 0) put(fmt::format(" ----- with {} ERRORS --!--!--!--!--", a.errors));
        put(fmt::sprintf(
            " total access method: S=%7.3f MB  t=%4.2f (Tn=%1.0fsec) bw=%8.3f MB/s, wbw=%8.3f "
            "MB/s, "
            "b_eff_io_%s=%8.3f MB/s\n",
            million_bytes(a.bytes), a.seconds, setup_.budget.partition_seconds, mb(a.rate()),
            mb(a.weighted_rate), std::string(name(a.access)), mb(a.average)));
    }

    void end(const RunResult& run) override {
        double best = 0;
        for (const auto& p : run.partitions) {
            const double t = p.seconds();
            put(fmt::sprintf(
                " total partition: n=%-3d S=%7.3f MB  t=%4.2f bw=%8.3f MB/s, "
                "wbw=%8.3f MB/s, b_eff_io=%8.3f MB/s\n",
                p.ranks, million_bytes(p.bytes()), t, t > 0 ? million_bytes(p.bytes()) / t : 0.0,
                mb(p.weighted_rate()), partition_value(p)));
            best = std::max(best, partition_value(p));
        }
        put(fmt::sprintf(" total execution time is %7.2f sec\n\n", run.execution_seconds));
        put(fmt::sprintf(" b_eff_io := maximum over all bw_partition = %8.3f MB/s\n", best));
        put(classic_final_line(run));
        const std::string sum = classic_sum(header_, run);
        put_sum(sum.substr(header_text(header_, setup_).size()));
        std::fputs(classic_final_line(run).c_str(), stdout);
        std::fflush(stdout);
    }

  private:
    /// The run continues without this text file, because effio's own result file has everything.
    static void complain_of(const Error& error) {
        fmt::print(stderr, "b_eff_io: {}\n", error.text());
    }
    TextFile opened(const char* suffix) const {
        auto made = TextFile::replace("can't write", header_.prefix + suffix);
        if (made) return std::move(*made);
        complain_of(made.error());
        return {};
    }
    /// Reports the first failure; the file gets no more text after it.
    static void put_into(TextFile& file, const std::string& text) {
        if (!file) return;
        if (auto written = file.write(text); !written) {
            complain_of(written.error());
            file = {};
        }
    }
    void put(const std::string& text) { put_into(prot_, text); }
    void put_sum(const std::string& text) { put_into(sum_, text); }

    void put_hints(const RowResult& r) {
        const std::string chunk =
            r.row.is_lmax ? std::string("    Lmax") : fmt::sprintf(" %7d", r.row.chunk);
        const std::string where = fmt::format("p{:02d}: {} {} {}{}", r.row.number, r.ranks,
                                              name(r.access), name(r.row.type), chunk);
        if (r.has_hints) {
            put(fmt::format("file_info File_{} {}{}\n", r.sets_view ? "view" : "info", where,
                            hints_text(r.asked)));
        }
        if (!r.granted.empty()) {
            put(fmt::format("file_info USED ON   {}{}\n", where, hints_text(r.granted)));
        }
    }

    ClassicHeader header_;
    Setup setup_;
    TextFile prot_;
    TextFile sum_;
};

}  // namespace

std::string classic_final_line(const RunResult& run) {
    const Setup& s = run.setup;
    const auto best = run.best();
    // Without any value the line names the last partition, the largest by default.
    const std::size_t i = best.value_or(run.partitions.size() - 1);
    const PartitionResult& p = run.partitions[i];
    std::string line = fmt::sprintf(
        "\n b_eff_io = %8.3f MB/s on %d processes with %3d MByte/PE, scheduled time=%3.1f Min, on "
        "%s",
        best ? partition_value(p) : 0.0, p.ranks, s.memory_mib, s.budget.partition_seconds / 60,
        s.uname.text());
    if (!best || !run.valid(i)) line += ", NOT VALID (see above)";
    return line + error_suffix(p.errors) + "\n";
}

std::string classic_sum(const ClassicHeader& header, const RunResult& run) {
    std::string out = header_text(header, run.setup);
    for (std::size_t i = 0; i < run.partitions.size(); ++i) out += partition_text(header, run, i);
    out += "\nMaximum over all number of PEs\n------------------------------\n\n";
    return out + classic_final_line(run);
}

std::unique_ptr<b_eff_io::Observer> make_classic_b_eff_io_view(ClassicHeader header) {
    return std::make_unique<ClassicView>(std::move(header));
}

}  // namespace effio
