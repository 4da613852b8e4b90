// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/flash_io/result.hpp"

namespace effio::flash_io {
namespace {

double over(std::int64_t bytes, double seconds) {
    return seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
}

}  // namespace

void Repetition::add(const FileRun& run) {
    verified_bytes += run.verified_bytes;
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

std::int64_t Repetition::bytes() const {
    return parts[0].bytes + parts[1].bytes + parts[2].bytes;
}

double Repetition::seconds() const {
    return parts[0].seconds + parts[1].seconds + parts[2].seconds;
}

double Repetition::total_seconds() const {
    return parts[0].total + parts[1].total + parts[2].total;
}

double Repetition::rate() const {
    return over(bytes(), seconds());
}

double Repetition::synced_rate() const {
    return over(bytes(), total_seconds());
}

double Repetition::read_rate() const {
    return over(read_bytes, read_seconds);
}

double Repetition::io_fraction() const {
    const double all = total_seconds() + compute_seconds;
    return all > 0 ? total_seconds() / all : 0;
}

Summary::Summary(const std::vector<Repetition>& repetitions) {
    for (const auto& r : repetitions) {
        if (!r.complete) continue;
        if (r.bytes() > 0) {
            rates.add(r.rate());
            synced_rates.add(r.synced_rate());
        }
        if (r.read_bytes > 0) read_rates.add(r.read_rate());
    }
}

}  // namespace effio::flash_io
