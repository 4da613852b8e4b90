// SPDX-License-Identifier: BSD-3-Clause
// The frame for studies with one stream a rank: the bytes, what is timed, and what is wrong in
// them.
#include <filesystem>

#include "core/pattern.hpp"
#include "frame/study/payload.hpp"
#include "frame_suite.hpp"

namespace effio::study {
namespace {

/// Rank r has 5000 + 7 r bytes in calls of 100, 2048, 2048 and the rest.
class StudyStreams : public StudyFrame {
  protected:
    static constexpr std::int64_t page = 4096;  ///< of the container: chunk and block
    static std::int64_t bytes_of(int rank) { return 5000 + 7 * rank; }
    std::int64_t largest() const { return bytes_of(ranks_ - 1); }
    std::int64_t in_all() const { return ranks_ * 5000 + 7 * ranks_ * (ranks_ - 1) / 2; }
    bool apart() const { return GetParam().own_files; }
    bool sion() const { return GetParam().backend == "sion"; }

    Definition streams(const std::vector<Pass>& passes) const {
        Definition study;
        study.name = "streams";
        Cell cell;
        cell.pattern = GetParam().name;
        cell.axes = {size_axis("call", 2048)};
        cell.ranks = ranks_;
        cell.file = "data";
        cell.files = apart() ? ranks_ : 1;
        cell.content = Content::stamped;
        cell.sync = Sync::none;
        cell.manner.waits = true;
        Streams of_all;
        of_all.request = 2048;
        of_all.first = 100;
        of_all.largest = largest();
        of_all.apart = apart();
        of_all.bytes = bytes_of;
        of_all.count(ranks_);
        cell.file_bytes = sion() ? of_all.sum_of_bytes : apart() ? largest() : end_of_shared();
        cell.manner.creates_apart = apart();
        cell.data = std::move(of_all);
        BackendChoice way;
        way.name = GetParam().backend;
        way.sion.chunk = way.sion.block = Bytes{page};
        cell.backend = way;
        for (const auto& pass : passes) {
            cell.passes = {pass};
            study.cells.push_back(cell);
        }
        return study;
    }
    std::int64_t end_of_shared() const { return (ranks_ - 1) * largest() + largest(); }

    Ending run_streams(const Definition& study, Notes& notes, bool keep = true) {
        Options options("posix");
        options.storage.directory = directory_.path();
        options.storage.keep = keep;
        options.storage.overwrite = true;
        Job job{session_, topology_, nullptr, [](const Json&) {}};
        const Ending ending = study::run(job, study, options, &notes);
        at_.comm.barrier();
        return ending;
    }

    std::string file_of(int rank) const {
        return directory_ / (apart() ? fmt::format("data.{:06d}", rank) : std::string("data"));
    }
    /// Where byte `position` of a rank's stream is in its file.
    std::int64_t place(int rank, std::int64_t position) const {
        if (apart()) return position;
        if (!sion()) return rank * largest() + position;
        // Docs: the chunks begin at the next block behind the head; a row holds one of each task.
        return page + (position / page * ranks_ + rank) * page + position % page;
    }
    char byte_at(int rank, std::int64_t position) const {
        std::ifstream in(file_of(rank), std::ios::binary);
        in.seekg(place(rank, position));
        return static_cast<char>(in.get());
    }
    void flip(int rank, std::int64_t position) const {
        const char right = byte_at(rank, position);
        std::fstream file(file_of(rank), std::ios::binary | std::ios::in | std::ios::out);
        file.seekp(place(rank, position));
        file.put(static_cast<char>(right ^ 1));
    }
};

TEST_P(StudyStreams, every_byte_has_its_place_and_is_reported) {
    Notes notes;
    const Ending ending = run_streams(streams({write_pass(), read_pass()}), notes);
    ASSERT_EQ(ending.status, ExitCode::done) << ending.reason;
    if (!at_.comm.is_root()) return;
    ASSERT_EQ(notes.results.size(), 2U);
    for (const auto& r : notes.results) {
        EXPECT_EQ(r.bytes, in_all());
        EXPECT_EQ(r.calls, 4 * ranks_);
        std::vector<std::string> parts;
        for (const auto& [name, spread] : r.seconds) parts.push_back(name);
        std::vector<std::string> expected{"total"};
        if (apart() && r.writing) expected.insert(expected.end(), {"create", "create_close"});
        expected.insert(expected.end(), {"open", "transfer", "close", "file_barrier",
                                         "global_barrier", "late", "agree"});
        EXPECT_EQ(parts, expected);
    }
    EXPECT_EQ(notes.results[1].verified_bytes, in_all());
    for (int rank = 0; rank < ranks_; ++rank) {
        const std::int64_t begin = apart() ? 0 : rank * largest();
        StampedBuffer data(StampedPattern(Payload::seed_of("data", 0) + 1,
                                          static_cast<std::uint64_t>(apart() ? rank : 0)),
                           static_cast<std::size_t>(bytes_of(rank)));
        const auto right = data.at(begin, static_cast<std::size_t>(bytes_of(rank)));
        for (const std::int64_t position : {std::int64_t{0}, std::int64_t{99}, std::int64_t{100},
                                            std::int64_t{4097}, bytes_of(rank) - 1}) {
            EXPECT_EQ(byte_at(rank, position),
                      static_cast<char>(right[static_cast<std::size_t>(position)]))
                << rank << " " << position;
        }
    }
    // A container of chunks of 4096 bytes has two rows, and behind them its tail: how many chunks
    // each task uses, and the bytes of each chunk.
    std::int64_t length = 0;
    for (int file = 0; file < (apart() ? ranks_ : 1); ++file) {
        length += static_cast<std::int64_t>(std::filesystem::file_size(file_of(file)));
    }
    const std::int64_t tasks = ranks_;
    const std::int64_t container = page + 2 * page * tasks + 3 * tasks * 8;
    EXPECT_EQ(length, sion() ? container : apart() ? in_all() : end_of_shared());
    ASSERT_TRUE(notes.results[0].on_disk);
    EXPECT_EQ(notes.results[0].on_disk->files, apart() ? ranks_ : 1);
    EXPECT_EQ(notes.results[0].on_disk->bytes, length);
    EXPECT_FALSE(notes.results[1].on_disk);
}

TEST_P(StudyStreams, a_flipped_bit_is_found_whoever_reads_it) {
    Notes notes;
    ASSERT_EQ(run_streams(streams({write_pass()}), notes).status, ExitCode::done);
    const int last = ranks_ - 1;
    if (at_.comm.is_root()) flip(last, 4321);
    at_.comm.barrier();
    for (const int shift : {0, 1}) {
        for (const bool alone : {false, true}) {
            Definition study = streams({read_pass()});
            study.cells.front().manner.shift = shift;
            study.cells.front().manner.opens_alone = alone;
            Notes seen;
            EXPECT_EQ(run_streams(study, seen).status, ExitCode::data_errors);
            if (!at_.comm.is_root()) continue;
            // The root must not leave the others alone in the next run.
            EXPECT_EQ(seen.results.size(), 1U);
            if (seen.results.empty() || seen.results[0].errors.empty()) {
                ADD_FAILURE() << "nothing was found";
                continue;
            }
            EXPECT_EQ(seen.results[0].error_count, 1);
            const Error& error = seen.results[0].errors[0];
            EXPECT_EQ(error.path, file_of(last));
            EXPECT_EQ(error.offset, (apart() ? 0 : last * largest()) + 4321);
            EXPECT_EQ(error.rank, (last - shift + ranks_) % ranks_);
        }
    }
    if (at_.comm.is_root()) std::filesystem::resize_file(file_of(last), 100);
    at_.comm.barrier();
    Notes seen;
    EXPECT_EQ(run_streams(streams({read_pass()}), seen).status, ExitCode::io_error);
}

TEST_P(StudyStreams, alternately_twice_and_removed) {
    Definition study = streams({write_pass(), read_pass()});
    study.cells.front().passes = {write_pass(), write_pass("re-write")};
    for (auto& cell : study.cells) cell.manner.at_a_time = 1;
    study.cells.back().manner.unlinks = true;
    Notes notes;
    const Ending ending = run_streams(study, notes, false);
    ASSERT_EQ(ending.status, ExitCode::done) << ending.reason;
    if (!at_.comm.is_root()) return;
    ASSERT_EQ(notes.results.size(), 3U);
    EXPECT_EQ(notes.results[1].pass.name, "re-write");
    for (const auto& r : notes.results) {
        const auto has = [&](const char* part) {
            return std::any_of(r.seconds.begin(), r.seconds.end(),
                               [&](const auto& s) { return s.name == part; });
        };
        EXPECT_TRUE(has("turn"));
        EXPECT_EQ(has("unlink"), !r.writing);
        EXPECT_EQ(r.bytes, in_all());
    }
    EXPECT_EQ(notes.results[2].verified_bytes, in_all());
    EXPECT_FALSE(std::ifstream(file_of(0)).good());
}

Case way(const char* name, const char* backend, bool apart) {
    return {name, backend, Through::offsets, false, Content::stamped, {}, {}, apart};
}

INSTANTIATE_TEST_SUITE_P(Streams, StudyStreams,
                         testing::Values(way("apart", "posix", true), way("shared", "posix", false),
                                         way("mpiio", "mpiio", false), way("sion", "sion", false)),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace effio::study
