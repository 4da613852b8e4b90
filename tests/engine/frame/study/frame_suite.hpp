// SPDX-License-Identifier: BSD-3-Clause
// What the tests of the frame for studies share: cases, and a run of one in a fresh directory.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "../../shared_directory.hpp"
#include "../../test_session.hpp"
#include "core/pattern.hpp"
#include "frame/study/payload.hpp"
#include "frame/study/study.hpp"
#include "parallel/topology.hpp"

namespace effio::study {

struct Case {
    std::string name;
    std::string backend;
    Through through = Through::offsets;
    bool collective = false;
    Content content = Content::words;
    /// Of this many ranks: what each moves, and the file's length.
    std::function<Addresses(int rank, int ranks)> addresses;
    std::function<std::int64_t(int ranks)> file_bytes;
    bool own_files = false;
    std::int64_t memory_spacing = 0;
    bool overlaps = false;
};

inline std::ostream& operator<<(std::ostream& out, const Case& c) {
    return out << c.name;
}

/// Keeps what a run reports.
class Notes : public Observer {
  public:
    void pass(const PassResult& result) override { results.push_back(result); }
    void end(const std::vector<Mean>& all, const std::vector<Flow>& all_flows) override {
        means = all;
        flows = all_flows;
    }
    std::vector<PassResult> results;
    std::vector<Mean> means;
    std::vector<Flow> flows;
};

class StudyFrame : public testing::TestWithParam<Case> {
  protected:
    StudyFrame()
        : directory_(at_.comm),
          notes_(at_.comm),
          topology_(find_topology(at_.comm)),
          results_(std::move(*Results::open(at_.comm, notes_.path(), "frame"))),
          session_(at_.clock, at_.comm, at_.progress, *results_, at_.console, at_.stop),
          ranks_(at_.comm.size()) {
        session_.world_rank = at_.comm.rank();
    }

    Definition definition(const std::vector<Pass>& passes) const {
        const Case& c = GetParam();
        Definition study;
        study.name = "frame";
        Cell cell;
        cell.pattern = c.name;
        cell.axes = {size_axis("piece", c.addresses(0, ranks_).piece())};
        cell.ranks = ranks_;
        cell.files = c.own_files ? ranks_ : 1;
        cell.file = "data";
        cell.file_bytes = c.file_bytes(ranks_);
        cell.data = Pieces{[c, ranks = ranks_](int rank) { return c.addresses(rank, ranks); },
                           {},
                           c.overlaps,
                           c.memory_spacing,
                           c.through};
        cell.collective = c.collective;
        cell.content = c.content;
        cell.sync = Sync::none;
        for (const auto& pass : passes) {
            cell.passes = {pass};
            study.cells.push_back(cell);
        }
        return study;
    }

    Ending run(const Definition& study, Notes& notes, bool keep = true,
               std::int64_t repetitions = 1) {
        Options options(GetParam().backend);
        options.storage.directory = directory_.path();
        options.storage.keep = keep;
        options.storage.overwrite = true;
        options.repetitions = repetitions;
        Job job{session_, topology_, nullptr, [](const Json&) {}};
        return study::run(job, study, options, &notes);
    }

    std::string path(int file) const {
        return directory_ / (GetParam().own_files && ranks_ > 1 ? fmt::format("data.{:03d}", file)
                                                                : std::string("data"));
    }
    std::string read_file(int file) const {
        std::ifstream in(path(file), std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    /// The seed of the data that the first pass writes.
    static std::uint64_t of_first_generation() { return Payload::seed_of("data", 0) + 1; }
    /// What the first pass writes there.
    std::string of_first_pass(int file, std::int64_t offset, std::size_t bytes) const {
        std::string expected(bytes, '\0');
        const auto memory = std::as_writable_bytes(std::span(expected));
        if (GetParam().content == Content::words) {
            Pattern(of_first_generation(), static_cast<std::uint64_t>(file)).fill(memory, offset);
        } else {
            StampedBuffer data(
                StampedPattern(of_first_generation(), static_cast<std::uint64_t>(file)), bytes);
            const auto from = data.at(offset, bytes);
            std::copy(from.begin(), from.end(), memory.begin());
        }
        return expected;
    }
    /// Root only.
    void write_file(int file, const std::string& bytes) const {
        std::ofstream out(path(file), std::ios::binary | std::ios::trunc);
        out << bytes;
    }

    TestSession at_;
    SharedDirectory directory_;
    SharedDirectory notes_;  ///< of the result file
    Topology topology_;
    std::unique_ptr<Results> results_;
    Session session_;
    int ranks_;
};

}  // namespace effio::study
