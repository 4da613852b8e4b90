// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/mdtest/cold_read.hpp"

#include "frame/readable.hpp"

namespace effio::mdtest {

ColdRead::ColdRead(const Iteration& iteration, const Phase& phase, Workers& workers,
                   const Topology& topology, const std::optional<FileSystem>& file_system)
    : iteration_(iteration),
      phase_(phase),
      workers_(workers),
      topology_(topology),
      applies_(phase.action == Action::read && iteration.names.capabilities().real_files &&
               iteration.parameters.bytes_to_read() > 0 && !iteration.parameters.no_barriers),
      cold_({iteration.comm, topology, file_system, true,
             iteration.parameters.storage.backend.name != "direct"},
            iteration.parameters.storage.cache,
            [&workers, &phase,
             drop = iteration.parameters.storage.cache.drop](const Cold::Look& look) {
                // The check opens the file: where nothing is dropped, only this call opens it.
                if (!drop) return;
                for (const auto& worker : workers) worker->each_path(phase, look);
            }),
      watch_(iteration.comm, topology, file_system) {
    const auto owner = iteration.owner(phase);
    if (owner && iteration.order != nullptr && !iteration.order->on_my_node(*owner)) {
        cold_.reads_of_another_node();
    }
}

Status ColdRead::before() {
    Status synced;
    if (iteration_.parameters.storage.cache.drop && topology_.is_node_leader()) {
        // Only clean pages can be dropped.
        iteration_.session.progress.call("sync before dropping");
        synced = iteration_.names.sync_all(iteration_.paths.test_directory(0, 0));
    }
    iteration_.comm.barrier();
    iteration_.session.progress.call("drop from the cache");
    cold_.before(true);
    watch_.begin();
    return synced;
}

void ColdRead::after(LocalResult& local) {
    if (!applies_) return;
    const std::int64_t bytes = iteration_.comm.sum(local.bytes);
    local.cache = watch_.end(bytes, true);
    cold_.complete(*local.cache, bytes, true);
    if (!iteration_.parameters.adopts()) return;
    iteration_.session.progress.call("look for holes");
    Readable readable(true);
    for (const auto& worker : workers_) {
        worker->each_path(phase_, [&](const std::string& path) {
            readable.reads(path, 0, iteration_.parameters.bytes_to_read());
            iteration_.session.progress.beat();
        });
    }
    local.cache->holes = readable.hole_fraction(iteration_.comm);
}

}  // namespace effio::mdtest
