// SPDX-License-Identifier: BSD-3-Clause
// Files that the engine writes for people and programs: results, logs, tables and the texts of the
// classic formats. Data files of benchmarks are opened by `open_file` (storage/posix_calls.hpp).
//
// Somebody else may have put a link, a FIFO or a device under the name. Nothing is written through
// it: a file is either created here, under a free name, or takes the name by a rename.
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

    /// Each of these returns an error that names `operation`, path and cause.

    /// Creates the file; EEXIST if the name is taken.
    static Result<TextFile> create(const std::string& operation, const std::string& path);
    /// Creates an empty file that takes the name from the file that has it now. Such a file keeps
    /// its bytes under its other names; the new one gets its permissions. A link, FIFO or
    /// directory under the name is an error; a character device below /dev is written to.
    static Result<TextFile> replace(const std::string& operation, const std::string& path);
    /// Opens a file of ours to add lines: a regular file with one name.
    static Result<TextFile> extend(const std::string& operation, const std::string& path);
    /// The same for a file that several processes create and write.
    static Result<TextFile> share(const std::string& operation, const std::string& path);

    explicit operator bool() const { return static_cast<bool>(file_); }
    int descriptor() const { return file_.get(); }
    /// Adds the whole text, or returns the system's error.
    Status write(std::string_view text);
    Status close();
    /// Gives up the descriptor.
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

/// Writes everything, repeating after short writes and interruptions; false with errno if the
/// system takes no more.
bool write_all(int descriptor, std::string_view text);

/// "a symbolic link", "a FIFO", …
const char* kind_of(mode_t mode);
/// The part of `path` before its last slash; "." if there is none.
std::string parent_of(const std::string& path);

}  // namespace effio
