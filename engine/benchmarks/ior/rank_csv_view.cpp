// SPDX-License-Identifier: BSD-3-Clause
// Bytes and times of single ranks, with the columns of IOR's saveRankPerformanceDetailsCSV.
#include <fmt/format.h>

#include "benchmarks/ior/views.hpp"

namespace effio::ior {

const char* const rank_csv_header =
    "access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput";

namespace {

class RankCsvView : public Observer {
  public:
    RankCsvView(RankCsv& file, Outcome& outcome) : file_(file), outcome_(outcome) {}

    void phase(const PhaseResult& r) override {
        if (outcome_.error) return;
        std::string lines;
        int rank = 0;
        for (const auto& d : r.rank_details) {
            lines += fmt::format("{},{},{:.10e},{:.10e},{:.10e},{:.10e}\n", name(r.access), rank++,
                                 d.total, d.transfer, rate_of(d.bytes, d.total),
                                 rate_of(d.bytes, d.transfer));
        }
        if (auto added = file_.add(lines); !added) outcome_.fail(std::move(added.error()));
    }

  private:
    RankCsv& file_;
    Outcome& outcome_;
};

}  // namespace

std::unique_ptr<Observer> make_rank_csv_view(RankCsv& file, Outcome& outcome) {
    return std::make_unique<RankCsvView>(file, outcome);
}

}  // namespace effio::ior
