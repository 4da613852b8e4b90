// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/results.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>

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

/// The `end` line of a rank that is not the writer; the writer may have been stopped in the middle
/// of a line.
void append_end(int fd, const std::string& path, const End& end, bool after_half_a_line) {
    Json line;
    line["schema"] = result_schema;
    line["kind"] = "end";
    line["seq"] = nullptr;  // only the writer numbers lines
    const Json body = end.to_json();
    for (const auto& [key, value] : body.items()) line[key] = value;
    const std::string text = (after_half_a_line ? "\n" : "") +
                             line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    if (::write(fd, text.data(), text.size()) < 0) {
        fmt::print(stderr, "effio: {}\n",
                   system_error("write the result file", path, errno).text());
    }
}

}  // namespace

std::string utc_now() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", utc());
}

Result<std::unique_ptr<FileSink>> FileSink::create(const std::string& path) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0) {
        Error error = system_error("create the result file", path, errno);
        if (error.system_code == EEXIST) {
            error.exit_code = ExitCode::usage;
            error.cause = "exists already; results are never overwritten";
        }
        return error;
    }
    return std::unique_ptr<FileSink>(new FileSink(fd, path));
}

FileSink::~FileSink() {
    ::close(descriptor_);
}

void FileSink::line(std::string_view text) {
    while (!text.empty()) {
        const ssize_t n = ::write(descriptor_, text.data(), text.size());
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            if (!failed_) {
                const Error error = system_error("write the result file", path_, errno);
                fmt::print(stderr, "effio: {}; results from here on are not in it\n", error.text());
            }
            failed_ = true;
            return;
        }
        text.remove_prefix(static_cast<std::size_t>(n));
    }
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

void Results::end_from_any_rank(const End& end) {
    const int fd = ::open(path_.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
    if (fd < 0) return;  // another node's file system: stderr has the message
    flock(fd, LOCK_EX);  // several ranks may want the last word
    std::string tail(65536, '\0');
    const off_t size = lseek(fd, 0, SEEK_END);
    const off_t from =
        size > static_cast<off_t>(tail.size()) ? size - static_cast<off_t>(tail.size()) : 0;
    const ssize_t n = pread(fd, tail.data(), tail.size(), from);
    tail.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    if (tail.find("\"kind\":\"end\"") == std::string::npos) {
        if (writer_) {
            recorder_->end(end);
        } else {
            append_end(fd, path_, end, !tail.empty() && tail.back() != '\n');
        }
    }
    ::close(fd);
}

}  // namespace effio
