// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/rank_csv.hpp"

#include <cerrno>

#include "parallel/from_root.hpp"

namespace effio {

Result<RankCsv> RankCsv::create(std::string path, std::string_view header) {
    errno = 0;
    RankCsv file(std::move(path));
    if (auto put = file.put(std::string(header) + "\n"); !put) return std::move(put.error());
    return file;
}

Status RankCsv::add(std::string_view lines) {
    errno = 0;
    return put(lines);
}

Status RankCsv::put(std::string_view text) {
    out_ << text;
    out_.flush();
    if (!out_) return system_error("write the file of the ranks' rates", path_, errno);
    return {};
}

Result<std::optional<RankCsv>> make_rank_csv(const Comm& comm,
                                             const std::optional<std::string>& path,
                                             std::string_view header) {
    std::optional<RankCsv> file;
    if (!path) return file;
    const auto made = from_root(comm, [&]() -> Result<std::string> {
        auto created = RankCsv::create(*path, header);
        if (!created) return std::move(created.error());
        file = std::move(*created);
        return std::string();
    });
    if (!made) return made.error();
    return file;
}

}  // namespace effio
