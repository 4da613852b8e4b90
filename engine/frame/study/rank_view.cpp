// SPDX-License-Identifier: BSD-3-Clause
// Single ranks of a study as a CSV file.
#include <fmt/format.h>

#include "frame/study/views.hpp"

namespace effio::study {
namespace {

class RankView : public Observer {
  public:
    RankView(RankCsv& file, Outcome& outcome) : file_(file), outcome_(outcome) {}

    void pass(const PassResult& r) override {
        if (outcome_.error) return;
        std::string axes;
        for (const auto& axis : r.cell->axes) {
            axes += "," + (axis.value.is_string() ? axis.text : json_line(axis.value));
        }
        std::string lines;
        for (const auto& one : r.each) {
            lines +=
                fmt::format("{},{},{}{},{},{},{:.0f},{:.9f},{:.9f},{:.3f}\n", r.cell->pattern,
                            r.pass.name, number_of(r.repetition), axes, one.rank, one.host,
                            one.bytes, one.total, one.transfer, rate_of(one.bytes, one.transfer));
        }
        if (auto added = file_.add(lines); !added) outcome_.fail(std::move(added.error()));
    }

  private:
    RankCsv& file_;
    Outcome& outcome_;
};

}  // namespace

std::string rank_csv_header(const Definition& definition) {
    std::string header = "pattern,access,repetition";
    for (const auto& axis : definition.cells.front().axes) header += "," + axis.name;
    return header +
           ",rank,host,bytes,total_seconds,transfer_seconds,transfer_rate_bytes_per_second";
}

std::unique_ptr<Observer> make_rank_view(RankCsv& file, Outcome& outcome) {
    return std::make_unique<RankView>(file, outcome);
}

}  // namespace effio::study
