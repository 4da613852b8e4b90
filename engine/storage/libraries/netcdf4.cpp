// SPDX-License-Identifier: BSD-3-Clause
// Arrays in NetCDF-4 (HDF5) files through the parallel NetCDF library.
#include <mpi.h>

#include <fmt/format.h>
#include <netcdf.h>
#include <netcdf_par.h>
#ifdef EFFIO_HAVE_HDF5
#include <hdf5.h>

#include "storage/guarded_path.hpp"
#include "storage/libraries/hdf5_header.hpp"
#endif

#include "parallel/mpi_comm.hpp"
#include "storage/array_libraries.hpp"
#include "storage/mpi_info.hpp"
#include "storage/posix.hpp"
#include "storage/posix_calls.hpp"

namespace effio {
namespace {

nc_type type_of(ArrayType type) {
    switch (type) {
        case ArrayType::text:
            return NC_CHAR;
        case ArrayType::byte:
            return NC_BYTE;
        case ArrayType::int32:
            return NC_INT;
        case ArrayType::int64:
            return NC_INT64;
        case ArrayType::real32:
            return NC_FLOAT;
        case ArrayType::real64:
            break;
    }
    return NC_DOUBLE;
}

std::vector<std::size_t> sizes(const std::vector<std::int64_t>& values) {
    return {values.begin(), values.end()};
}

class Netcdf4File : public ArrayFile {
  public:
    Netcdf4File(Session& session, const Comm& comm, const ArrayRequest& request, int id)
        : ArrayFile(session, request), is_root_(comm.is_root()), id_(id) {}
    Netcdf4File(const Netcdf4File&) = delete;
    Netcdf4File& operator=(const Netcdf4File&) = delete;
    ~Netcdf4File() override {
        if (!closed_) session().left_open = true;
    }

    /// Collective: dimensions, variables, attributes, end of definition.
    Status define(const Netcdf4Settings& settings) {
        std::vector<int> dimensions;
        for (const auto& dimension : schema().dimensions) {
            int id = 0;
            const int code = nc_def_dim(id_, dimension.name.c_str(),
                                        static_cast<std::size_t>(dimension.length), &id);
            if (code != NC_NOERR) return failed("nc_def_dim", code);
            dimensions.push_back(id);
        }
        for (std::size_t v = 0; v < schema().variables.size(); ++v) {
            const auto& variable = schema().variables[v];
            if (!variable.record.empty() || variable.text_length != 1) {
                return failure("nc_def_var", v, "this backend has neither records nor strings");
            }
            std::vector<int> of_variable;
            for (const auto d : variable.dimensions) of_variable.push_back(dimensions[d]);
            int id = 0;
            int code = nc_def_var(id_, variable.name.c_str(), type_of(variable.type),
                                  static_cast<int>(of_variable.size()), of_variable.data(), &id);
            if (code != NC_NOERR) return failed("nc_def_var", v, code);
            auto chunk = sizes(schema().shape(v));
            const bool chunked = settings.chunk_rows > 0 && schema().shared_out(v);
            chunk.front() =
                std::min(chunk.front(),
                         static_cast<std::size_t>(std::max<std::int64_t>(settings.chunk_rows, 1)));
            code = nc_def_var_chunking(id_, id, chunked ? NC_CHUNKED : NC_CONTIGUOUS, chunk.data());
            if (code != NC_NOERR) return failed("nc_def_var_chunking", v, code);
            // Filling would write every byte twice.
            code = nc_def_var_fill(id_, id, NC_NOFILL, nullptr);
            if (code != NC_NOERR) return failed("nc_def_var_fill", v, code);
            variables_.push_back(id);
        }
        for (const auto& attribute : schema().attributes) {
            if (const int code = put_attribute(attribute); code != NC_NOERR) {
                return failed("nc_put_att", code);
            }
        }
        session().progress.call("nc_enddef");
        if (const int code = nc_enddef(id_); code != NC_NOERR) return failed("nc_enddef", code);
        return do_set_access(access());
    }

    /// Collective: finds what the reader expects.
    Status find() {
        for (std::size_t v = 0; v < schema().variables.size(); ++v) {
            const auto& variable = schema().variables[v];
            int id = 0;
            const int code = nc_inq_varid(id_, variable.name.c_str(), &id);
            if (code == NC_ENOTVAR) return missing_variable(path(), variable);
            if (code != NC_NOERR) return failed("nc_inq_varid", v, code);
            if (auto same = compare(v, id); !same) return same;
            variables_.push_back(id);
        }
        return do_set_access(access());
    }

    Result<ArrayAttribute> attribute(const ArrayAttribute& like) override {
        ArrayAttribute found = like;
        const char* name = like.name.c_str();
        nc_type type = NC_NAT;
        std::size_t length = 0;
        int code = nc_inq_att(id_, NC_GLOBAL, name, &type, &length);
        const bool is_text = std::holds_alternative<std::string>(like.value);
        const auto most = is_text ? longest_attribute : 1;
        if (code == NC_NOERR && ((type == NC_CHAR) != is_text || std::cmp_greater(length, most) ||
                                 (!is_text && length != 1))) {
            code = NC_EBADTYPE;
        }
        if (code != NC_NOERR) return failure("nc_inq_att", like.name + ": " + nc_strerror(code));
        if (auto* text = std::get_if<std::string>(&found.value); text != nullptr) {
            text->assign(length, '\0');
            code = nc_get_att_text(id_, NC_GLOBAL, name, text->data());
        } else if (auto* whole = std::get_if<std::int32_t>(&found.value); whole != nullptr) {
            code = nc_get_att_int(id_, NC_GLOBAL, name, whole);
        } else {
            code = nc_get_att_double(id_, NC_GLOBAL, name, std::get_if<double>(&found.value));
        }
        if (code != NC_NOERR) return failure("nc_get_att", like.name + ": " + nc_strerror(code));
        return found;
    }

    Result<std::int64_t> overhead_bytes() override {
        if (!is_root_) return std::int64_t{0};
#ifdef EFFIO_HAVE_HDF5
        return hdf5_header_bytes(path());
#else
        // NetCDF does not distinguish its header from what is empty in the file.
        const auto size = size_of(path());
        if (!size) return size.error();
        return *size - schema().bytes();
#endif
    }

  protected:
    Status do_set_access(ArrayAccess access) override {
        session().progress.call("nc_var_par_access");
        for (const int id : variables_) {
            const int code = nc_var_par_access(
                id_, id, access == ArrayAccess::collective ? NC_COLLECTIVE : NC_INDEPENDENT);
            if (code != NC_NOERR) return failed("nc_var_par_access", code);
        }
        return {};
    }

    Status do_put(std::size_t variable, const Slab& slab,
                  std::span<const std::byte> data) override {
        session().progress.call("nc_put_vara");
        // A rank without data still takes part in a collective call.
        const char nothing = 0;
        const int code = nc_put_vara(
            id_, variables_[variable], sizes(slab.start).data(), sizes(slab.count).data(),
            data.empty() ? &nothing : static_cast<const void*>(data.data()));
        return failed("nc_put_vara", variable, code);
    }

    Status do_get(std::size_t variable, const Slab& slab, std::span<std::byte> data) override {
        session().progress.call("nc_get_vara");
        char nothing = 0;
        const int code = nc_get_vara(id_, variables_[variable], sizes(slab.start).data(),
                                     sizes(slab.count).data(),
                                     data.empty() ? &nothing : static_cast<void*>(data.data()));
        return failed("nc_get_vara", variable, code);
    }

    Status do_sync() override {
        session().progress.call("nc_sync");
        return failed("nc_sync", nc_sync(id_));
    }

    Status do_close() override {
        session().progress.call("nc_close");
        const int code = nc_close(id_);
        closed_ = code == NC_NOERR;
        return failed("nc_close", code);
    }

  private:
    Status failed(const char* what, int code) const {
        if (code == NC_NOERR) return {};
        return failure(what, nc_strerror(code));
    }
    Status failed(const char* what, std::size_t variable, int code) const {
        if (code == NC_NOERR) return {};
        return failure(what, variable, nc_strerror(code));
    }

    int put_attribute(const ArrayAttribute& attribute) const {
        const char* name = attribute.name.c_str();
        if (const auto* text = std::get_if<std::string>(&attribute.value); text != nullptr) {
            return nc_put_att_text(id_, NC_GLOBAL, name, text->size(), text->c_str());
        }
        if (const auto* whole = std::get_if<std::int32_t>(&attribute.value); whole != nullptr) {
            return nc_put_att_int(id_, NC_GLOBAL, name, NC_INT, 1, whole);
        }
        return nc_put_att_double(id_, NC_GLOBAL, name, NC_DOUBLE, 1,
                                 &std::get<double>(attribute.value));
    }

    Status compare(std::size_t v, int id) const {
        nc_type type = NC_NAT;
        int rank = 0;
        nc_inq_vartype(id_, id, &type);
        nc_inq_varndims(id_, id, &rank);
        std::vector<int> dimensions(static_cast<std::size_t>(rank));
        nc_inq_vardimid(id_, id, dimensions.data());
        std::vector<std::int64_t> found;
        for (const int d : dimensions) {
            std::size_t length = 0;
            nc_inq_dimlen(id_, d, &length);
            found.push_back(static_cast<std::int64_t>(length));
        }
        return check_variable(path(), schema(), v, found,
                              type == type_of(schema().variables[v].type));
    }

    bool is_root_;
    int id_;
    std::vector<int> variables_;
    bool closed_ = false;
};

class Netcdf4Library : public ArrayLibrary {
  public:
    Netcdf4Library(Session& session, const Netcdf4Settings& settings)
        : ArrayLibrary(session), settings_(settings), storage_(make_posix_storage(session)) {
#ifdef EFFIO_HAVE_HDF5
        // HDF5 below would, at exit, close what a failed run left open, long after MPI has gone.
        H5dont_atexit();
#endif
    }

    std::string_view name() const override { return "netcdf4"; }
    ArrayCapabilities capabilities() const override { return {}; }

    std::string version() const override {
        // "4.9.0 of Jul 13 2022 …"
        const std::string text = nc_inq_libvers();
        return "NetCDF " + text.substr(0, text.find(' '));
    }

    Json describe() const override { return Json{{"chunk-rows", settings_.chunk_rows}}; }
    Storage& storage() override { return *storage_; }

  protected:
    Result<std::unique_ptr<ArrayFile>> do_create(const Comm& comm,
                                                 const ArrayRequest& request) override {
        const Info info(request.hints);
        GuardedPath guarded(comm, request.path);
        if (auto made = guarded.make(); !made) return std::move(made.error());
        session().progress.call("nc_create_par");
        int id = 0;
        const int code = nc_create_par(request.path.c_str(), NC_CLOBBER | NC_NETCDF4, raw(comm),
                                       info.raw(), &id);
        if (code != NC_NOERR) return io_error("nc_create_par", request.path, nc_strerror(code));
        auto file = std::make_unique<Netcdf4File>(session(), comm, request, id);
        if (auto ours = guarded.check(); !ours) return std::move(ours.error());
        if (auto defined = file->define(settings_); !defined) return defined.error();
        return std::unique_ptr<ArrayFile>(std::move(file));
    }

    Result<std::unique_ptr<ArrayFile>> do_open(const Comm& comm,
                                               const ArrayRequest& request) override {
        const Info info(request.hints);
        session().progress.call("nc_open_par");
        int id = 0;
        const int code = nc_open_par(request.path.c_str(), NC_NOWRITE, raw(comm), info.raw(), &id);
        if (code != NC_NOERR) {
            // Of a file that was cut short the library says "HDF error" and no more.
            const auto size = size_of(request.path);
            const std::int64_t needed = request.schema.bytes();
            if (size && *size < needed) return too_short(request.path, *size, needed);
            return io_error("nc_open_par", request.path, nc_strerror(code));
        }
        auto file = std::make_unique<Netcdf4File>(session(), comm, request, id);
        if (auto found = file->find(); !found) return found.error();
        return std::unique_ptr<ArrayFile>(std::move(file));
    }

  private:
    Netcdf4Settings settings_;
    std::unique_ptr<Storage> storage_;
};

}  // namespace

std::unique_ptr<ArrayLibrary> make_netcdf4_library(Session& session,
                                                   const Netcdf4Settings& settings) {
    return std::make_unique<Netcdf4Library>(session, settings);
}

}  // namespace effio
