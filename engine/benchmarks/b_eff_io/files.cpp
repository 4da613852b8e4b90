// SPDX-License-Identifier: BSD-3-Clause
// The data files of b_eff_io: names, open, checks of size and data, close
// (docs/definitions/b-eff-io.md, Files and calls). All of it is outside the timed calls of rows.
#include <fmt/format.h>

#include "benchmarks/b_eff_io/runner.hpp"
#include "core/units.hpp"
#include "storage/late_views.hpp"

namespace effio::b_eff_io {
namespace {

constexpr const char* prefix = "b_eff_io_data_";

/// The part of a file's name that depends on the partition and the type.
std::string file_tag(std::size_t partition, std::int64_t ranks, Type type) {
    return fmt::format("i{:02d}_{:03d}_{}", partition, ranks, index(type));
}

}  // namespace

std::vector<FileSet> files_of(std::size_t partition, std::int64_t ranks) {
    std::vector<FileSet> files;
    for (const Type type : all_types) {
        const std::string stem = prefix + file_tag(partition, ranks, type);
        if (type == Type::separated) {
            files.push_back({stem + ".", static_cast<int>(ranks), true});
        } else {
            files.push_back({stem, 1, false});
        }
    }
    return files;
}

bool Runner::open_file(OpenFile& f, const Hints& hints) {
    f.tag = file_tag(f.partition.index, f.partition.ranks, f.type);
    std::string name = prefix + f.tag;
    if (f.type == Type::separated) name += fmt::format(".{:03d}", f.comm.rank());
    const std::string path = target_.path(name);
    Outcome mine;
    Progress::Step step;
    step.title = fmt::format("open for {} {}", b_eff_io::name(f.access), b_eff_io::name(f.type));
    step.path = path;
    step.ranks = f.comm.size();
    session_.progress.begin(step);
    if (f.access == Access::write) {
        OpenMode remove = OpenMode::creating();
        remove.delete_on_close = true;
        auto old = storage_.open(f.file_comm, {path, remove, Element::real64, {}});
        if (!old) {
            mine.fail(old.error());
        } else if (auto closed = (*old)->close(); !closed) {
            mine.fail(closed.error());
        }
    }
    OpenMode mode = f.access == Access::write     ? OpenMode::creating()
                    : f.access == Access::rewrite ? OpenMode::updating()
                                                  : OpenMode::reading();
    mode.unique = !setup_.parameters.no_unique_open;
    mode.delete_on_close = f.access == Access::read && !setup_.parameters.storage.keep;
    const Capabilities can = storage_.capabilities();
    f.cold.emplace(
        Cold::Context{f.comm, job_.topology, target_.file_system(), can.real_files, can.cached},
        setup_.parameters.storage.cache, [path](const Cold::Look& look) { look(path); });
    if (f.access != Access::write) {
        // Each write was synced, so every page is clean.
        session_.progress.call("drop from the cache");
        f.cold->before(f.type == Type::separated || job_.topology.is_node_leader());
    }
    f.comm.barrier();
    {
        const Lap lap(session_.clock, f.sums.open);
        OpenRequest request{path, mode, Element::real64, hints};
        request.confirms_later = true;
        auto opened = storage_.open(f.file_comm, request);
        if (opened) {
            f.file = std::move(*opened);
        } else {
            mine.fail(opened.error());
        }
        if (!loop_.go_on(f.comm, mine)) return false;
    }
    if (f.access != Access::read) {
        if (auto ours = f.file->confirm(); !ours) mine.fail(ours.error());
        if (!loop_.go_on(f.comm, mine)) return false;
    }
    OpenedFile event{
        f.partition.index,      f.partition.ranks, f.access, f.type, !hints.empty(), hints,
        f.file->granted_hints()};
    notify_([&](Observer& o) { o.file_opened(event); });
    return true;
}

Status Runner::check_size(OpenFile& f, const Row& row) {
    // One rank of a shared file is enough; before the last row of a segmented file its size says
    // only where the last rank has come to.
    if (f.type != Type::separated && !f.comm.is_root()) return {};
    const auto& p = f.partition;
    const std::int64_t own = bytes_before(p.rows, p.repetitions, row.number) +
                             row.memory * p.repetitions[static_cast<std::size_t>(row.number)];
    std::int64_t expected = own;
    if (f.type == Type::scatter || f.type == Type::shared) expected = p.ranks * own;
    if (f.type == Type::segmented || f.type == Type::seg_coll) {
        expected = (p.ranks - 1) * p.segment.bytes + own;
    }
    auto size = f.file->size();
    look_until(session_, [&] {
        if (!size || *size >= expected) return true;
        size = f.file->size();
        return !size || *size >= expected;
    });
    if (!size) return size.error();
    if (*size >= expected) return {};
    return io_error("check the size", f.file->path(),
                    fmt::format("the file holds {} after row {}, {} were {} without an error",
                                exact_size(*size), row.number, exact_size(expected),
                                f.access == Access::read ? "read" : "written"));
}

void Runner::verify(OpenFile& f) {
    Outcome mine;
    for (const Row& row : f.partition.rows) {
        if (row.type != f.type) continue;
        RowTask task = task_of(f, row);
        task.repetitions = f.partition.repetitions[static_cast<std::size_t>(row.number)];
        const auto verified = verify_row(*f.file, buffers_, task, session_);
        f.sums.verified_bytes += verified.bytes;
        mine.error_count += verified.outcome.error_count;
        if (!mine.error) mine.error = verified.outcome.error;
    }
    const Agreed agreed = agree(session_, f.comm, mine);
    f.partition.errors += agreed.error_count;
    f.sums.verified_bytes = f.comm.sum(f.sums.verified_bytes);
    if (agreed.error && session_.comm.is_root()) warn_(agreed.error->text());
    loop_.note(agreed);
}

void Runner::close_file(OpenFile& f, Outcome& outcome) {
    const Lap lap(session_.clock, f.sums.close);
    if (auto closed = f.file->close(); !closed) outcome.fail(closed.error());
    // The barrier that ends the close. What failed is agreed on with the row's errors.
    f.comm.barrier();
}

}  // namespace effio::b_eff_io
