// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/flash_io/result.hpp"

namespace effio::flash_io {

void Repetition::add(const FileRun& run) {
    verified_bytes += run.verified_bytes;
    wrong_values += run.error_count;
    if (!run.writing) {
        read_bytes += run.bytes;
        read_seconds += run.longest("total");
        return;
    }
    Part& part = parts[index(run.file)];
    ++part.files;
    part.bytes += run.bytes;
    part.hole_bytes += run.hole_bytes();
    part.seconds += run.counted_seconds;
    part.header += run.longest("header");
    part.unknown += run.longest("unknown");
    part.sync += run.longest("sync");
    part.close += run.longest("close");
    part.total += run.longest("total");
    if (granted.empty()) granted = run.granted;
}

std::string Summary::fault_text() const {
    std::string text;
    if (wrong_values > 0) text += "; " + count_of(wrong_values, "value") + " WRONG";
    if (incomplete > 0) text += "; " + count_of(incomplete, "repetition") + " INCOMPLETE";
    return text;
}

Summary::Summary(const std::vector<Repetition>& repetitions) {
    for (const auto& r : repetitions) {
        wrong_values += r.wrong_values;
        if (!r.complete) {
            ++incomplete;
            continue;
        }
        if (r.bytes() > 0) {
            rates.push_back(r.rate());
            synced_rates.push_back(r.synced_rate());
        }
        if (r.read_bytes > 0) read_rates.push_back(r.read_rate());
    }
}

}  // namespace effio::flash_io
