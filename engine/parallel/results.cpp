// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/results.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include "core/clock.hpp"
#include "parallel/stuck_calls.hpp"

namespace effio {
namespace {

/// Swallows what ranks other than the writer record.
class NoSink : public LineSink {
  public:
    void line(std::string_view) override {}
};

std::tm utc() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    return parts;
}

bool is_directory(const std::string& path) {
    struct stat info{};
    return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

/// Creates the file `where` names, or a fresh one in the directory it names.
Result<std::unique_ptr<FileSink>> create(const std::string& where, const std::string& benchmark,
                                         std::string& path) {
    if (!where.empty() && !is_directory(where) && !where.ends_with('/')) {
        path = where;
        return FileSink::create(path);
    }
    const std::string stem =
        fmt::format("{}{}effio-{}-{}", where, where.empty() || where.ends_with('/') ? "" : "/",
                    benchmark, fmt::format("{:%Y%m%dT%H%M%SZ}", utc()));
    for (int attempt = 1;; ++attempt) {
        path = attempt == 1 ? stem + ".jsonl" : fmt::format("{}-{}.jsonl", stem, attempt);
        auto sink = FileSink::create(path);
        if (sink || sink.error().system_code != EEXIST || attempt == 1000) return sink;
    }
}

/// Name of the file in which the results of `path` continue. The folder of a run says it
/// apart, the file in it has the same name in all.
std::string rescue_name(const std::string& path) {
    const auto whole = std::filesystem::absolute(path);
    return fmt::format("effio-rescued-{}-{}", whole.parent_path().filename().string(),
                       whole.filename().string());
}

/// Fills `bytes` from a file, which need no longer have a name; false if that is not possible.
bool read_at(int descriptor, std::span<char> bytes, std::int64_t offset) {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t n = pread(descriptor, bytes.data() + done, bytes.size() - done,
                                static_cast<off_t>(offset) + static_cast<off_t>(done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += static_cast<std::size_t>(n);
    }
    return true;
}

// A result may be longer than the memory that is left: it is read in pieces.
constexpr std::int64_t piece_bytes = std::int64_t{1} << 18;

/// Bytes of the complete lines; nothing if the file cannot be read.
std::optional<std::int64_t> bytes_of_lines(int descriptor) {
    struct stat info{};
    if (fstat(descriptor, &info) != 0) return {};
    std::string piece;
    for (std::int64_t end = info.st_size; end > 0;) {
        const std::int64_t begin = std::max<std::int64_t>(end - piece_bytes, 0);
        piece.resize(static_cast<std::size_t>(end - begin));
        if (!read_at(descriptor, piece, begin)) return {};
        const auto last = piece.rfind('\n');
        if (last != std::string::npos) return begin + static_cast<std::int64_t>(last) + 1;
        end = begin;
    }
    return 0;
}

/// The first bytes of a file into another one.
bool copy(int from, TextFile& to, std::int64_t bytes) {
    std::string piece;
    for (std::int64_t done = 0; done < bytes; done += std::ssize(piece)) {
        piece.resize(static_cast<std::size_t>(std::min(piece_bytes, bytes - done)));
        if (!read_at(from, piece, done) || !to.write(piece)) return false;
    }
    return true;
}

/// Whether `path` still leads to the file: else the name, or its file system, was removed.
bool is_at(int descriptor, const std::string& path) {
    struct stat here{};
    struct stat there{};
    return fstat(descriptor, &here) == 0 && stat(path.c_str(), &there) == 0 &&
           here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

/// Bytes; 0 where that cannot be known.
std::int64_t size_of(int descriptor) {
    struct stat found{};
    return fstat(descriptor, &found) == 0 ? found.st_size : 0;
}

/// A new file with the complete lines of the old one and one more line; empty if that fails. `path`
/// becomes the name of the new file.
Descriptor continued(int old, std::string& path, std::string_view text) {
    const auto lines = bytes_of_lines(old);
    const std::filesystem::path whole = path;
    auto to = TextFile::create("create", path);
    for (int attempt = 2; !to && to.error().system_code == EEXIST && attempt < 1000; ++attempt) {
        path = fmt::format("{}/{}-{}{}", whole.parent_path().string(), whole.stem().string(),
                           attempt, whole.extension().string());
        to = TextFile::create("create", path);
    }
    if (!to) return {};
    if (lines && copy(old, *to, *lines) && to->write(text)) return to->take();
    ::unlink(path.c_str());
    return {};
}

/// The `end` line of a rank that is not the writer; the writer may have been stopped in the middle
/// of a line.
void append_end(int fd, const std::string& path, const End& end, bool after_half_a_line) {
    Json line;
    line["schema"] = result_schema;
    line["kind"] = "end";
    line["seq"] = nullptr;  // only the writer numbers lines
    const Json body = end.to_json();
    for (const auto& [key, value] : body.items()) line[key] = value;
    const std::string text = (after_half_a_line ? "\n" : "") + json_line(line) + "\n";
    if (!write_all(fd, text)) {
        fmt::print(stderr, "effio: {}\n",
                   system_error("cannot write the result file", path, errno).text());
    }
}

/// The last bytes of a file.
std::string tail_of(int descriptor) {
    std::string tail(65536, '\0');
    const off_t size = lseek(descriptor, 0, SEEK_END);
    const off_t from =
        size > static_cast<off_t>(tail.size()) ? size - static_cast<off_t>(tail.size()) : 0;
    const ssize_t n = pread(descriptor, tail.data(), tail.size(), from);
    tail.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return tail;
}

}  // namespace

bool has_end_line(int descriptor) {
    return tail_of(descriptor).find("\"kind\":\"end\"") != std::string::npos;
}

bool lock_for(int descriptor, double seconds) {
    const double start = Clock::monotonic_seconds();
    while (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) return false;
        if (Clock::monotonic_seconds() - start >= seconds) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
}

std::string utc_now() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", utc());
}

Result<std::unique_ptr<FileSink>> FileSink::create(const std::string& path) {
    auto file = TextFile::create("cannot create the result file", path);
    if (!file) {
        Error error = std::move(file.error());
        error.exit_code = ExitCode::results;
        if (error.system_code == EEXIST) {
            error.exit_code = ExitCode::usage;
            error.cause = "exists already; results are never overwritten";
        }
        return error;
    }
    return std::unique_ptr<FileSink>(new FileSink(file->take(), path));
}

FileSink::~FileSink() = default;

/// Another rank gave up the run and wrote its `end`, and this one was only frozen: lines that come
/// after that end belong to no run.
bool FileSink::others_ended_it() const {
    return !moved_ && size_of(descriptor_.get()) > size_;
}

void FileSink::line(std::string_view text) {
    over_ = over_ || others_ended_it();
    if (failed_ || over_) return;  // behind a gap nothing can be read
    const bool written = write_all(descriptor_.get(), text);
    size_ = size_of(descriptor_.get());
    // What is written to a file without a name is lost when the run ends.
    if (written && is_at(descriptor_.get(), path_)) return;
    const Error error =
        written ? io_error("cannot write the result file", path_, "it was removed or renamed")
                : system_error("cannot write the result file", path_, errno);
    if (!moved_ && rescue(written ? std::string_view() : text)) {
        fmt::print(stderr, "effio-mpi: {}; all results are kept in {}\n", error.text(), path_);
        return;
    }
    failed_ = true;
    fmt::print(stderr, "effio-mpi: {}; results from here on are not in it\n", error.text());
}

/// Continues elsewhere with all lines until now and `text`.
bool FileSink::rescue(std::string_view text) {
    const char* temporary = std::getenv("TMPDIR");
    const std::array<std::string, 3> places{temporary != nullptr ? temporary : "", "/tmp",
                                            last_resort_};
    for (const std::string& place : places) {
        if (place.empty()) continue;
        std::string path = fmt::format("{}/{}", place, rescue_name(path_));
        Descriptor other = continued(descriptor_.get(), path, text);
        if (!other) continue;
        descriptor_ = std::move(other);
        path_ = std::move(path);
        moved_ = true;
        return true;
    }
    return false;
}

Result<std::unique_ptr<Results>> Results::open(const Comm& comm, const std::string& where,
                                               const std::string& benchmark) {
    auto results = std::make_unique<Results>();
    results->writer_ = comm.is_root();
    std::string failure;
    int code = static_cast<int>(ExitCode::done);
    if (results->writer_) {
        auto sink = create(where, benchmark, results->path_);
        if (sink) {
            results->sink_ = sink->get();
            results->recorder_ = std::make_unique<Recorder>(std::move(*sink));
        } else {
            failure = sink.error().text();
            code = static_cast<int>(sink.error().exit_code);
        }
    } else {
        results->recorder_ = std::make_unique<Recorder>(std::make_unique<NoSink>());
    }
    comm.broadcast(code);
    if (code != static_cast<int>(ExitCode::done)) {
        comm.broadcast(failure);
        Error error = io_error("", "", failure);
        error.exit_code = static_cast<ExitCode>(code);
        return error;
    }
    comm.broadcast(results->path_);
    return results;
}

std::unique_ptr<Results> Results::open_somewhere(const Comm& comm,
                                                 std::span<const std::string> places,
                                                 const std::string& benchmark) {
    std::string failures;
    std::size_t count = places.size();
    comm.broadcast(count);  // other ranks may see another environment
    for (std::size_t i = 0; i < count; ++i) {
        auto results = open(comm, comm.is_root() ? places[i] : "", benchmark);
        if (results) {
            if (!failures.empty()) {
                (*results)->remark_ = fmt::format("the result file is {}", (*results)->path_);
            }
            return std::move(*results);
        }
        if (!failures.empty()) failures += "; ";
        failures += results.error().cause;
    }
    auto results = std::make_unique<Results>();
    results->writer_ = comm.is_root();
    results->recorder_ = std::make_unique<Recorder>(std::make_unique<NoSink>());
    results->remark_ = fmt::format("there is no result file: {}", failures);
    return results;
}

void Results::discard() {
    // The path stays, because the sentinel's thread reads it.
    if (writer_ && !path_.empty()) ::unlink(path_.c_str());
}

void Results::end_from_any_rank(const End& end) {
    if (path_.empty()) return;
    const auto file = TextFile::extend("cannot write the result file", path_);
    if (!file) return;  // not visible on this node: the message is on stderr
    const int fd = file->descriptor();
    // Several ranks may try to end the run, and each must end although another one is stuck.
    lock_for(fd, 2);
    if (has_end_line(fd)) return;
    auto calls = take_stuck_calls(path_);
    End all = end;
    if (all.status == ExitCode::hung && !calls.empty()) {
        all.detail["calls"] = distinct_calls(std::move(calls));
    }
    if (writer_) {
        recorder_->end(all);
    } else {
        const std::string tail = tail_of(fd);
        append_end(fd, path_, all, !tail.empty() && tail.back() != '\n');
    }
}

}  // namespace effio
