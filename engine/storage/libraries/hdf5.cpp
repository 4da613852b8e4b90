// SPDX-License-Identifier: BSD-3-Clause
// Arrays in parallel HDF5: one dataset a variable in the root group, through the MPI-IO driver.
#include <hdf5.h>

#include <fmt/format.h>

#include <array>
#include <utility>

#include "parallel/mpi_comm.hpp"
#include "storage/array_libraries.hpp"
#include "storage/guarded_path.hpp"
#include "storage/libraries/hdf5_header.hpp"
#include "storage/mpi_info.hpp"
#include "storage/posix.hpp"

namespace effio {
namespace {

/// An HDF5 object that can be closed without the other ranks: types, spaces, property lists.
class Local {
  public:
    using Close = herr_t (*)(hid_t);
    Local(hid_t id, Close close) : id_(id), close_(close) {}
    Local(Local&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Local& operator=(Local&&) = delete;
    Local(const Local&) = delete;
    Local& operator=(const Local&) = delete;
    ~Local() {
        if (id_ >= 0) close_(id_);
    }
    hid_t get() const { return id_; }

  private:
    hid_t id_;
    Close close_;
};

hid_t native(ArrayType type) {
    switch (type) {
        case ArrayType::text:
            return H5T_C_S1;
        case ArrayType::byte:
            return H5T_NATIVE_SCHAR;
        case ArrayType::int32:
            return H5T_NATIVE_INT32;
        case ArrayType::int64:
            return H5T_NATIVE_INT64;
        case ArrayType::real32:
            return H5T_NATIVE_FLOAT;
        case ArrayType::real64:
            break;
    }
    return H5T_NATIVE_DOUBLE;
}

Local type_of(const ArrayVariable& variable) {
    if (!variable.record.empty()) {
        const auto bytes = static_cast<std::size_t>(variable.element_bytes());
        Local record(H5Tcreate(H5T_COMPOUND, bytes), H5Tclose);
        std::size_t at = 0;
        for (const auto& field : variable.record) {
            H5Tinsert(record.get(), field.name.c_str(), at, native(field.type));
            at += static_cast<std::size_t>(bytes_of(field.type));
        }
        return record;
    }
    Local type(H5Tcopy(native(variable.type)), H5Tclose);
    if (variable.type == ArrayType::text) {
        H5Tset_size(type.get(), static_cast<std::size_t>(variable.text_length));
    }
    return type;
}

using Extents = std::array<hsize_t, H5S_MAX_RANK>;

Extents extents_of(const std::vector<std::int64_t>& values) {
    Extents extents{};
    for (std::size_t d = 0; d < values.size() && d < extents.size(); ++d) {
        extents[d] = static_cast<hsize_t>(values[d]);
    }
    return extents;
}

Local space_of(const std::vector<std::int64_t>& extents) {
    const Extents e = extents_of(extents);
    return {H5Screate_simple(static_cast<int>(extents.size()), e.data(), nullptr), H5Sclose};
}

bool select(hid_t space, const std::vector<std::int64_t>& start,
            const std::vector<std::int64_t>& count) {
    for (const auto n : count) {
        if (n == 0) return H5Sselect_none(space) >= 0;
    }
    const Extents s = extents_of(start);
    const Extents c = extents_of(count);
    return H5Sselect_hyperslab(space, H5S_SELECT_SET, s.data(), nullptr, c.data(), nullptr) >= 0;
}

const char* mode_name(H5D_mpio_actual_io_mode_t mode) {
    switch (mode) {
        case H5D_MPIO_NO_COLLECTIVE:
            return "independent";
        case H5D_MPIO_CHUNK_INDEPENDENT:
            return "chunks, independent";
        case H5D_MPIO_CHUNK_COLLECTIVE:
            return "chunks, collective";
        case H5D_MPIO_CHUNK_MIXED:
            return "chunks, mixed";
        case H5D_MPIO_CONTIGUOUS_COLLECTIVE:
            break;
    }
    return "contiguous, collective";
}

H5D_fill_time_t fill_time(Hdf5Settings::Fill fill) {
    switch (fill) {
        case Hdf5Settings::Fill::never:
            return H5D_FILL_TIME_NEVER;
        case Hdf5Settings::Fill::alloc:
            return H5D_FILL_TIME_ALLOC;
        case Hdf5Settings::Fill::if_set:
            break;
    }
    return H5D_FILL_TIME_IFSET;
}

class Hdf5File : public ArrayFile {
  public:
    struct Dataset {
        hid_t id = -1;
        Local type;
        Local space;
    };

    Hdf5File(Session& session, const Comm& comm, const ArrayRequest& request, hid_t file)
        : ArrayFile(session, request),
          is_root_(comm.is_root()),
          file_(file),
          collective_(H5Pcreate(H5P_DATASET_XFER), H5Pclose),
          independent_(H5Pcreate(H5P_DATASET_XFER), H5Pclose) {
        H5Pset_dxpl_mpio(collective_.get(), H5FD_MPIO_COLLECTIVE);
        H5Pset_dxpl_mpio(independent_.get(), H5FD_MPIO_INDEPENDENT);
        count().done_collectively = 0;
    }
    Hdf5File(const Hdf5File&) = delete;
    Hdf5File& operator=(const Hdf5File&) = delete;
    // Closing is collective and may hang after a failure, so only close() does it.
    ~Hdf5File() override {
        if (!closed_) session().left_open = true;
    }

    /// Collective.
    Status define(const Hdf5Settings& settings) {
        for (std::size_t v = 0; v < schema().variables.size(); ++v) {
            const auto& variable = schema().variables[v];
            auto shape = schema().shape(v);
            const Local creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
            H5Pset_fill_time(creation.get(), fill_time(settings.fill));
            Dataset set{-1, type_of(variable), space_of(shape)};
            if (settings.chunk_rows > 0 && schema().shared_out(v)) {
                shape.front() = std::min(shape.front(), settings.chunk_rows);
                const Extents chunk = extents_of(shape);
                if (H5Pset_chunk(creation.get(), static_cast<int>(shape.size()), chunk.data()) <
                    0) {
                    return failure("H5Pset_chunk", v, hdf5_last_error());
                }
            }
            session().progress.call("H5Dcreate");
            set.id = H5Dcreate2(file_, variable.name.c_str(), set.type.get(), set.space.get(),
                                H5P_DEFAULT, creation.get(), H5P_DEFAULT);
            if (set.id < 0) return failure("H5Dcreate", v, hdf5_last_error());
            sets_.push_back(std::move(set));
        }
        for (const auto& attribute : schema().attributes) {
            if (auto done = write_attribute(attribute); !done) return done;
        }
        return {};
    }

    /// Finds what the reader expects.
    Status find() {
        for (std::size_t v = 0; v < schema().variables.size(); ++v) {
            const auto& variable = schema().variables[v];
            session().progress.call("H5Dopen");
            if (H5Lexists(file_, variable.name.c_str(), H5P_DEFAULT) <= 0) {
                H5Eclear2(H5E_DEFAULT);
                return missing_variable(path(), variable);
            }
            const hid_t id = H5Dopen2(file_, variable.name.c_str(), H5P_DEFAULT);
            if (id < 0) return failure("H5Dopen", v, hdf5_last_error());
            Dataset set{id, type_of(variable), {H5Dget_space(id), H5Sclose}};
            if (auto same = compare(v, set); !same) return same;
            sets_.push_back(std::move(set));
        }
        return {};
    }

    Result<ArrayAttribute> attribute(const ArrayAttribute& like) override {
        ArrayAttribute found = like;
        const auto failed = [&](const char* call) {
            return failure(call, like.name + ": " + hdf5_last_error());
        };
        const Local id(H5Aopen(file_, like.name.c_str(), H5P_DEFAULT), H5Aclose);
        if (id.get() < 0) return failed("H5Aopen");
        const Local type(H5Aget_type(id.get()), H5Tclose);
        const auto class_of = H5Tget_class(type.get());
        // The library stores as many values as the file contains, even if they do not fit.
        const Local space(H5Aget_space(id.get()), H5Sclose);
        if (H5Sget_simple_extent_npoints(space.get()) != 1) {
            return failure("H5Aread", like.name + ": it is not one value");
        }
        if (auto* text = std::get_if<std::string>(&found.value); text != nullptr) {
            if (class_of != H5T_STRING) return failure("H5Aread", like.name + ": it is not text");
            const std::size_t length = H5Tget_size(type.get());
            if (H5Tis_variable_str(type.get()) != 0 ||
                std::cmp_greater(length, longest_attribute)) {
                return failure("H5Aread",
                               like.name + ": its length differs from what this program writes");
            }
            text->assign(length, '\0');
            if (H5Aread(id.get(), type.get(), text->data()) < 0) return failed("H5Aread");
        } else if (auto* whole = std::get_if<std::int32_t>(&found.value); whole != nullptr) {
            if (class_of != H5T_INTEGER || H5Aread(id.get(), H5T_NATIVE_INT32, whole) < 0) {
                return failed("H5Aread");
            }
        } else if (class_of != H5T_FLOAT ||
                   H5Aread(id.get(), H5T_NATIVE_DOUBLE, std::get_if<double>(&found.value)) < 0) {
            return failed("H5Aread");
        }
        return found;
    }

    GrantedHints granted_hints() override {
        void* handle = nullptr;
        if (H5Fget_vfd_handle(file_, H5P_DEFAULT, &handle) < 0 || handle == nullptr) {
            H5Eclear2(H5E_DEFAULT);
            return {};
        }
        return hints_of(*static_cast<MPI_File*>(handle));
    }

    Result<std::int64_t> overhead_bytes() override {
        if (!is_root_) return std::int64_t{0};
        return hdf5_header_bytes(path());
    }

  protected:
    Status do_set_access(ArrayAccess) override { return {}; }

    Status do_put(std::size_t variable, const Slab& slab,
                  std::span<const std::byte> data) override {
        const Local memory = space_of(slab.count);
        if (schema().bytes(variable, slab) == 0) H5Sselect_none(memory.get());
        return put(variable, slab, memory, data);
    }

    Status do_put_from(std::size_t variable, const Slab& slab, std::span<const std::byte> data,
                       const Box& box) override {
        const Local memory = space_of(box.sizes);
        if (!select(memory.get(), box.start, box.count)) {
            return failure("H5Sselect_hyperslab", variable, hdf5_last_error());
        }
        return put(variable, slab, memory, data);
    }

    Status do_get(std::size_t variable, const Slab& slab, std::span<std::byte> data) override {
        const Dataset& set = sets_[variable];
        const Local memory = space_of(slab.count);
        if (schema().bytes(variable, slab) == 0) H5Sselect_none(memory.get());
        if (!select(set.space.get(), slab.start, slab.count)) {
            return failure("H5Sselect_hyperslab", variable, hdf5_last_error());
        }
        session().progress.call("H5Dread");
        if (H5Dread(set.id, set.type.get(), memory.get(), set.space.get(), transfer(),
                    data.data()) < 0) {
            return failure("H5Dread", variable, hdf5_last_error());
        }
        note_mode();
        return {};
    }

    Status do_sync() override {
        session().progress.call("H5Fflush");
        if (H5Fflush(file_, H5F_SCOPE_GLOBAL) < 0) return failure("H5Fflush", hdf5_last_error());
        return {};
    }

    Status do_close() override {
        session().progress.call("H5Dclose");
        for (Dataset& set : sets_) {
            if (H5Dclose(std::exchange(set.id, -1)) < 0)
                return failure("H5Dclose", hdf5_last_error());
        }
        session().progress.call("H5Fclose");
        if (H5Fclose(std::exchange(file_, -1)) < 0) return failure("H5Fclose", hdf5_last_error());
        closed_ = true;
        return {};
    }

  private:
    hid_t transfer() const {
        return access() == ArrayAccess::collective ? collective_.get() : independent_.get();
    }

    Status put(std::size_t variable, const Slab& slab, const Local& memory,
               std::span<const std::byte> data) {
        const Dataset& set = sets_[variable];
        if (!select(set.space.get(), slab.start, slab.count)) {
            return failure("H5Sselect_hyperslab", variable, hdf5_last_error());
        }
        session().progress.call("H5Dwrite");
        if (H5Dwrite(set.id, set.type.get(), memory.get(), set.space.get(), transfer(),
                     data.data()) < 0) {
            return failure("H5Dwrite", variable, hdf5_last_error());
        }
        note_mode();
        return {};
    }

    /// What the library made of a collective call.
    void note_mode() {
        if (access() != ArrayAccess::collective) return;
        H5D_mpio_actual_io_mode_t mode = H5D_MPIO_NO_COLLECTIVE;
        if (H5Pget_mpio_actual_io_mode(collective_.get(), &mode) < 0) {
            H5Eclear2(H5E_DEFAULT);
            return;
        }
        ++count().modes[mode_name(mode)];
        if (mode == H5D_MPIO_CHUNK_COLLECTIVE || mode == H5D_MPIO_CONTIGUOUS_COLLECTIVE) {
            ++*count().done_collectively;
        }
    }

    Status write_attribute(const ArrayAttribute& attribute) {
        const auto* text = std::get_if<std::string>(&attribute.value);
        const auto* whole = std::get_if<std::int32_t>(&attribute.value);
        const auto* real = std::get_if<double>(&attribute.value);
        const Local type(H5Tcopy(text != nullptr    ? H5T_C_S1
                                 : whole != nullptr ? H5T_NATIVE_INT32
                                                    : H5T_NATIVE_DOUBLE),
                         H5Tclose);
        if (text != nullptr) H5Tset_size(type.get(), std::max<std::size_t>(text->size(), 1));
        const Local space(H5Screate(H5S_SCALAR), H5Sclose);
        const Local id(H5Acreate2(file_, attribute.name.c_str(), type.get(), space.get(),
                                  H5P_DEFAULT, H5P_DEFAULT),
                       H5Aclose);
        const void* value = text != nullptr    ? static_cast<const void*>(text->c_str())
                            : whole != nullptr ? static_cast<const void*>(whole)
                                               : static_cast<const void*>(real);
        if (id.get() < 0 || H5Awrite(id.get(), type.get(), value) < 0) {
            return failure("H5Awrite", hdf5_last_error());
        }
        return {};
    }

    Status compare(std::size_t variable, const Dataset& set) const {
        Extents extents{};
        const int rank = H5Sget_simple_extent_ndims(set.space.get());
        if (rank > 0) H5Sget_simple_extent_dims(set.space.get(), extents.data(), nullptr);
        const Local stored(H5Dget_type(set.id), H5Tclose);
        const bool same_type = H5Tget_class(stored.get()) == H5Tget_class(set.type.get()) &&
                               H5Tget_size(stored.get()) == H5Tget_size(set.type.get());
        return check_variable(path(), schema(), variable,
                              {extents.begin(), extents.begin() + std::max(rank, 0)}, same_type);
    }

    bool is_root_;
    hid_t file_;
    Local collective_;
    Local independent_;
    std::vector<Dataset> sets_;
    bool closed_ = false;
};

class Hdf5Library : public ArrayLibrary {
  public:
    Hdf5Library(Session& session, const Hdf5Settings& settings)
        : ArrayLibrary(session), settings_(settings), storage_(make_posix_storage(session)) {
        // At exit the library would close what a failed run left open, long after MPI has gone.
        H5dont_atexit();
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }

    std::string_view name() const override { return "hdf5"; }

    ArrayCapabilities capabilities() const override {
        ArrayCapabilities can;
        can.memory_box = true;
        can.update = true;
        return can;
    }

    std::string version() const override {
        unsigned major = 0;
        unsigned minor = 0;
        unsigned release = 0;
        H5get_libversion(&major, &minor, &release);
        return fmt::format("HDF5 {}.{}.{}", major, minor, release);
    }

    Json describe() const override {
        Hdf5Settings copy = settings_;
        OptionTable table("hdf5", "settings");
        copy.declare(table);
        return table.values();
    }
    Storage& storage() override { return *storage_; }

  protected:
    Result<std::unique_ptr<ArrayFile>> do_create(const Comm& comm,
                                                 const ArrayRequest& request) override {
        const Info info(request.hints);
        const Local access = access_list(comm, info);
        GuardedPath guarded(comm, request.path);
        if (auto made = guarded.make(); !made) return std::move(made.error());
        session().progress.call("H5Fcreate");
        const hid_t id = H5Fcreate(request.path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get());
        if (id < 0) return io_error("H5Fcreate", request.path, hdf5_last_error());
        auto file = std::make_unique<Hdf5File>(session(), comm, request, id);
        if (auto ours = guarded.check(); !ours) return std::move(ours.error());
        if (auto defined = file->define(settings_); !defined) return defined.error();
        return std::unique_ptr<ArrayFile>(std::move(file));
    }

    Result<std::unique_ptr<ArrayFile>> do_open(const Comm& comm,
                                               const ArrayRequest& request) override {
        return open_as(H5F_ACC_RDONLY, comm, request);
    }

    Result<std::unique_ptr<ArrayFile>> do_update(const Comm& comm,
                                                 const ArrayRequest& request) override {
        return open_as(H5F_ACC_RDWR, comm, request);
    }

  private:
    Result<std::unique_ptr<ArrayFile>> open_as(unsigned flags, const Comm& comm,
                                               const ArrayRequest& request) {
        const Info info(request.hints);
        const Local access = access_list(comm, info);
        session().progress.call("H5Fopen");
        const hid_t id = H5Fopen(request.path.c_str(), flags, access.get());
        if (id < 0) return io_error("H5Fopen", request.path, hdf5_last_error());
        auto file = std::make_unique<Hdf5File>(session(), comm, request, id);
        if (auto found = file->find(); !found) return found.error();
        return std::unique_ptr<ArrayFile>(std::move(file));
    }

    Local access_list(const Comm& comm, const Info& info) const {
        Local access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        H5Pset_fapl_mpio(access.get(), raw(comm), info.raw());
        if (settings_.alignment.count > 0) {
            H5Pset_alignment(access.get(),
                             static_cast<hsize_t>(settings_.alignment_threshold.count),
                             static_cast<hsize_t>(settings_.alignment.count));
        }
        H5Pset_sieve_buf_size(access.get(), static_cast<std::size_t>(settings_.sieve_buffer.count));
        H5Pset_meta_block_size(access.get(), static_cast<hsize_t>(settings_.metadata_block.count));
        if (settings_.collective_metadata) {
            H5Pset_coll_metadata_write(access.get(), true);
            H5Pset_all_coll_metadata_ops(access.get(), true);
        }
        if (settings_.latest_version) {
            H5Pset_libver_bounds(access.get(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
        }
        return access;
    }

    Hdf5Settings settings_;
    std::unique_ptr<Storage> storage_;
};

}  // namespace

std::unique_ptr<ArrayLibrary> make_hdf5_library(Session& session, const Hdf5Settings& settings) {
    return std::make_unique<Hdf5Library>(session, settings);
}

}  // namespace effio
