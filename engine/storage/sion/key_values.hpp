// SPDX-License-Identifier: BSD-3-Clause
// Containers with keys (docs/sion-format.md, Keys): a task's stream is a row of records, each a
// key, a length and the value. A key can have several records; its value is all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "storage/sion/container.hpp"

namespace effio::sion {

/// Bytes of key and length before each value.
inline constexpr std::int64_t record_head_bytes = 16;

struct KeyRecord {
    std::int64_t key = 0;
    std::int64_t offset = 0;  ///< of the value in the task's stream
    std::int64_t bytes = 0;   ///< of the value
};

/// What a task wrote under one key.
struct KeyTotal {
    std::int64_t records = 0;
    std::int64_t bytes = 0;
};

/// Whether the container has keys that can be read.
Status check_keys(const Container& container);

/// Each record of the task's stream, in its order, up to the first error: the visitor's, or what is
/// wrong with the records (ExitCode::data_errors, with the place in the file).
Status each_record(const Container& container, const Container::Task& task,
                   const std::function<Status(const KeyRecord&)>& visit);

/// Counts values by key; memory grows with the number of different keys. What is there up to a
/// wrong record is in `totals` even then.
Status count_keys(const Container& container, const Container::Task& task,
                  std::map<std::int64_t, KeyTotal>& totals);

}  // namespace effio::sion
