// SPDX-License-Identifier: BSD-3-Clause
#include "core/error.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>

namespace effio {
namespace {

constexpr std::array<ExitCodeInfo, 8> table{{
    {ExitCode::done, "done", "the run completed; a short or NOT VALID run is still done"},
    {ExitCode::data_errors, "data_errors",
     "the run completed, but data read back was wrong or an acceptance rule failed"},
    {ExitCode::usage, "usage", "the command line or an input file is wrong; nothing was run"},
    {ExitCode::io_error, "io_error", "storage reported an error; results before it are kept"},
    {ExitCode::interrupted, "interrupted",
     "stopped by a signal; the results up to then are complete and valid"},
    {ExitCode::hung, "hung", "no progress within the watchdog's limit; the job was ended"},
    {ExitCode::environment, "environment",
     "something is missing on the machine: no MPI, wrong launcher, missing library"},
    {ExitCode::results, "results",
     "the result file cannot be written or continued; what was measured is reported and kept "
     "elsewhere if possible"},
}};

// More severe last. An interruption outranks wrong data because the run is incomplete.
// The place of the results says least about the run itself.
constexpr std::array<ExitCode, 8> severity{
    ExitCode::done,  ExitCode::results,     ExitCode::data_errors, ExitCode::interrupted,
    ExitCode::usage, ExitCode::environment, ExitCode::io_error,    ExitCode::hung};

std::size_t rank_of(ExitCode code) {
    for (std::size_t i = 0; i < severity.size(); ++i) {
        if (severity[i] == code) return i;
    }
    return severity.size();
}

}  // namespace

std::span<const ExitCodeInfo> exit_codes() {
    return table;
}

std::string_view name(ExitCode code) {
    for (const auto& row : table) {
        if (row.code == code) return row.name;
    }
    return "unknown";
}

ExitCode worse(ExitCode a, ExitCode b) {
    return rank_of(a) >= rank_of(b) ? a : b;
}

std::string Error::text() const {
    std::string out;
    if (!operation.empty()) out += operation;
    if (!path.empty()) out += fmt::format("{}{}", out.empty() ? "" : " ", path);
    if (offset) out += fmt::format(" at byte {}", *offset);
    if (!out.empty()) out += ": ";
    out += cause;
    if (rank >= 0) {
        out += fmt::format(" (rank {}{}{})", rank, host.empty() ? "" : " on ", host);
    }
    return out;
}

void DeleteError::operator()(Error* error) const {
    const std::unique_ptr<Error> gone(error);
}

OwnedError owned(Error error) {
    return OwnedError(std::make_unique<Error>(std::move(error)).release());
}

Error usage_error(std::string cause) {
    Error error;
    error.exit_code = ExitCode::usage;
    error.cause = std::move(cause);
    return error;
}

Error environment_error(std::string operation, std::string cause) {
    Error error;
    error.exit_code = ExitCode::environment;
    error.operation = std::move(operation);
    error.cause = std::move(cause);
    return error;
}

Error io_error(std::string operation, std::string path, std::string cause) {
    Error error;
    error.operation = std::move(operation);
    error.path = std::move(path);
    error.cause = std::move(cause);
    return error;
}

Error system_error(std::string operation, std::string path, int code,
                   std::optional<std::int64_t> offset) {
    Error error = io_error(std::move(operation), std::move(path), "");
    std::array<char, 256> text{};
    // The GNU form of strerror_r returns the text; it is thread-safe, strerror is not.
    error.cause = strerror_r(code, text.data(), text.size());
    error.system_code = code;
    error.offset = offset;
    return error;
}

}  // namespace effio
