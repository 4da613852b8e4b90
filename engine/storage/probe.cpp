// SPDX-License-Identifier: BSD-3-Clause
#include "storage/probe.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "core/pattern.hpp"
#include "parallel/agree.hpp"
#include "parallel/system.hpp"
#include "storage/posix_calls.hpp"

namespace effio {
namespace {

/// Which component keeps the shared pointer, known by the files it puts next to the data (names as
/// seen with Open MPI 4.1 and ROMIO).
std::string component(const std::string& path) {
    const std::string base = std::filesystem::path(path).filename();
    std::error_code ignored;
    std::string found;
    for (const auto& entry : std::filesystem::directory_iterator(parent_of(path), ignored)) {
        const std::string name = entry.path().filename();
        if (name == base || name.find(base) == std::string::npos) continue;
        if (name.find(".shfp.") != std::string::npos) found = "ROMIO, hidden file with locks";
        if (name.find("lock") != std::string::npos) found = "OMPIO lockedfile, file with locks";
        if (name.find("data") != std::string::npos && name.find(base + ".") == 0) {
            found = "OMPIO individual, a side file per rank";
        }
    }
    if (!found.empty()) return found;
    return mpi_library().starts_with("Open MPI") ? "OMPIO sm, shared memory of one node"
                                                 : "unknown component (no side file seen)";
}

}  // namespace

ProbeResult probe_shared_pointer(Session& session, Storage& storage, const std::string& path) {
    if (!storage.capabilities().ordered_pointer) {
        return {false, fmt::format("{} has no shared file pointer", storage.name())};
    }
    const Comm& comm = session.comm;
    constexpr CallForm ordered{Pointer::shared, true};
    // Unequal sizes and two calls: a pointer of each rank's own would put them in wrong places.
    const auto bytes = static_cast<std::size_t>(8 * (1 + comm.rank() % 3));
    const std::int64_t below = comm.sum_below(static_cast<std::int64_t>(bytes));
    const std::int64_t all = comm.sum(static_cast<std::int64_t>(bytes));
    const Pattern pattern(1, 1);
    Outcome mine;
    std::string note;
    bool right = true;

    OpenMode mode = OpenMode::creating();
    mode.delete_on_close = true;
    auto file = storage.open(comm, {path, mode, Element::byte, {}});
    if (!file) mine.fail(file.error());
    if (const auto opened = agree(session, comm, mine); opened.failed()) {
        return {false, opened.error->text()};
    }
    std::vector<std::byte> data(bytes);
    const auto keep = [&](Status status) {
        if (!status) mine.fail(status.error());
    };
    for (int call = 0; call < 2; ++call) {
        pattern.fill(data, call * all + below);
        keep((*file)->write(ordered, data));
    }
    if (comm.is_root() && storage.capabilities().real_files) note = component(path);
    keep((*file)->sync());
    if (const auto written = agree(session, comm, mine); written.failed()) {
        return {false, written.error->text()};
    }
    // Once at the offsets where ordered calls must have put the data, then through the pointer.
    const auto check = [&](CallForm form) {
        for (int call = 0; call < 2; ++call) {
            const std::int64_t offset = call * all + below;
            keep((*file)->read(form, data, offset));
            if (storage.capabilities().stores_data && pattern.check(data, offset)) right = false;
        }
    };
    check({Pointer::at, false});
    keep((*file)->set_view(View{}, Hints{}));
    check(ordered);
    keep((*file)->close());
    const auto agreed = agree(session, comm, mine);
    right = comm.min(right ? 1 : 0) == 1;
    comm.broadcast(note);
    if (agreed.failed()) return {false, agreed.error->text()};
    if (!right) return {false, "ordered calls put data in wrong places (" + note + ")"};
    return {true, note};
}

}  // namespace effio
