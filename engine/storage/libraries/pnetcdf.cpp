// SPDX-License-Identifier: BSD-3-Clause
// Arrays in classic NetCDF files through PnetCDF.
#include <pnetcdf.h>

#include <fmt/format.h>

#include "parallel/mpi_comm.hpp"
#include "storage/array_libraries.hpp"
#include "storage/guarded_path.hpp"
#include "storage/late_views.hpp"
#include "storage/mpi_info.hpp"
#include "storage/posix.hpp"
#include "storage/posix_calls.hpp"

namespace effio {
namespace {

struct Types {
    nc_type in_file;
    MPI_Datatype in_memory;
};

Types types_of(ArrayType type) {
    switch (type) {
        case ArrayType::text:
            return {NC_CHAR, MPI_CHAR};
        case ArrayType::byte:
            return {NC_BYTE, MPI_SIGNED_CHAR};
        case ArrayType::int32:
            return {NC_INT, MPI_INT};
        case ArrayType::int64:
            return {NC_INT64, MPI_LONG_LONG_INT};
        case ArrayType::real32:
            return {NC_FLOAT, MPI_FLOAT};
        case ArrayType::real64:
            break;
    }
    return {NC_DOUBLE, MPI_DOUBLE};
}

static_assert(sizeof(MPI_Offset) == sizeof(std::int64_t));

/// The slab's numbers as the library takes them.
std::vector<MPI_Offset> offsets(const std::vector<std::int64_t>& values) {
    return {values.begin(), values.end()};
}

class PnetcdfFile : public ArrayFile {
  public:
    PnetcdfFile(Session& session, const ArrayRequest& request, int id)
        : ArrayFile(session, request), id_(id) {}

    /// Collective: dimensions, variables, attributes, end of definition.
    Status define() {
        std::vector<int> dimensions;
        for (const auto& dimension : schema().dimensions) {
            int id = 0;
            const int code = ncmpi_def_dim(id_, dimension.name.c_str(), dimension.length, &id);
            if (code != NC_NOERR) return failed("ncmpi_def_dim", code);
            dimensions.push_back(id);
        }
        for (std::size_t v = 0; v < schema().variables.size(); ++v) {
            const auto& variable = schema().variables[v];
            if (!variable.record.empty() || variable.text_length != 1) {
                return failure("ncmpi_def_var", v, "NetCDF has neither records nor strings");
            }
            std::vector<int> of_variable;
            for (const auto d : variable.dimensions) of_variable.push_back(dimensions[d]);
            int id = 0;
            const int code =
                ncmpi_def_var(id_, variable.name.c_str(), types_of(variable.type).in_file,
                              static_cast<int>(of_variable.size()), of_variable.data(), &id);
            if (code != NC_NOERR) return failed("ncmpi_def_var", v, code);
            variables_.push_back(id);
        }
        for (const auto& attribute : schema().attributes) {
            if (const int code = put_attribute(attribute); code != NC_NOERR) {
                return failed("ncmpi_put_att", code);
            }
        }
        session().progress.call("ncmpi_enddef");
        if (const int code = ncmpi_enddef(id_); code != NC_NOERR) {
            return failed("ncmpi_enddef", code);
        }
        return begin_access();
    }

    /// Collective: finds what the reader expects. A reader of a part alone learns at each get
    /// whether the file goes so far; a writer makes it longer.
    Status find(bool partial, bool writes) {
        std::int64_t needed = 0;
        for (std::size_t v = 0; v < schema().variables.size(); ++v) {
            const auto& variable = schema().variables[v];
            int id = 0;
            int code = ncmpi_inq_varid(id_, variable.name.c_str(), &id);
            if (code == NC_ENOTVAR) return missing_variable(path(), variable);
            if (code != NC_NOERR) return failed("ncmpi_inq_varid", v, code);
            if (auto same = compare(v, id); !same) return same;
            MPI_Offset at = 0;
            code = ncmpi_inq_varoffset(id_, id, &at);
            if (code != NC_NOERR) return failed("ncmpi_inq_varoffset", v, code);
            needed = std::max<std::int64_t>(needed, at + schema().bytes(v));
            begins_.push_back(at);
            variables_.push_back(id);
        }
        // Reading behind the end of a file that was cut short is not an error to the library.
        const auto size = size_of_late(session(), path(), partial ? 0 : needed);
        if (!size) return size.error();
        if (!partial && *size < needed) return too_short(path(), *size, needed);
        if (partial && !writes) end_ = *size;
        return begin_access();
    }

    GrantedHints granted_hints() override {
        MPI_Info info = MPI_INFO_NULL;
        if (ncmpi_inq_file_info(id_, &info) != NC_NOERR) return {};
        GrantedHints hints = hints_of(info);
        if (info != MPI_INFO_NULL) MPI_Info_free(&info);
        return hints;
    }

    Result<ArrayAttribute> attribute(const ArrayAttribute& like) override {
        ArrayAttribute found = like;
        const char* name = like.name.c_str();
        int code = NC_NOERR;
        nc_type type = NC_NAT;
        MPI_Offset length = 0;
        code = ncmpi_inq_att(id_, NC_GLOBAL, name, &type, &length);
        const bool is_text = std::holds_alternative<std::string>(like.value);
        const auto most = is_text ? longest_attribute : 1;
        if (code == NC_NOERR && ((type == NC_CHAR) != is_text || std::cmp_greater(length, most) ||
                                 (!is_text && length != 1))) {
            code = NC_EBADTYPE;
        }
        if (code != NC_NOERR)
            return failure("ncmpi_inq_att", like.name + ": " + ncmpi_strerror(code));
        if (auto* text = std::get_if<std::string>(&found.value); text != nullptr) {
            text->assign(static_cast<std::size_t>(length), '\0');
            code = ncmpi_get_att_text(id_, NC_GLOBAL, name, text->data());
        } else if (auto* whole = std::get_if<std::int32_t>(&found.value); whole != nullptr) {
            code = ncmpi_get_att_int(id_, NC_GLOBAL, name, whole);
        } else {
            code = ncmpi_get_att_double(id_, NC_GLOBAL, name, std::get_if<double>(&found.value));
        }
        if (code != NC_NOERR)
            return failure("ncmpi_get_att", like.name + ": " + ncmpi_strerror(code));
        return found;
    }

    Result<std::int64_t> overhead_bytes() override { return put_bytes_ - totals().bytes; }

    Json describe() override {
        Json out = Json::object();
        MPI_Offset value = 0;
        if (ncmpi_inq_header_size(id_, &value) == NC_NOERR) out["header_bytes"] = value;
        if (ncmpi_inq_header_extent(id_, &value) == NC_NOERR) out["header_extent_bytes"] = value;
        // Says only where the library was built to trace its memory.
        if (ncmpi_inq_malloc_max_size(&value) == NC_NOERR) out["heap_maximum_bytes"] = value;
        return out;
    }

  protected:
    Status do_set_access(ArrayAccess access) override {
        const bool collective = access == ArrayAccess::collective;
        session().progress.call(collective ? "ncmpi_end_indep_data" : "ncmpi_begin_indep_data");
        const int code = collective ? ncmpi_end_indep_data(id_) : ncmpi_begin_indep_data(id_);
        return failed("ncmpi_begin_indep_data", code);
    }

    Status do_put(std::size_t variable, const Slab& slab,
                  std::span<const std::byte> data) override {
        const Call c = call(variable, slab);
        const bool all = access() == ArrayAccess::collective;
        const char* name = all ? "ncmpi_put_vara_all" : "ncmpi_put_vara";
        session().progress.call(name);
        const int code = all ? ncmpi_put_vara_all(id_, c.variable, c.start.data(), c.count.data(),
                                                  data.data(), c.elements, c.type)
                             : ncmpi_put_vara(id_, c.variable, c.start.data(), c.count.data(),
                                              data.data(), c.elements, c.type);
        return failed(name, variable, code);
    }

    Status do_get(std::size_t variable, const Slab& slab, std::span<std::byte> data) override {
        const bool all = access() == ArrayAccess::collective;
        const std::int64_t inside = end_ ? schema().end_of(variable, slab) : 0;
        if (inside > 0 && begins_[variable] + inside > *end_) {
            if (all) {
                // The others must not wait for this rank: it takes part with nothing.
                const Slab none{slab.start, std::vector<std::int64_t>(slab.count.size())};
                if (auto part = do_get(variable, none, {}); !part) return part;
            }
            return too_short(path(), *end_, begins_[variable] + inside);
        }
        const Call c = call(variable, slab);
        const char* name = all ? "ncmpi_get_vara_all" : "ncmpi_get_vara";
        session().progress.call(name);
        const int code = all ? ncmpi_get_vara_all(id_, c.variable, c.start.data(), c.count.data(),
                                                  data.data(), c.elements, c.type)
                             : ncmpi_get_vara(id_, c.variable, c.start.data(), c.count.data(),
                                              data.data(), c.elements, c.type);
        return failed(name, variable, code);
    }

    Status do_attach_buffer(std::int64_t bytes) override {
        return failed("ncmpi_buffer_attach", ncmpi_buffer_attach(id_, bytes));
    }
    Status do_detach_buffer() override {
        return failed("ncmpi_buffer_detach", ncmpi_buffer_detach(id_));
    }

    Status do_post_put(std::size_t variable, const Slab& slab, std::span<const std::byte> data,
                       Posted how) override {
        const Call c = call(variable, slab);
        int request = 0;
        const bool copies = how == Posted::buffered;
        const char* name = copies ? "ncmpi_bput_vara" : "ncmpi_iput_vara";
        session().progress.call(name);
        const int code = copies ? ncmpi_bput_vara(id_, c.variable, c.start.data(), c.count.data(),
                                                  data.data(), c.elements, c.type, &request)
                                : ncmpi_iput_vara(id_, c.variable, c.start.data(), c.count.data(),
                                                  data.data(), c.elements, c.type, &request);
        if (code == NC_NOERR) requests_.push_back(request);
        return failed(name, variable, code);
    }

    Status do_post_get(std::size_t variable, const Slab& slab, std::span<std::byte> data) override {
        const Call c = call(variable, slab);
        int request = 0;
        session().progress.call("ncmpi_iget_vara");
        const int code = ncmpi_iget_vara(id_, c.variable, c.start.data(), c.count.data(),
                                         data.data(), c.elements, c.type, &request);
        if (code == NC_NOERR) requests_.push_back(request);
        return failed("ncmpi_iget_vara", variable, code);
    }

    Status do_wait() override {
        const bool all = access() == ArrayAccess::collective;
        const char* name = all ? "ncmpi_wait_all" : "ncmpi_wait";
        session().progress.call(name);
        std::vector<int> codes(requests_.size(), NC_NOERR);
        const int count = static_cast<int>(requests_.size());
        int code = all ? ncmpi_wait_all(id_, count, requests_.data(), codes.data())
                       : ncmpi_wait(id_, count, requests_.data(), codes.data());
        requests_.clear();
        for (const int c : codes) {
            if (code == NC_NOERR) code = c;
        }
        return failed(name, code);
    }

    Status do_sync() override {
        session().progress.call("ncmpi_sync");
        return failed("ncmpi_sync", ncmpi_sync(id_));
    }

    Status do_close() override {
        session().progress.call("ncmpi_close");
        MPI_Offset bytes = 0;
        if (ncmpi_inq_put_size(id_, &bytes) == NC_NOERR) put_bytes_ = bytes;
        return failed("ncmpi_close", ncmpi_close(id_));
    }

  private:
    struct Call {
        int variable;
        std::vector<MPI_Offset> start;
        std::vector<MPI_Offset> count;
        MPI_Offset elements;
        MPI_Datatype type;
    };
    Call call(std::size_t variable, const Slab& slab) const {
        const auto& v = schema().variables[variable];
        return {variables_[variable], offsets(slab.start), offsets(slab.count),
                schema().bytes(variable, slab) / v.element_bytes(), types_of(v.type).in_memory};
    }

    Status failed(const char* what, int code) const {
        if (code == NC_NOERR) return {};
        return failure(what, ncmpi_strerror(code));
    }
    Status failed(const char* what, std::size_t variable, int code) const {
        if (code == NC_NOERR) return {};
        return failure(what, variable, ncmpi_strerror(code));
    }

    /// A file begins in collective data mode.
    Status begin_access() {
        return access() == ArrayAccess::collective ? Status{}
                                                   : do_set_access(ArrayAccess::independent);
    }

    int put_attribute(const ArrayAttribute& attribute) const {
        const char* name = attribute.name.c_str();
        if (const auto* text = std::get_if<std::string>(&attribute.value); text != nullptr) {
            return ncmpi_put_att_text(id_, NC_GLOBAL, name, static_cast<MPI_Offset>(text->size()),
                                      text->c_str());
        }
        if (const auto* whole = std::get_if<std::int32_t>(&attribute.value); whole != nullptr) {
            return ncmpi_put_att_int(id_, NC_GLOBAL, name, NC_INT, 1, whole);
        }
        return ncmpi_put_att_double(id_, NC_GLOBAL, name, NC_DOUBLE, 1,
                                    &std::get<double>(attribute.value));
    }

    Status compare(std::size_t v, int id) const {
        nc_type type = NC_NAT;
        int rank = 0;
        ncmpi_inq_vartype(id_, id, &type);
        ncmpi_inq_varndims(id_, id, &rank);
        std::vector<int> dimensions(static_cast<std::size_t>(rank));
        ncmpi_inq_vardimid(id_, id, dimensions.data());
        std::vector<std::int64_t> found;
        for (const int d : dimensions) {
            MPI_Offset length = 0;
            ncmpi_inq_dimlen(id_, d, &length);
            found.push_back(length);
        }
        return check_variable(path(), schema(), v, found,
                              type == types_of(schema().variables[v].type).in_file);
    }

    int id_;
    std::vector<int> variables_;
    std::vector<int> requests_;
    std::vector<std::int64_t> begins_;  ///< of the variables in a file that was there; bytes
    std::optional<std::int64_t> end_;   ///< of a file that may hold less than its variables; bytes
    std::int64_t put_bytes_ = 0;        ///< as the library counts them, header included
};

class PnetcdfLibrary : public ArrayLibrary {
  public:
    PnetcdfLibrary(Session& session, const PnetcdfSettings& settings)
        : ArrayLibrary(session), settings_(settings), storage_(make_posix_storage(session)) {}

    std::string_view name() const override { return "pnetcdf"; }

    ArrayCapabilities capabilities() const override {
        ArrayCapabilities can;
        can.nonblocking = true;
        can.buffered = true;
        can.update = true;
        return can;
    }

    std::string version() const override {
        // "1.12.3 of 28 Jul 2022"
        const std::string text = ncmpi_inq_libvers();
        return "PnetCDF " + text.substr(0, text.find(" of"));
    }

    Json describe() const override {
        return Json{{"format", word_of(PnetcdfSettings::formats(), settings_.format)}};
    }
    Storage& storage() override { return *storage_; }

  protected:
    Result<std::unique_ptr<ArrayFile>> do_create(const Comm& comm,
                                                 const ArrayRequest& request) override {
        const Info info(request.hints);
        GuardedPath guarded(comm, request.path);
        if (auto made = guarded.make(); !made) return std::move(made.error());
        session().progress.call("ncmpi_create");
        const int format =
            settings_.format == PnetcdfSettings::Format::cdf5 ? NC_64BIT_DATA : NC_64BIT_OFFSET;
        int id = 0;
        const int code =
            ncmpi_create(raw(comm), request.path.c_str(), NC_CLOBBER | format, info.raw(), &id);
        if (code != NC_NOERR) {
            return io_error("ncmpi_create", request.path, ncmpi_strerror(code));
        }
        auto file = std::make_unique<PnetcdfFile>(session(), request, id);
        if (auto ours = guarded.check(); !ours) return std::move(ours.error());
        if (auto defined = file->define(); !defined) return defined.error();
        return std::unique_ptr<ArrayFile>(std::move(file));
    }

    Result<std::unique_ptr<ArrayFile>> do_open(const Comm& comm,
                                               const ArrayRequest& request) override {
        return open_as(NC_NOWRITE, comm, request);
    }

    Result<std::unique_ptr<ArrayFile>> do_update(const Comm& comm,
                                                 const ArrayRequest& request) override {
        return open_as(NC_WRITE, comm, request);
    }

  private:
    Result<std::unique_ptr<ArrayFile>> open_as(int mode, const Comm& comm,
                                               const ArrayRequest& request) {
        const Info info(request.hints);
        session().progress.call("ncmpi_open");
        int id = 0;
        const int code = ncmpi_open(raw(comm), request.path.c_str(), mode, info.raw(), &id);
        if (code != NC_NOERR) return io_error("ncmpi_open", request.path, ncmpi_strerror(code));
        auto file = std::make_unique<PnetcdfFile>(session(), request, id);
        if (auto found = file->find(request.partial, mode == NC_WRITE); !found)
            return found.error();
        return std::unique_ptr<ArrayFile>(std::move(file));
    }

    PnetcdfSettings settings_;
    std::unique_ptr<Storage> storage_;
};

}  // namespace

std::unique_ptr<ArrayLibrary> make_pnetcdf_library(Session& session,
                                                   const PnetcdfSettings& settings) {
    return std::make_unique<PnetcdfLibrary>(session, settings);
}

}  // namespace effio
