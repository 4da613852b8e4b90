// SPDX-License-Identifier: BSD-3-Clause
// Streams of a container, and values in them, copied to somewhere else.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "storage/sion/container.hpp"

namespace effio::sion {

/// Takes the next bytes of a stream.
using Sink = std::function<Status(std::span<const std::byte>)>;

/// The task's stream, or one chunk of it, from 0 on.
Status copy(const Container& container, const Container::Task& task,
            std::optional<std::int64_t> chunk, const Sink& sink);

/// What the task wrote under the key. An error if it has no such key.
Status copy_value(const Container& container, const Container::Task& task, std::int64_t key,
                  const Sink& sink);

/// The stream as the file `path`. A file that exists is an error unless it is to be replaced.
Status split_stream(const Container& container, const Container::Task& task,
                    const std::string& path, bool overwrite);

/// Each value as a file: `path`, a dot, the key.
Status split_keys(const Container& container, const Container::Task& task, const std::string& path,
                  bool overwrite);

}  // namespace effio::sion
