// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include "frame/study/measure.hpp"

namespace effio::study {

Result<Ways> Ways::make(Job& job, const BackendChoice& run, const Definition& definition) {
    Ways ways;
    if (!run.name.empty()) {
        ways.run_.bytes = make_storage(job.session, run, job.room);
        const auto known = backend_names(Serves::arrays);
        if (!ways.run_.bytes->capabilities().plain &&
            std::find(known.begin(), known.end(), run.name) != known.end()) {
            ways.run_.arrays = make_arrays(job.session, run, job.room);
        }
    }
    // Libraries of arrays are all in their settings: one serves all cells.
    std::map<std::pair<std::string, std::string>, const Way*> libraries;
    for (const auto* cells : {&definition.cells, &definition.warm_up}) {
        for (const Cell& cell : *cells) {
            if (!cell.backend) continue;
            const BackendChoice& choice = *cell.backend;
            const Serves what = cell.holds_arrays() ? Serves::arrays : Serves::blocks;
            if (auto has = check_present(what, choice.name); !has) return has.error();
            const Way*& way = ways.of_cells_[&cell];
            if (cell.holds_arrays()) way = libraries[{choice.name, choice.settings}];
            if (way != nullptr) continue;
            Way& own = *ways.own_.emplace_back(std::make_unique<Way>());
            way = &own;
            if (cell.holds_arrays()) {
                own.arrays = make_arrays(job.session, choice, job.room);
                libraries[{choice.name, choice.settings}] = way;
            } else {
                own.bytes = make_storage(job.session, choice, job.room);
            }
        }
    }
    return ways;
}

bool Ways::real_files() const {
    return any().capabilities().real_files;
}

}  // namespace effio::study
