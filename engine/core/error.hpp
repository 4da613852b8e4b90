// SPDX-License-Identifier: BSD-3-Clause
// Errors as values, and the one table of exit codes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace effio {

/// What a run ends with. All ranks exit with the one agreed code.
enum class ExitCode : int {
    done = 0,
    data_errors = 1,
    usage = 2,
    io_error = 3,
    interrupted = 4,
    hung = 5,
    environment = 6,
    results = 7,
};

struct ExitCodeInfo {
    ExitCode code;
    std::string_view name;     ///< as the `end` line of a result file spells it
    std::string_view meaning;  ///< one sentence for the documentation and `--help`
};

std::span<const ExitCodeInfo> exit_codes();
std::string_view name(ExitCode code);

/// The more severe of two outcomes: what stopped the run outranks what was merely found wrong in
/// it.
ExitCode worse(ExitCode a, ExitCode b);

/// One failure: what was tried, where, and why it failed.
struct Error {
    ExitCode exit_code = ExitCode::io_error;
    std::string operation;               ///< the call, e.g. "MPI_File_write_all"
    std::string cause;                   ///< the library's or system's own words, or ours
    std::string path;                    ///< the file or directory; empty if none
    std::optional<std::int64_t> offset;  ///< bytes from the start of the file (or of the view)
    int system_code = 0;                 ///< errno; 0 if the failure has none
    int mpi_class = 0;                   ///< MPI error class; 0 if the failure has none
    int rank = -1;                       ///< world rank; -1 before MPI_Init
    std::string host;

    /// One line for people: operation, path, offset, cause, rank and host.
    std::string text() const;
};

Error usage_error(std::string cause);
Error environment_error(std::string operation, std::string cause);
Error io_error(std::string operation, std::string path, std::string cause);
/// An I/O error that the operating system named; `code` is errno.
Error system_error(std::string operation, std::string path, int code,
                   std::optional<std::int64_t> offset = {});

/// Out of line: no code that destroys an error is in a loop that measures.
struct DeleteError {
    void operator()(Error* error) const;
};
using OwnedError = std::unique_ptr<Error, DeleteError>;
OwnedError owned(Error error);

/// A value or the reason why there is none. The error lives on the heap, so that a call that went
/// well hands a few words through the layers and not the room for an error: the loops that measure
/// pass one for every operation.
template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value) : value_(std::move(value)) {}
    Result(Error error) : error_(owned(std::move(error))) {}

    explicit operator bool() const { return error_ == nullptr; }
    T& value() { return value_.value(); }
    const T& value() const { return value_.value(); }
    T& operator*() { return value(); }
    const T& operator*() const { return value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }
    Error& error() { return *error_; }
    const Error& error() const { return *error_; }

  private:
    std::optional<T> value_;
    OwnedError error_;
};

/// Success or an error.
template <>
class [[nodiscard]] Result<void> {
  public:
    Result() = default;
    Result(Error error) : error_(owned(std::move(error))) {}

    explicit operator bool() const { return error_ == nullptr; }
    Error& error() { return *error_; }
    const Error& error() const { return *error_; }

  private:
    OwnedError error_;
};

using Status = Result<void>;

}  // namespace effio
