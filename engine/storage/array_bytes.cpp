// SPDX-License-Identifier: BSD-3-Clause
// Arrays in a file without a format: the variables one after the other, each in C order, nothing
// before or between them (docs/definitions/libraries.md: variable v of rank r at (v P + r) n).
// Over any way to reach bytes, so that the same bytes can be moved by MPI-IO, by POSIX calls, and
// in virtual time.
#include <fmt/format.h>

#include "parallel/agree.hpp"
#include "storage/array_libraries.hpp"
#include "storage/late_views.hpp"

namespace effio {
namespace {

class BytesArrayFile : public ArrayFile {
  public:
    BytesArrayFile(Session& session, const ArrayRequest& request, std::unique_ptr<ByteFile> file)
        : ArrayFile(session, request), file_(std::move(file)), boxes_(request.boxes) {
        std::int64_t at = 0;
        for (std::size_t v = 0; v < schema().variables.size(); ++v) {
            begin_.push_back(at);
            at += schema().bytes(v);
        }
    }

    GrantedHints granted_hints() override { return file_->granted_hints(); }

  protected:
    Status do_set_access(ArrayAccess access) override {
        if (access == ArrayAccess::collective || !viewed_) return {};
        viewed_ = false;
        return file_->set_view(View{}, {});
    }

    Status do_put(std::size_t variable, const Slab& slab,
                  std::span<const std::byte> data) override {
        return move(variable, slab, data, [this](CallForm form, auto piece, std::int64_t at) {
            return file_->write(form, piece, at);
        });
    }

    Status do_get(std::size_t variable, const Slab& slab, std::span<std::byte> data) override {
        return move(variable, slab, data, [this](CallForm form, auto piece, std::int64_t at) {
            return file_->read(form, piece, at);
        });
    }

    Status do_sync() override { return file_->sync(); }
    Status do_close() override { return file_->close(); }

  private:
    template <class Span, class Move>
    Status move(std::size_t variable, const Slab& slab, Span data, Move&& call) {
        Box box = schema().box(variable, slab);
        data = data.first(static_cast<std::size_t>(box.bytes()));
        const bool collective = access() == ArrayAccess::collective;
        if (collective && boxes_) {
            // Every rank sets a view, whatever its own box looks like: the call is collective.
            viewed_ = true;
            auto set = file_->set_view({begin_[variable], std::move(box)}, {});
            if (!set) return set;
            return call(CallForm{Pointer::individual, true}, data, 0);
        }
        if (box.is_contiguous()) {
            const std::int64_t at = begin_[variable] + (data.empty() ? 0 : box.first());
            return call(CallForm{Pointer::at, collective}, data, at);
        }
        if (collective) {
            return failure("put or get", variable,
                           "a collective slab that is not a range of the first dimension needs a "
                           "file opened for boxes");
        }
        Status status;
        std::size_t done = 0;
        for_each_run({begin_[variable], box}, 0, box.bytes(), [&](const Run& run) {
            const auto bytes = static_cast<std::size_t>(run.bytes);
            status = call(CallForm{Pointer::at, false}, data.subspan(done, bytes), run.offset);
            done += bytes;
            return static_cast<bool>(status);
        });
        return status;
    }

    std::unique_ptr<ByteFile> file_;
    bool boxes_;
    bool viewed_ = false;  ///< a view of a box is set
    std::vector<std::int64_t> begin_;
};

class BytesArrayLibrary : public ArrayLibrary {
  public:
    BytesArrayLibrary(Session& session, std::unique_ptr<Storage> storage)
        : ArrayLibrary(session), storage_(std::move(storage)) {}

    std::string_view name() const override { return storage_->name(); }

    ArrayCapabilities capabilities() const override {
        const Capabilities bytes = storage_->capabilities();
        ArrayCapabilities can;
        can.collective = storage_->name() == "mpiio";
        can.self_describing = false;
        can.attributes = false;
        can.hints = bytes.hints;
        can.stores_data = bytes.stores_data;
        can.real_files = bytes.real_files;
        return can;
    }

    Json describe() const override { return storage_->describe(); }
    Storage& storage() override { return *storage_; }

  protected:
    Result<std::unique_ptr<ArrayFile>> do_create(const Comm& comm,
                                                 const ArrayRequest& request) override {
        if (auto can = make_room(session(), comm, *storage_, request.path); !can) {
            return can.error();
        }
        return open_as(OpenMode::creating(), comm, request);
    }

    Result<std::unique_ptr<ArrayFile>> do_open(const Comm& comm,
                                               const ArrayRequest& request) override {
        return open_as(OpenMode::reading(), comm, request);
    }

  private:
    Result<std::unique_ptr<ArrayFile>> open_as(const OpenMode& mode, const Comm& comm,
                                               const ArrayRequest& request) {
        auto file = storage_->open(comm, {request.path, mode, Element::byte, request.hints});
        if (!file) return file.error();
        if (!mode.write && storage_->capabilities().stores_data) {
            const std::int64_t needed = request.schema.bytes();
            auto size = (*file)->size();
            look_until(session(), [&] {
                if (!size || *size >= needed) return true;
                size = (*file)->size();
                return !size || *size >= needed;
            });
            if (!size) return size.error();
            if (*size < needed) return too_short(request.path, *size, needed);
        }
        return std::unique_ptr<ArrayFile>(
            std::make_unique<BytesArrayFile>(session(), request, std::move(*file)));
    }

    std::unique_ptr<Storage> storage_;
};

}  // namespace

Status make_room(Session& session, const Comm& comm, Storage& storage, const std::string& path) {
    Outcome mine;
    if (comm.is_root()) {
        if (auto removed = storage.remove(path); !removed) mine.fail(removed.error());
    }
    if (auto agreed = agree(session, comm, mine); agreed.failed()) return *agreed.error;
    return {};
}

std::unique_ptr<ArrayLibrary> make_bytes_array_library(Session& session,
                                                       std::unique_ptr<Storage> storage) {
    return std::make_unique<BytesArrayLibrary>(session, std::move(storage));
}

}  // namespace effio
