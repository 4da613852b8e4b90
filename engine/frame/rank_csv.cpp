// SPDX-License-Identifier: BSD-3-Clause
#include "frame/rank_csv.hpp"

#include "parallel/from_root.hpp"

namespace effio {

Result<RankCsv> RankCsv::create(const std::string& path, std::string_view header) {
    auto made = TextFile::replace("write the file of the ranks' rates", path);
    if (!made) return std::move(made.error());
    if (auto put = made->write(std::string(header) + "\n"); !put) return std::move(put.error());
    return RankCsv(std::move(*made));
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
