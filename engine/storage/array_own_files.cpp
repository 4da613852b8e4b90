// SPDX-License-Identifier: BSD-3-Clause
// One file for each writer: its share of every variable, in the schema's order, either bare or as
// Fortran unformatted records. A share without elements takes no place.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>

#include "storage/array_libraries.hpp"
#include "storage/late_views.hpp"
#include "storage/own_shares.hpp"
#include "storage/posix.hpp"
#include "storage/posix_calls.hpp"
#include "storage/record_layout.hpp"

namespace effio {
namespace {

/// Places of the parts of one writer's file.
class OwnFileLayout {
  public:
    OwnFileLayout(const ArraySchema& schema, OwnFileFormat format, int writer) : format_(format) {
        for (std::size_t v = 0; v < schema.variables.size(); ++v) {
            const std::int64_t payload = schema.bytes(v, schema.share(v, writer));
            begin_.push_back(bytes_);
            if (payload > 0) bytes_ += stored(payload);
            data_bytes_ += payload;
        }
    }
    std::int64_t begin(std::size_t variable) const { return begin_[variable]; }
    std::int64_t bytes() const { return bytes_; }
    /// Marks alone.
    std::int64_t overhead() const { return bytes_ - data_bytes_; }

  private:
    std::int64_t stored(std::int64_t payload) const {
        return format_ == OwnFileFormat::raw ? payload : RecordLayout(payload).bytes();
    }
    OwnFileFormat format_;
    std::vector<std::int64_t> begin_;
    std::int64_t bytes_ = 0;
    std::int64_t data_bytes_ = 0;
};

/// One writer's file while it is open.
struct OwnFile {
    Descriptor descriptor;
    std::string path;
    OwnFileLayout layout;
};

class OwnArrayFile : public OwnSharesFile {
  public:
    OwnArrayFile(Session& session, const ArrayRequest& request, const FileSet& files,
                 OwnFileFormat format, int rank, bool writing)
        : OwnSharesFile(session, request, rank),
          files_(files),
          format_(format),
          writing_(writing) {}

    /// The file of `writer`, opened at first use.
    Result<OwnFile*> file_of(int writer) {
        if (const auto it = open_.find(writer); it != open_.end()) return &it->second;
        // A reader of very many writers' files keeps only some of them open.
        if (open_.size() >= most_open) open_.clear();
        const std::string path = files_.name(writer);
        session().progress.call("open");
        auto descriptor = open_file(path, writing_ ? O_RDWR | O_CREAT | O_TRUNC : O_RDONLY);
        if (!descriptor) return descriptor.error();
        OwnFile file{std::move(*descriptor), path, OwnFileLayout(schema(), format_, writer)};
        if (!writing_) {
            const auto size = size_of_late(session(), path, file.layout.bytes());
            if (!size) return size.error();
            if (*size < file.layout.bytes()) return too_short(path, *size, file.layout.bytes());
        }
        return &open_.emplace(writer, std::move(file)).first->second;
    }

    Result<std::int64_t> overhead_bytes() override {
        return OwnFileLayout(schema(), format_, rank()).overhead();
    }

  protected:
    Status do_put(std::size_t variable, const Slab& slab,
                  std::span<const std::byte> data) override {
        const std::int64_t bytes = schema().bytes(variable, slab);
        if (format_ == OwnFileFormat::raw || bytes == 0) {
            return OwnSharesFile::do_put(variable, slab, data);
        }
        if (slab != schema().share(variable, rank())) {
            return usage_error(fmt::format(
                "variable {}: a separate file takes all of the rank's share of the variable",
                schema().variables[variable].name));
        }
        session().progress.call("pwritev");
        auto own = file_of(rank());
        if (!own) return own.error();
        return put_record(**own, (*own)->layout.begin(variable),
                          data.first(static_cast<std::size_t>(bytes)));
    }

    Status put_part(std::size_t variable, std::int64_t offset,
                    std::span<const std::byte> data) override {
        session().progress.call("pwrite");
        auto own = file_of(rank());
        if (!own) return own.error();
        const auto moved = pwrite_all((*own)->descriptor.get(), (*own)->path, data,
                                      (*own)->layout.begin(variable) + offset);
        if (!moved) return moved.error();
        return {};
    }

    Status get_part(int writer, std::size_t variable, std::int64_t offset,
                    std::span<std::byte> data) override {
        session().progress.call("pread");
        auto file = file_of(writer);
        if (!file) return file.error();
        const std::int64_t begin = (*file)->layout.begin(variable);
        if (format_ == OwnFileFormat::raw) return read_bytes(**file, data, begin + offset);
        const Slab share = schema().share(variable, writer);
        return read_record(**file, RecordLayout(schema().bytes(variable, share)), begin, offset,
                           data);
    }

    Status do_sync() override {
        session().progress.call("fsync");
        for (const auto& [writer, file] : open_) {
            if (auto synced = sync_file(file.descriptor.get(), file.path); !synced) return synced;
        }
        return {};
    }

    Status do_close() override {
        session().progress.call("close");
        Status status;
        for (auto& [writer, file] : open_) {
            if (const int code = file.descriptor.close(); code != 0 && status) {
                status = system_error("close", file.path, code);
            }
        }
        open_.clear();
        return status;
    }

  private:
    static constexpr std::size_t most_open = 64;

    Status read_bytes(const OwnFile& file, std::span<std::byte> data, std::int64_t at) {
        const auto read = pread_all(file.descriptor.get(), file.path, data, at);
        if (!read) return read.error();
        const auto wanted = static_cast<std::int64_t>(data.size());
        if (*read < wanted) return too_short(file.path, at + *read, at + wanted);
        return {};
    }

    /// Payload bytes from `offset` on, out of the subrecords that hold them; their marks are
    /// checked.
    Status read_record(const OwnFile& file, const RecordLayout& record, std::int64_t begin,
                       std::int64_t offset, std::span<std::byte> data) {
        const auto wanted = static_cast<std::int64_t>(data.size());
        for (std::int64_t done = 0; done < wanted;) {
            const auto s = record.subrecord(record.subrecord_of(offset + done));
            if (auto right = check_mark(file, begin + s.leading_at, s.leading); !right) {
                return right;
            }
            const std::int64_t inside = offset + done - s.payload_begin;
            const std::int64_t piece = std::min(wanted - done, s.payload_bytes - inside);
            auto read = read_bytes(
                file, data.subspan(static_cast<std::size_t>(done), static_cast<std::size_t>(piece)),
                begin + s.data_at + inside);
            if (!read) return read;
            // As Fortran does when it comes to the end of a record.
            if (inside + piece == s.payload_bytes) {
                if (auto right = check_mark(file, begin + s.trailing_at, s.trailing); !right) {
                    return right;
                }
            }
            done += piece;
        }
        return {};
    }

    Status check_mark(const OwnFile& file, std::int64_t at, std::int32_t right) {
        std::int32_t mark = 0;
        auto read = read_bytes(file, std::as_writable_bytes(std::span(&mark, 1)), at);
        if (!read) return read;
        if (mark == right) return {};
        Error error = failure("read a record",
                              fmt::format("the record mark is {}, expected {}", mark, right));
        error.path = file.path;
        error.offset = at;
        return error;
    }

    /// Marks and payload of each subrecord in one call.
    Status put_record(const OwnFile& file, std::int64_t begin, std::span<const std::byte> data) {
        const RecordLayout record(static_cast<std::int64_t>(data.size()));
        for (std::int64_t i = 0; i < record.subrecords(); ++i) {
            auto s = record.subrecord(i);
            const auto payload = data.subspan(static_cast<std::size_t>(s.payload_begin),
                                              static_cast<std::size_t>(s.payload_bytes));
            if (auto put = pwritev_all(file.descriptor.get(), file.path,
                                       {std::as_bytes(std::span(&s.leading, 1)), payload,
                                        std::as_bytes(std::span(&s.trailing, 1))},
                                       begin + s.leading_at);
                !put) {
                return put.error();
            }
        }
        return {};
    }

    FileSet files_;
    OwnFileFormat format_;
    bool writing_;
    std::map<int, OwnFile> open_;
};

class OwnFileLibrary : public ArrayLibrary {
  public:
    OwnFileLibrary(Session& session, OwnFileFormat format)
        : ArrayLibrary(session), format_(format), storage_(make_posix_storage(session)) {}

    std::string_view name() const override {
        return format_ == OwnFileFormat::raw ? "posix-fpp" : "fortran-fpp";
    }

    ArrayCapabilities capabilities() const override { return own_shares_capabilities(); }

    FileSet files(const std::string& file, int writers) const override {
        return {file + ".", writers, true};
    }
    Storage& storage() override { return *storage_; }

  protected:
    Result<std::unique_ptr<ArrayFile>> do_create(const Comm& comm,
                                                 const ArrayRequest& request) override {
        return open_as(comm, request, true);
    }
    Result<std::unique_ptr<ArrayFile>> do_open(const Comm& comm,
                                               const ArrayRequest& request) override {
        return open_as(comm, request, false);
    }

  private:
    Result<std::unique_ptr<ArrayFile>> open_as(const Comm& comm, const ArrayRequest& request,
                                               bool writing) {
        const int writers = request.schema.shares.writers;
        auto file = std::make_unique<OwnArrayFile>(session(), request, files(request.path, writers),
                                                   format_, comm.rank(), writing);
        // Readers begin with the file of their number, where there is one.
        if (auto own = file->file_of(writing ? comm.rank() : comm.rank() % writers); !own) {
            return own.error();
        }
        return std::unique_ptr<ArrayFile>(std::move(file));
    }

    OwnFileFormat format_;
    std::unique_ptr<Storage> storage_;
};

}  // namespace

std::unique_ptr<ArrayLibrary> make_own_file_library(Session& session, OwnFileFormat format) {
    return std::make_unique<OwnFileLibrary>(session, format);
}

}  // namespace effio
