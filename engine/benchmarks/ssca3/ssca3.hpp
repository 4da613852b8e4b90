// SPDX-License-Identifier: BSD-3-Clause
// SSCA #3 of the HPCS programme in its data I/O mode (docs/definitions/ssca3.md) on the frame for
// studies.
#pragma once

#include <memory>

#include "frame/benchmark.hpp"
#include "frame/study/study.hpp"

namespace effio::ssca3 {

/// How much one pipeline has; sizes of files in bytes.
struct Amounts {
    std::int64_t grid = 4;   ///< images are at grid x grid locations
    std::int64_t depth = 3;  ///< images of a location
    std::int64_t sequences = 15;
    std::int64_t detections = 26;  ///< files of a sequence
    std::int64_t templates = 12;
    Bytes raw_size{std::int64_t{1072} * 480 * 8};    ///< complex numbers of 64 bits
    Bytes image_size{std::int64_t{1144} * 756 * 4};  ///< real numbers of 32 bits
    Bytes template_size{std::int64_t{34} * 34 * 4};  ///< of a template and of a detection

    std::int64_t locations() const { return grid * grid; }
    std::int64_t images() const { return locations() * depth; }
    std::int64_t detection_files() const { return sequences * detections; }
    /// Raw data (one file an image), templates, images, detections.
    std::int64_t files() const { return 2 * images() + templates + detection_files(); }
    // Of stages 1 and 2, without what generates the data.
    std::int64_t bytes_read() const;
    std::int64_t bytes_written() const;
};

/// "test0", "test1", "test7GB": files and bytes as published, the rest is ours.
Amounts preset(const std::string& name);

struct Parameters : study::Options {
    Parameters() : Options("posix") {}

    std::string preset_name = "test0";
    std::optional<std::int64_t> grid;
    std::optional<std::int64_t> depth;
    std::optional<std::int64_t> sequences;
    std::optional<std::int64_t> detections;
    std::optional<std::int64_t> templates;
    std::optional<Bytes> raw_size;
    std::optional<Bytes> image_size;
    std::optional<Bytes> template_size;
    std::vector<Bytes> requests;
    bool own_chains = false;  ///< --pipelines=private
    std::int64_t seed = 1;
    std::string prefix = "ssca3";

    void declare(OptionTable& table);
    Status check();
    /// The preset with what was given in its place.
    Amounts amounts() const;
    bool is_preset() const;
};

Result<study::Definition> define(const Parameters& parameters, int ranks);

std::unique_ptr<Benchmark> make_benchmark();

}  // namespace effio::ssca3
