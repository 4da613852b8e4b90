// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include "frame/study/measure.hpp"

namespace effio::study {

Result<Backends> Backends::make(Job& job, const BackendChoice& run, const Definition& definition) {
    Backends backends;
    if (!run.name.empty()) {
        backends.run_.bytes = make_storage(job.session, run, job.room);
        const auto known = backend_names(Serves::arrays);
        if (!backends.run_.bytes->capabilities().plain &&
            std::find(known.begin(), known.end(), run.name) != known.end()) {
            backends.run_.arrays = make_arrays(job.session, run, job.room);
        }
    }
    // Libraries of arrays are all in their settings: one serves all cells.
    std::map<std::pair<std::string, std::string>, const Backend*> libraries;
    for (const auto* cells : {&definition.cells, &definition.warm_up}) {
        for (const Cell& cell : *cells) {
            if (!cell.backend) continue;
            const BackendChoice& choice = *cell.backend;
            const Serves what = cell.holds_arrays() ? Serves::arrays : Serves::blocks;
            if (auto loaded = load(what, choice.name); !loaded) return loaded.error();
            const Backend*& backend = backends.of_cells_[&cell];
            if (cell.holds_arrays()) backend = libraries[{choice.name, choice.settings}];
            if (backend != nullptr) continue;
            Backend& own = *backends.own_.emplace_back(std::make_unique<Backend>());
            backend = &own;
            if (cell.holds_arrays()) {
                own.arrays = make_arrays(job.session, choice, job.room);
                libraries[{choice.name, choice.settings}] = backend;
            } else {
                own.bytes = make_storage(job.session, choice, job.room);
            }
        }
    }
    return backends;
}

bool Backends::real_files() const {
    return any().capabilities().real_files;
}

}  // namespace effio::study
