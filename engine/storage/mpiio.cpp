// SPDX-License-Identifier: BSD-3-Clause
// Files through MPI-IO: the exact calls, datatypes and views that the benchmarks name.
#include "storage/mpiio.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <limits>
#include <utility>
#include <vector>

#include "parallel/mpi_comm.hpp"
#include "storage/guarded_path.hpp"
#include "storage/late_views.hpp"
#include "storage/mpi_info.hpp"
#include "storage/mpi_queue.hpp"
#include "storage/removal.hpp"

namespace effio {

/// A derived datatype with RAII.
class Datatype {
  public:
    Datatype() = default;
    Datatype(const Datatype&) = delete;
    Datatype& operator=(const Datatype&) = delete;
    ~Datatype() {
        if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
    }
    MPI_Datatype* out() { return &type_; }
    MPI_Datatype raw() const { return type_; }

  private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

namespace {

MPI_Datatype etype_of(Element element) {
    return element == Element::byte ? MPI_BYTE : MPI_DOUBLE;
}

int amode_of(const OpenMode& mode) {
    int amode = mode.write ? (mode.read ? MPI_MODE_RDWR : MPI_MODE_WRONLY) : MPI_MODE_RDONLY;
    if (mode.create) amode |= MPI_MODE_CREATE;
    if (mode.exclusive) amode |= MPI_MODE_EXCL;
    if (mode.unique) amode |= MPI_MODE_UNIQUE_OPEN;
    if (mode.delete_on_close) amode |= MPI_MODE_DELETE_ON_CLOSE;
    return amode;
}

/// The path without a prefix of ROMIO, such as "ufs:".
std::string plain_path(const std::string& path) {
    const auto colon = path.find(':');
    const auto slash = path.find('/');
    const bool prefixed = colon != std::string::npos && colon > 1 && colon < slash;
    return prefixed ? path.substr(colon + 1) : path;
}

/// This many elements as one: blocks of 1 MiB elements, and the rest.
void make_large_type(std::size_t elements, MPI_Datatype etype, Datatype& large) {
    constexpr std::size_t block = 1 << 20;
    const auto blocks = static_cast<int>(elements / block);
    const auto rest = static_cast<int>(elements % block);
    int size = 0;
    MPI_Type_size(etype, &size);
    Datatype chunk;
    MPI_Type_contiguous(static_cast<int>(block), etype, chunk.out());
    std::array<int, 2> lengths{blocks, rest};
    std::array<MPI_Aint, 2> starts{0, blocks * static_cast<MPI_Aint>(block) * size};
    std::array<MPI_Datatype, 2> types{chunk.raw(), etype};
    MPI_Type_create_struct(2, lengths.data(), starts.data(), types.data(), large.out());
    MPI_Type_commit(large.out());
}

}  // namespace

MpiFile::MpiFile(Session& session, const Comm& comm, const OpenRequest& request,
                 const MpiSettings& settings, MPI_File file)
    : ByteFile(session, request.path, request.element,
               settings.split ? mpi_split_calls : mpi_calls),
      comm_(comm),
      split_(settings.split),
      unconfirmed_(request.mode.write),
      file_(file),
      etype_(etype_of(request.element)) {}

GrantedHints MpiFile::granted_hints() {
    return hints_of(file_);
}

/// Some libraries return success and leave the file as it is.
Status MpiFile::set_atomic() {
    constexpr const char* call = "MPI_File_set_atomicity";
    session().progress.call(call);
    int code = MPI_File_set_atomicity(file_, 1);
    int is_atomic = 0;
    if (code == MPI_SUCCESS) code = MPI_File_get_atomicity(file_, &is_atomic);
    session().progress.beat();
    if (code != MPI_SUCCESS) return session().signed_error(mpi_error(call, path(), code));
    if (is_atomic != 0) return {};
    return session().signed_error(
        io_error(call, path(),
                 "it returned success, and MPI_File_get_atomicity says that the file is not in "
                 "atomic mode"));
}

Status MpiFile::seek(std::int64_t offset) {
    return status("MPI_File_seek", MPI_File_seek(file_, offset, MPI_SEEK_SET));
}

Result<std::int64_t> MpiFile::size() {
    MPI_Offset bytes = 0;
    if (const int code = MPI_File_get_size(file_, &bytes); code != MPI_SUCCESS) {
        return mpi_error("MPI_File_get_size", path(), code);
    }
    return bytes;
}

Result<std::unique_ptr<TransferQueue>> MpiFile::queue(const QueueRequest& request) {
    if (!shows_bytes_) {
        return session().signed_error(
            io_error("queue transfers", path(),
                     "transfers that are queued count the bytes of the file: not through a view of "
                     "other elements or of a part"));
    }
    return std::unique_ptr<TransferQueue>(
        std::make_unique<MpiQueue>(session(), path(), file_, request.depth, request.collective));
}

Status MpiFile::do_set_view(const View& view, const Hints& hints) {
    const Info info(hints);
    shows_bytes_ = element() == Element::byte && view.displacement == 0 &&
                   std::holds_alternative<Contiguous>(view.shape);
    Datatype filetype;
    MPI_Datatype shape = etype_;
    if (const auto* dealt = std::get_if<RoundRobin>(&view.shape); dealt != nullptr) {
        // One tile of the file: parts x chunk elements, rows dealt out one to a part.
        const std::int64_t chunk = dealt->chunk / bytes_of(element());
        if (auto fits = countable("MPI_Type_create_darray", chunk); !fits) return fits;
        std::array<int, 2> sizes{dealt->parts, static_cast<int>(chunk)};
        std::array<int, 2> how{MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE};
        std::array<int, 2> args{MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
        std::array<int, 2> grid{dealt->parts, 1};
        MPI_Type_create_darray(dealt->parts, dealt->part, 2, sizes.data(), how.data(), args.data(),
                               grid.data(), MPI_ORDER_C, etype_, filetype.out());
        MPI_Type_commit(filetype.out());
        shape = filetype.raw();
    }
    Datatype cell;
    if (const auto* box = std::get_if<Box>(&view.shape); box != nullptr) {
        if (auto fits = box_type(*box, cell, filetype); !fits) return fits;
        shape = filetype.raw();
    }
    if (const auto* strides = std::get_if<Strides>(&view.shape); strides != nullptr) {
        if (auto fits = strides_type(*strides, filetype); !fits) return fits;
        shape = filetype.raw();
    }
    if (const auto* list = std::get_if<Listed>(&view.shape); list != nullptr) {
        if (auto fits = list_type(*list, filetype); !fits) return fits;
        shape = filetype.raw();
    }
    return status("MPI_File_set_view",
                  MPI_File_set_view(file_, view.displacement, etype_, shape, "native", info.raw()));
}

Status MpiFile::do_set_hints(const Hints& hints) {
    const Info info(hints);
    if (info.raw() == MPI_INFO_NULL) return {};  // nothing to set; libraries refuse an empty object
    return status("MPI_File_set_info", MPI_File_set_info(file_, info.raw()));
}

/// MPI-IO does not truncate a file when it opens it, so nothing has changed until the first write.
Status MpiFile::confirm() {
    if (!unconfirmed_) return {};
    const auto ours = GuardedPath(comm_, plain_path(path())).confirm();
    // MPI_File_close is collective, so the file is left open.
    if (!ours) return session().signed_error(ours.error());
    unconfirmed_ = false;
    return {};
}

Status MpiFile::do_preallocate(std::int64_t bytes) {
    if (auto ours = confirm(); !ours) return ours;  // the library may write zeros
    return status("MPI_File_preallocate", MPI_File_preallocate(file_, bytes));
}

Status MpiFile::do_sync() {
    return status("MPI_File_sync", MPI_File_sync(file_));
}

Status MpiFile::do_close() {
    return status("MPI_File_close", MPI_File_close(&file_));
}

/// MPI's constructors of types count with int.
Status MpiFile::countable(const char* call, std::int64_t extent) const {
    if (extent <= std::numeric_limits<int>::max()) return {};
    return io_error(call, path(),
                    fmt::format("an extent of {} is more than MPI can count", extent));
}

/// The file type of a box; `cell` is the type of one of its elements.
Status MpiFile::box_type(const Box& box, Datatype& cell, Datatype& filetype) const {
    const std::int64_t elements = box.element / bytes_of(element());
    if (auto fits = countable("MPI_Type_contiguous", elements); !fits) return fits;
    MPI_Type_contiguous(static_cast<int>(elements), etype_, cell.out());
    MPI_Type_commit(cell.out());
    if (box.bytes() == 0) {
        // A subarray needs at least one element: an empty box views anything and moves nothing.
        MPI_Type_dup(etype_, filetype.out());
        return {};
    }
    std::vector<int> sizes;
    std::vector<int> count;
    std::vector<int> start;
    for (std::size_t d = 0; d < box.sizes.size(); ++d) {
        if (auto fits = countable("MPI_Type_create_subarray", box.sizes[d]); !fits) return fits;
        sizes.push_back(static_cast<int>(box.sizes[d]));
        count.push_back(static_cast<int>(box.count[d]));
        start.push_back(static_cast<int>(box.start[d]));
    }
    MPI_Type_create_subarray(static_cast<int>(sizes.size()), sizes.data(), count.data(),
                             start.data(), MPI_ORDER_C, cell.raw(), filetype.out());
    MPI_Type_commit(filetype.out());
    return {};
}

/// Pieces, and around them one vector a level.
Status MpiFile::strides_type(const Strides& strides, Datatype& filetype) const {
    if (strides.pieces() == 0) {
        MPI_Type_dup(etype_, filetype.out());
        return {};
    }
    const std::int64_t elements = strides.piece / bytes_of(element());
    if (auto fits = countable("MPI_Type_contiguous", elements); !fits) return fits;
    Datatype inner;
    MPI_Type_contiguous(static_cast<int>(elements), etype_, inner.out());
    for (const auto& level : strides.levels) {
        if (auto fits = countable("MPI_Type_create_hvector", level.count); !fits) return fits;
        Datatype outer;
        MPI_Type_create_hvector(static_cast<int>(level.count), 1, level.stride, inner.raw(),
                                outer.out());
        std::swap(*inner.out(), *outer.out());
    }
    std::swap(*inner.out(), *filetype.out());
    MPI_Type_commit(filetype.out());
    return {};
}

Status MpiFile::list_type(const Listed& list, Datatype& filetype) const {
    if (list.pieces() == 0) {
        MPI_Type_dup(etype_, filetype.out());
        return {};
    }
    const std::int64_t elements = list.piece / bytes_of(element());
    for (const auto count : {elements, list.pieces()}) {
        if (auto fits = countable("MPI_Type_create_hindexed_block", count); !fits) return fits;
    }
    const std::vector<MPI_Aint> places(list.places->begin(), list.places->end());
    MPI_Type_create_hindexed_block(static_cast<int>(places.size()), static_cast<int>(elements),
                                   places.data(), etype_, filetype.out());
    MPI_Type_commit(filetype.out());
    return {};
}

Status MpiFile::status(const char* call, int code) const {
    if (code == MPI_SUCCESS) return {};
    return mpi_error(call, path(), code);
}

Result<std::int64_t> MpiFile::failed(CallForm form, bool write, int code) const {
    return mpi_error(call_name(form, write), path(), code);
}

Result<std::int64_t> MpiFile::large_write(CallForm form, std::span<const std::byte> data,
                                          std::int64_t offset) {
    Datatype type;
    make_large_type(elements_of(data.size()), etype_, type);
    MPI_Status outcome{};
    const int code = call_write(form, data.data(), 1, type.raw(), offset, outcome);
    return large_moved(form, true, code, type, outcome);
}

Result<std::int64_t> MpiFile::large_read(CallForm form, std::span<std::byte> data,
                                         std::int64_t offset) {
    Datatype type;
    make_large_type(elements_of(data.size()), etype_, type);
    MPI_Status outcome{};
    const int code = call_read(form, data.data(), 1, type.raw(), offset, outcome);
    return large_moved(form, false, code, type, outcome);
}

int MpiFile::split_write(CallForm form, const void* buffer, int count, MPI_Datatype type,
                         MPI_Offset offset, MPI_Status& s) {
    int code = MPI_SUCCESS;
    switch (form.pointer) {
        case Pointer::at:
            code = MPI_File_write_at_all_begin(file_, offset, buffer, count, type);
            return code != MPI_SUCCESS ? code : MPI_File_write_at_all_end(file_, buffer, &s);
        case Pointer::individual:
            code = MPI_File_write_all_begin(file_, buffer, count, type);
            return code != MPI_SUCCESS ? code : MPI_File_write_all_end(file_, buffer, &s);
        case Pointer::shared:
            break;
    }
    code = MPI_File_write_ordered_begin(file_, buffer, count, type);
    return code != MPI_SUCCESS ? code : MPI_File_write_ordered_end(file_, buffer, &s);
}

int MpiFile::split_read(CallForm form, void* buffer, int count, MPI_Datatype type,
                        MPI_Offset offset, MPI_Status& s) {
    int code = MPI_SUCCESS;
    switch (form.pointer) {
        case Pointer::at:
            code = MPI_File_read_at_all_begin(file_, offset, buffer, count, type);
            return code != MPI_SUCCESS ? code : MPI_File_read_at_all_end(file_, buffer, &s);
        case Pointer::individual:
            code = MPI_File_read_all_begin(file_, buffer, count, type);
            return code != MPI_SUCCESS ? code : MPI_File_read_all_end(file_, buffer, &s);
        case Pointer::shared:
            break;
    }
    code = MPI_File_read_ordered_begin(file_, buffer, count, type);
    return code != MPI_SUCCESS ? code : MPI_File_read_ordered_end(file_, buffer, &s);
}

/// One element of a vector of pieces, and of a shorter one after them.
Result<std::int64_t> MpiFile::do_move_spaced(CallForm form, bool write, const Spaced& data,
                                             std::int64_t offset) {
    const std::int64_t elements = data.piece / bytes_of(element());
    const std::int64_t tail = data.tail / bytes_of(element());
    for (const auto count : {elements, data.pieces}) {
        if (auto fits = countable("MPI_Type_create_hvector", count); !fits) {
            return std::move(fits.error());
        }
    }
    Datatype pieces;
    MPI_Type_create_hvector(static_cast<int>(data.pieces), static_cast<int>(elements), data.step,
                            etype_, pieces.out());
    Datatype with_tail;
    if (tail > 0) {
        const std::array<int, 2> counts{1, static_cast<int>(tail)};
        const std::array<MPI_Aint, 2> places{0, data.pieces * data.step};
        const std::array<MPI_Datatype, 2> types{pieces.raw(), etype_};
        MPI_Type_create_struct(2, counts.data(), places.data(), types.data(), with_tail.out());
    }
    Datatype& type = tail > 0 ? with_tail : pieces;
    MPI_Type_commit(type.out());
    MPI_Status outcome{};
    auto* const memory = data.memory.data();
    const int code = write ? call_write(form, memory, 1, type.raw(), offset, outcome)
                           : call_read(form, memory, 1, type.raw(), offset, outcome);
    return large_moved(form, write, code, type, outcome);
}

Result<std::int64_t> MpiFile::large_moved(CallForm form, bool write, int code, const Datatype& type,
                                          const MPI_Status& outcome) const {
    if (code != MPI_SUCCESS) return failed(form, write, code);
    MPI_Count elements = 0;
    MPI_Get_elements_x(&outcome, type.raw(), &elements);
    return elements == MPI_UNDEFINED ? 0
                                     : static_cast<std::int64_t>(elements) * bytes_of(element());
}

namespace {

class MpiStorage : public Storage {
  public:
    MpiStorage(Session& session, const MpiSettings& settings)
        : Storage(session), settings_(settings) {}

    std::string_view name() const override { return "mpiio"; }
    Capabilities capabilities() const override {
        Capabilities can;
        can.sync_alone = false;
        can.queues = true;
        can.collective_queues = true;
        can.spaced = true;
        return can;
    }

    Result<std::unique_ptr<ByteFile>> open(const Comm& comm, const OpenRequest& request) override {
        session().progress.call("MPI_File_open");
        const Info info(request.hints);
        MPI_File file = MPI_FILE_NULL;
        if (request.mode.create) wait_until_gone(session(), comm, request.path);
        const int code = MPI_File_open(raw(comm), request.path.c_str(), amode_of(request.mode),
                                       info.raw(), &file);
        session().progress.beat();
        const bool everywhere = !settings_.atomic || comm.min(code == MPI_SUCCESS ? 1 : 0) == 1;
        if (code != MPI_SUCCESS) {
            return session().signed_error(mpi_error("MPI_File_open", request.path, code));
        }
        if (!everywhere) {  // setting the mode is collective
            return session().signed_error(io_error("MPI_File_set_atomicity", request.path,
                                                   "other ranks could not open the file"));
        }
        auto opened = std::make_unique<MpiFile>(session(), comm, request, settings_, file);
        if (settings_.atomic) {
            if (auto set = opened->set_atomic(); !set) return std::move(set.error());
        }
        if (!request.confirms_later) {
            if (auto ours = opened->confirm(); !ours) return std::move(ours.error());
        }
        return std::unique_ptr<ByteFile>(std::move(opened));
    }

    Status remove(const std::string& path) override {
        if (auto done = remove_file(plain_path(path)); !done) {
            return session().signed_error(done.error());
        }
        return {};
    }
    /// As every result had it before there were settings, unless one is chosen.
    Json describe() const override {
        if (!settings_.any()) return Json::object();
        return {{"atomic", settings_.atomic}, {"split_collectives", settings_.split}};
    }

  private:
    MpiSettings settings_;
};

}  // namespace

void MpiSettings::declare(OptionTable& table) {
    table.choice("atomic", atomic, {{"no", false}, {"yes", true}},
                 "MPI_File_set_atomicity after each open: concurrent accesses do not mix");
    table.choice("split", split, {{"no", false}, {"yes", true}},
                 "collective calls in two halves, MPI_File_..._begin and ..._end");
}

std::string MpiSettings::text() const {
    if (atomic && split) return "atomic mode and split collectives";
    return atomic ? "atomic mode" : split ? "split collectives" : "";
}

std::unique_ptr<Storage> make_mpiio_storage(Session& session, const MpiSettings& settings) {
    return std::make_unique<MpiStorage>(session, settings);
}

}  // namespace effio
