// SPDX-License-Identifier: BSD-3-Clause
// A file of typed, named arrays, the same for each library that can write one.
//
// A file is defined in whole by a schema when it is created; then ranks put and get slabs of its
// variables. The public calls check the arguments, mark progress, time the call into a histogram
// where one is set, count what was moved, and return failures with rank and place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/stats.hpp"
#include "parallel/session.hpp"
#include "storage/array_schema.hpp"
#include "storage/byte_file.hpp"
#include "storage/hints.hpp"
#include "storage/target.hpp"

namespace effio {

/// Whether all ranks take part in every put and get, or each for itself.
enum class ArrayAccess : char { collective, independent };
std::string_view name(ArrayAccess access);

/// How a put that is only posted treats the caller's memory until wait().
enum class Posted : char {
    borrowed,  ///< it must stay as it is
    buffered,  ///< copied into the buffer that was attached
};

struct ArrayCapabilities {
    bool shared_file = true;      ///< one file for all ranks
    bool collective = true;       ///< a collective call is more than each rank's own
    bool nonblocking = false;     ///< post and wait
    bool buffered = false;        ///< Posted::buffered
    bool any_slab = true;         ///< ranks may put any slab, not only (parts of) their share
    bool self_describing = true;  ///< the file knows its variables
    bool attributes = true;       ///< keeps attributes, and text and records as such
    bool memory_box = false;      ///< takes data out of a larger array in memory
    bool hints = true;            ///< passes hints to MPI-IO
    bool stores_data = true;      ///< what is read back is what was written
    bool real_files = true;       ///< paths name files of this system
    bool update = false;          ///< puts into files that are there
};

struct ArrayRequest {
    std::string path;
    /// create: what the file shall hold. open: what the reader expects to find in it; a file may
    /// hold more. The shares say who wrote what.
    ArraySchema schema;
    Hints hints;
    ArrayAccess access = ArrayAccess::collective;  ///< to begin with
    /// Collective slabs may be any box. Else they are ranges of the first dimension, and backends
    /// without a separate format need no view for them.
    bool boxes = false;
    /// open, update: the file may end before the data do; a get behind its end fails then.
    bool partial = false;
};

/// What a rank has moved through a file since it was opened.
struct ArrayTotals {
    std::int64_t calls = 0;
    std::int64_t bytes = 0;  ///< of array data
    /// Calls made in collective access, and how many of them the library says it carried out
    /// collectively; nothing where it does not say.
    std::int64_t collective_calls = 0;
    std::optional<std::int64_t> done_collectively;
    /// The library's words for what it did instead or in which way, with the number of calls.
    std::map<std::string, std::int64_t> modes = {};
};

class ArrayFile {
  public:
    virtual ~ArrayFile() = default;
    ArrayFile(const ArrayFile&) = delete;
    ArrayFile& operator=(const ArrayFile&) = delete;

    const std::string& path() const { return path_; }
    const ArraySchema& schema() const { return schema_; }
    ArrayAccess access() const { return access_; }

    /// Collective: puts, gets and waits from now on are of this kind.
    Status set_access(ArrayAccess access);
    /// Moves a whole slab; `data` holds its elements in order. In collective access every rank
    /// calls for the same variable, with an empty slab if it has nothing.
    Status put(std::size_t variable, const Slab& slab, std::span<const std::byte> data);
    Status get(std::size_t variable, const Slab& slab, std::span<std::byte> data);
    /// As put, with the elements out of a box of the array `memory` (capability memory_box).
    Status put_from(std::size_t variable, const Slab& slab, std::span<const std::byte> memory,
                    const Box& box);

    /// Collective, after an open and outside all timed intervals: returns an error on all ranks if
    /// the open read metadata of a format of ours that differ from what this run wrote.
    virtual Status confirm() { return {}; }

    /// Space for puts that are posted buffered (capability buffered).
    Status attach_buffer(std::int64_t bytes);
    Status detach_buffer();
    /// Notes a put or get that wait() carries out (capability nonblocking); local.
    Status post_put(std::size_t variable, const Slab& slab, std::span<const std::byte> data,
                    Posted how);
    Status post_get(std::size_t variable, const Slab& slab, std::span<std::byte> data);
    /// Completes what this rank posted; collective in collective access.
    Status wait();

    /// Collective: what was put by now is on storage, as far as the library can do that.
    Status sync();
    /// Collective. The file is not usable afterwards.
    Status close();

    /// The file's attribute of the name and type of `like` (capability attributes); fails where
    /// there is none of this type.
    virtual Result<ArrayAttribute> attribute(const ArrayAttribute& like);

    /// What MPI-IO says is in effect; empty where the library does not pass it on.
    virtual GrantedHints granted_hints() { return {}; }
    /// After close: bytes that this rank gave to the file in addition to array data, such as
    /// headers and record marks, not what is empty between; what only a shared file says counts on
    /// the root of its ranks.
    virtual Result<std::int64_t> overhead_bytes() { return 0; }
    /// More that the library knows of the open file (extent of the header, memory used); an object.
    virtual Json describe() { return Json::object(); }

    const ArrayTotals& totals() const { return totals_; }
    /// Times every put, get and wait from now on; null switches that off.
    void time_calls_into(Histogram* histogram) { call_times_ = histogram; }

  protected:
    ArrayFile(Session& session, const ArrayRequest& request)
        : session_(session),
          path_(request.path),
          schema_(request.schema),
          access_(request.access) {}

    virtual Status do_set_access(ArrayAccess access) = 0;
    virtual Status do_put(std::size_t variable, const Slab& slab,
                          std::span<const std::byte> data) = 0;
    virtual Status do_get(std::size_t variable, const Slab& slab, std::span<std::byte> data) = 0;
    virtual Status do_put_from(std::size_t variable, const Slab& slab,
                               std::span<const std::byte> memory, const Box& box);
    virtual Status do_attach_buffer(std::int64_t bytes);
    virtual Status do_detach_buffer();
    virtual Status do_post_put(std::size_t variable, const Slab& slab,
                               std::span<const std::byte> data, Posted how);
    virtual Status do_post_get(std::size_t variable, const Slab& slab, std::span<std::byte> data);
    virtual Status do_wait();
    virtual Status do_sync() = 0;
    virtual Status do_close() = 0;

    Session& session() const { return session_; }
    ArrayTotals& count() { return totals_; }
    /// An error of this file: the call, and what it says.
    Error failure(std::string call, std::string cause) const;
    /// The same about a variable.
    Error failure(std::string call, std::size_t variable, const std::string& cause) const;

  private:
    template <class Call>
    Status transfer(std::size_t variable, const Slab& slab, std::size_t bytes, Call&& call);
    template <class Call>
    Status timed(Call&& call);
    Status checked(Status status) const;

    Session& session_;
    std::string path_;
    ArraySchema schema_;
    ArrayAccess access_;
    ArrayTotals totals_;
    Histogram* call_times_ = nullptr;
};

/// One library (or plain layout) for files of arrays.
class ArrayLibrary {
  public:
    virtual ~ArrayLibrary() = default;
    ArrayLibrary(const ArrayLibrary&) = delete;
    ArrayLibrary& operator=(const ArrayLibrary&) = delete;

    virtual std::string_view name() const = 0;
    virtual ArrayCapabilities capabilities() const = 0;
    /// Version of the library that runs, e.g. "HDF5 1.10.8"; empty for our layouts.
    virtual std::string version() const { return {}; }
    /// Settings in effect and what else belongs in the result; an object.
    virtual Json describe() const { return Json::object(); }

    /// Collective: a new file, defined and ready for data; a file of that name is replaced.
    Result<std::unique_ptr<ArrayFile>> create(const Comm& comm, const ArrayRequest& request);
    /// Collective: for reading. Fails where a variable of the schema is missing or differs in type
    /// or extents, and where the file is too short to hold them.
    Result<std::unique_ptr<ArrayFile>> open(const Comm& comm, const ArrayRequest& request);
    /// Collective: as open, for writing into what is there (capability update).
    Result<std::unique_ptr<ArrayFile>> update(const Comm& comm, const ArrayRequest& request);

    /// The files that `file` of this many writers represents.
    virtual FileSet files(const std::string& file, int writers) const;
    /// How the files can be looked at and removed.
    virtual Storage& storage() = 0;

  protected:
    explicit ArrayLibrary(Session& session) : session_(session) {}
    virtual Result<std::unique_ptr<ArrayFile>> do_create(const Comm& comm,
                                                         const ArrayRequest& request) = 0;
    virtual Result<std::unique_ptr<ArrayFile>> do_open(const Comm& comm,
                                                       const ArrayRequest& request) = 0;
    virtual Result<std::unique_ptr<ArrayFile>> do_update(const Comm& comm,
                                                         const ArrayRequest& request);
    Session& session() const { return session_; }

  private:
    Result<std::unique_ptr<ArrayFile>> checked(Result<std::unique_ptr<ArrayFile>> file) const;

    Session& session_;
};

/// The error of a reader that does not find a variable.
Error missing_variable(const std::string& path, const ArrayVariable& variable);
/// A variable was found with these extents, and with the type that the reader expects or another.
Status check_variable(const std::string& path, const ArraySchema& schema, std::size_t variable,
                      const std::vector<std::int64_t>& extents, bool same_type);

}  // namespace effio
