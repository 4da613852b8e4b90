// SPDX-License-Identifier: BSD-3-Clause
// What all studies show: lines of the result file, and tables whose columns are the axes.
#pragma once

#include <memory>

#include "frame/rank_csv.hpp"
#include "frame/study/options.hpp"
#include "frame/study/result.hpp"
#include "parallel/agree.hpp"
#include "parallel/session.hpp"

namespace effio::study {

std::unique_ptr<Observer> make_record_view(Recorder& recorder, const Definition& definition);
std::unique_ptr<Observer> make_console_view(Console& console, const Definition& definition,
                                            const std::string& result_path);
/// What the root sees of single ranks, as lines of a file; its failure goes to `outcome`.
std::string rank_csv_header(const Definition& definition);
std::unique_ptr<Observer> make_rank_view(RankCsv& file, Outcome& outcome);
/// The study as the run line says it: axes, what the rate counts, the peak.
/// The study's part of the run line.
Json describe(const Definition& definition, const std::string& verified, const ByteCap& cap);

}  // namespace effio::study
