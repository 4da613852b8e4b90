// SPDX-License-Identifier: BSD-3-Clause
#include "storage/array_storage.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "core/units.hpp"
#include "storage/removal.hpp"

namespace effio {
namespace {

constexpr std::int64_t word = 8;

/// All variables of a file have the same size.
std::int64_t variable_bytes(ArrayDivision division, const Blocks& b) {
    switch (division) {
        case ArrayDivision::words_by_segment:
            return b.parts * b.block;
        case ArrayDivision::words_by_block:
            return b.block;
        case ArrayDivision::bytes:
            break;
    }
    return b.file_bytes();
}

/// Until the library's own call is known, which then says its name.
constexpr CallNames calls = CallNames::plain("write", "read");

class ArrayBytes : public ByteFile {
  public:
    ArrayBytes(Session& session, const Comm& comm, const OpenRequest& request,
               std::unique_ptr<ArrayFile> file)
        : ByteFile(session, request.path, request.element, calls, Counts::itself),
          file_(std::move(file)),
          delete_on_close_(request.mode.delete_on_close && comm.is_root()),
          element_bytes_(file_->schema().variables.front().element_bytes()),
          variable_bytes_(file_->schema().bytes(0)) {}

    GrantedHints granted_hints() override { return file_->granted_hints(); }
    Status seek(std::int64_t offset) override {
        individual_ = offset * bytes_of(element());
        return {};
    }
    Result<std::int64_t> size() override { return file_->schema().bytes(); }

    std::string name_of(std::int64_t offset) const override {
        const auto variable = static_cast<std::size_t>(offset / variable_bytes_);
        const auto& schema = file_->schema();
        if (variable >= schema.variables.size()) return {};
        const auto at = schema.run(variable, offset % variable_bytes_ / element_bytes_, 1);
        if (!at) return {};
        return fmt::format("{}[{}]", schema.variables[variable].name, fmt::join(at->start, ","));
    }

    Json describe() const override {
        const ArrayTotals& totals = file_->totals();
        Json out{{"calls", totals.calls}, {"collective_calls", totals.collective_calls}};
        if (totals.done_collectively) out["done_collectively"] = *totals.done_collectively;
        for (const auto& [mode, count] : totals.modes) out["modes"][mode] = count;
        return out;
    }

  protected:
    Result<std::int64_t> do_write(CallForm form, std::span<const std::byte> data,
                                  std::int64_t offset) override {
        return transfer(form, offset, static_cast<std::int64_t>(data.size()),
                        [&](std::size_t v, const Slab& slab) { return file_->put(v, slab, data); });
    }
    Result<std::int64_t> do_read(CallForm form, std::span<std::byte> data,
                                 std::int64_t offset) override {
        return transfer(form, offset, static_cast<std::int64_t>(data.size()),
                        [&](std::size_t v, const Slab& slab) { return file_->get(v, slab, data); });
    }
    Status do_set_view(const View& view, const Hints& /*hints*/) override {
        if (std::holds_alternative<Contiguous>(view.shape) && view.displacement == 0) {
            individual_ = 0;
            return {};
        }
        return usage_error("files of arrays have no views");
    }
    Status do_set_hints(const Hints& hints) override {
        if (hints.empty()) return {};
        return usage_error("files of arrays take hints when they are opened");
    }
    Status do_preallocate(std::int64_t /*bytes*/) override {
        return usage_error("files of arrays cannot be preallocated");
    }
    Status do_sync() override { return file_->sync(); }
    Status do_close() override {
        if (auto closed = file_->close(); !closed) return closed;
        return delete_on_close_ ? remove_file(path()) : Status();
    }

  private:
    template <class Move>
    Result<std::int64_t> transfer(CallForm form, std::int64_t offset, std::int64_t bytes,
                                  Move&& move) {
        if (form.pointer == Pointer::shared) {
            return usage_error("files of arrays have no shared file pointer");
        }
        const bool own = form.pointer == Pointer::individual;
        const std::int64_t begin = own ? individual_ : offset * bytes_of(element());
        if (form.collective != (file_->access() == ArrayAccess::collective)) {
            // To change is a collective call, which an independent one must not be.
            return usage_error(
                fmt::format("the file was opened for {} calls", effio::name(file_->access())));
        }
        const auto& schema = file_->schema();
        const auto last = static_cast<std::int64_t>(schema.variables.size()) - 1;
        const auto v = static_cast<std::size_t>(std::min(begin / variable_bytes_, last));
        const std::int64_t inside = begin - static_cast<std::int64_t>(v) * variable_bytes_;
        std::optional<Slab> slab;
        if (inside % element_bytes_ == 0 && bytes % element_bytes_ == 0) {
            slab = schema.run(v, inside / element_bytes_, bytes / element_bytes_);
        }
        if (!slab) {
            return io_error("transfer", path(),
                            fmt::format("{} from byte {} on are not a slab of the file's arrays",
                                        exact_size(bytes), begin));
        }
        if (auto moved = move(v, *slab); !moved) return moved.error();
        if (own) individual_ += bytes;
        return bytes;
    }

    std::unique_ptr<ArrayFile> file_;
    bool delete_on_close_;
    std::int64_t element_bytes_;
    std::int64_t variable_bytes_;
    std::int64_t individual_ = 0;  ///< this rank's pointer; bytes
};

class ArrayStorage : public Storage {
  public:
    ArrayStorage(Session& session, std::unique_ptr<ArrayLibrary> library, ArrayDivision division)
        : Storage(session), library_(std::move(library)), division_(division) {}

    std::string_view name() const override { return library_->name(); }
    std::string version() const override { return library_->version(); }
    Json describe() const override { return library_->describe(); }

    Capabilities capabilities() const override {
        const ArrayCapabilities arrays = library_->capabilities();
        Capabilities can;
        can.stores_data = arrays.stores_data;
        // All ranks make a collective call on the same dataset.
        can.collective = division_ != ArrayDivision::words_by_block;
        can.scattered = division_ == ArrayDivision::bytes;
        can.views = false;
        can.ordered_pointer = false;
        can.shared_pointer = false;
        can.hints = arrays.hints;
        can.real_files = arrays.real_files;
        can.preallocate = false;
        can.sync_alone = false;
        can.plain = false;
        return can;
    }

    Status check(const Blocks& b) const override {
        if (division_ == ArrayDivision::bytes) return {};
        if (b.transfer % word != 0) {
            return usage_error(fmt::format(
                "backend {}: the datasets hold words of {}, and a transfer of {} is not "
                "a multiple of that",
                name(), exact_size(word), shown_size(Bytes{b.transfer})));
        }
        const std::int64_t each = division_ == ArrayDivision::words_by_block ? b.parts : 1;
        if (b.segments <= most_datasets / each) return {};
        return usage_error(fmt::format(
            "backend {}: {} segments{} would be more than {} datasets in a file; use fewer, larger "
            "segments",
            name(), b.segments, each > 1 ? fmt::format(" of {} blocks", each) : "", most_datasets));
    }

    Result<std::unique_ptr<ByteFile>> open(const Comm& comm, const OpenRequest& request) override {
        if (!request.blocks) {
            return session().signed_error(
                usage_error("files of arrays can be opened only with a division into blocks"));
        }
        ArrayRequest arrays;
        arrays.path = request.path;
        arrays.schema = schema_of_blocks(division_, *request.blocks);
        arrays.hints = request.hints;
        arrays.access = request.collective ? ArrayAccess::collective : ArrayAccess::independent;
        arrays.partial = true;
        auto file = open_arrays(comm, request.mode, arrays);
        if (!file) return session().signed_error(std::move(file.error()));
        return std::unique_ptr<ByteFile>(
            std::make_unique<ArrayBytes>(session(), comm, request, std::move(*file)));
    }

    Status remove(const std::string& path) override { return library_->storage().remove(path); }

  private:
    Result<std::unique_ptr<ArrayFile>> open_arrays(const Comm& comm, const OpenMode& mode,
                                                   const ArrayRequest& request) {
        if (!mode.write) return library_->open(comm, request);
        // The root's view counts: others may see the directory as it was a moment ago.
        int code = 0;
        if (comm.is_root() && ::access(request.path.c_str(), F_OK) != 0) code = errno;
        comm.broadcast(code);
        if (code == ENOENT && mode.create) return library_->create(comm, request);
        if (code != 0) return system_error("open", request.path, code);
        if (mode.exclusive) return system_error("open", request.path, EEXIST);
        return library_->update(comm, request);
    }

    std::unique_ptr<ArrayLibrary> library_;
    ArrayDivision division_;
};

}  // namespace

ArraySchema schema_of_blocks(ArrayDivision division, const Blocks& b) {
    ArraySchema schema;
    if (division == ArrayDivision::bytes) {
        schema.dimensions = {{"blocks", b.segments * b.parts},
                             {"transfers", b.transfers_per_block()},
                             {"bytes", b.transfer}};
        schema.variables = {{"data_var", ArrayType::byte, {0, 1, 2}}};
        return schema;
    }
    const std::int64_t words = variable_bytes(division, b) / word;
    schema.dimensions = {{"words", words}};
    // Shared out, so that the library may store it in chunks.
    schema.shares = {0, 1, [words](int rank) { return rank == 0 ? 0 : words; }};
    const std::int64_t each = division == ArrayDivision::words_by_block ? b.parts : 1;
    for (std::int64_t segment = 0; segment < b.segments; ++segment) {
        for (std::int64_t part = 0; part < each; ++part) {
            schema.variables.push_back(
                {fmt::format("Dataset-{:04d}.{:04d}", part, segment), ArrayType::int64, {0}});
        }
    }
    return schema;
}

std::unique_ptr<Storage> make_array_storage(Session& session, std::unique_ptr<ArrayLibrary> library,
                                            ArrayDivision division) {
    return std::make_unique<ArrayStorage>(session, std::move(library), division);
}

}  // namespace effio
