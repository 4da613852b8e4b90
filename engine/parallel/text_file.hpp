// SPDX-License-Identifier: BSD-3-Clause
// Text files that the engine writes: results, logs, tables and the output of classic formats. Data
// files of benchmarks are opened by `open_file` (storage/posix_calls.hpp).
//
// Another user may have created a link, a FIFO or a device with the file's name. The engine never
// writes through it: it creates a file only if the name is free, or renames a new file to the name.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "parallel/descriptor.hpp"

namespace effio {

class TextFile {
  public:
    TextFile() = default;

    /// Errors of the functions below name `operation`, the path and the cause.

    /// Creates the file; EEXIST if the name exists.
    static Result<TextFile> create(const std::string& operation, const std::string& path);
    /// Creates an empty file that replaces the file with this name. The new file gets the
    /// permissions of the old one, which is unchanged under its other names. A link, FIFO or
    /// directory with this name is an error; a character device below /dev is written to.
    static Result<TextFile> replace(const std::string& operation, const std::string& path);
    /// Opens an existing file to append lines; it must be a regular file with one name.
    static Result<TextFile> extend(const std::string& operation, const std::string& path);
    /// The same for a file that several processes create and append to.
    static Result<TextFile> share(const std::string& operation, const std::string& path);

    explicit operator bool() const { return static_cast<bool>(file_); }
    int descriptor() const { return file_.get(); }
    /// Appends the whole text, or returns the system's error.
    Status write(std::string_view text);
    Status close();
    /// Releases the descriptor to the caller.
    Descriptor take() { return std::move(file_); }

  private:
    TextFile(Descriptor file, std::string operation, std::string path)
        : file_(std::move(file)), operation_(std::move(operation)), path_(std::move(path)) {}

    Descriptor file_;
    std::string operation_;
    std::string path_;
};

/// Creates or replaces a file with this content.
Status write_text(const std::string& operation, const std::string& path, std::string_view text);

/// Writes the whole text, and continues after short writes and interruptions. Returns false and
/// sets errno if a write fails.
bool write_all(int descriptor, std::string_view text);

/// "a symbolic link", "a FIFO", …
const char* kind_of(mode_t mode);
/// The part of `path` before its last slash; "." if there is none.
std::string parent_of(const std::string& path);

}  // namespace effio
