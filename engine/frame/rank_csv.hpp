// SPDX-License-Identifier: BSD-3-Clause
// Times and rates of single ranks as a CSV file that the root writes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "parallel/comm.hpp"
#include "parallel/text_file.hpp"

namespace effio {

class RankCsv {
  public:
    /// Writes `path` anew with `header`, a line without its end. An error names the file.
    static Result<RankCsv> create(const std::string& path, std::string_view header);

    /// Adds whole lines; they are in the file when this returns.
    Status add(std::string_view lines) { return file_.write(lines); }

  private:
    explicit RankCsv(TextFile file) : file_(std::move(file)) {}

    TextFile file_;
};

/// Collective: a file if there is a path, on the root; a failure is a usage error of all ranks.
Result<std::optional<RankCsv>> make_rank_csv(const Comm& comm,
                                             const std::optional<std::string>& path,
                                             std::string_view header);

/// `amount` in each second; 0 where no time passed.
template <class Amount>
constexpr double rate_of(Amount amount, double seconds) {
    return seconds > 0 ? static_cast<double>(amount) / seconds : 0;
}

}  // namespace effio
