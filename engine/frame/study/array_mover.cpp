// SPDX-License-Identifier: BSD-3-Clause
// Cells over files of arrays: those that the cell names, or one variable of bytes.
#include <fmt/format.h>

#include "frame/study/mover.hpp"

namespace effio::study {
namespace {

ArraySchema schema_of(const Box& box) {
    ArraySchema schema;
    ArrayVariable variable{"array", ArrayType::byte, {}};
    const auto add = [&](const std::string& name, std::int64_t length) {
        variable.dimensions.push_back(schema.dimensions.size());
        schema.dimensions.push_back({name, length});
    };
    for (std::size_t d = 0; d < box.sizes.size(); ++d) add(fmt::format("d{}", d), box.sizes[d]);
    if (box.element > 1) add("element", box.element);
    schema.variables.push_back(std::move(variable));
    const std::int64_t first = box.sizes.front();
    schema.shares = {0, 1, [first](int rank) { return rank == 0 ? 0 : first; }};
    return schema;
}

Slab slab_of(const Box& box) {
    Slab slab{box.start, box.count};
    if (box.element > 1) {
        slab.start.push_back(0);
        slab.count.push_back(box.element);
    }
    return slab;
}

class ArrayMover : public Mover {
  public:
    ArrayMover(ArrayLibrary& library, const Place& place) : library_(library), place_(place) {}

    Status open(bool create) override {
        ArrayRequest request;
        request.path = place_.path;
        request.schema =
            place_.cell.arrays ? *place_.cell.arrays : schema_of(*place_.addresses.box());
        request.hints = place_.hints;
        request.access =
            place_.cell.collective ? ArrayAccess::collective : ArrayAccess::independent;
        request.boxes = !place_.cell.arrays;
        auto opened = create                 ? library_.create(place_.comm, request)
                      : place_.cell.writes() ? library_.update(place_.comm, request)
                                             : library_.open(place_.comm, request);
        if (!opened) return std::move(opened.error());
        file_ = std::move(*opened);
        return {};
    }

    Status confirm() override { return file_->confirm(); }

    Status move(Access access, Payload& payload, const Watching& watching, Moved& moved) override {
        file_->time_calls_into(watching.time_calls ? &moved.times : nullptr);
        const ArrayTotals before = file_->totals();
        Status status;
        for (std::size_t v = 0; v < file_->schema().variables.size() && status; ++v) {
            status = logged(place_.session.clock, watching, moved,
                            [&] { return move_one(access, v, payload); });
        }
        file_->time_calls_into(nullptr);
        moved.calls = file_->totals().calls - before.calls;
        moved.bytes = file_->totals().bytes - before.bytes;
        return status;
    }

    Status sync() override { return file_->sync(); }
    Status close() override { return file_->close(); }
    GrantedHints granted_hints() override { return file_->granted_hints(); }
    Json describe() override { return file_->describe(); }
    const ArrayTotals* array_totals() const override {
        return file_ != nullptr ? &file_->totals() : nullptr;
    }
    Result<std::int64_t> overhead_bytes() override { return file_->overhead_bytes(); }
    std::string call_name(Access access) const override {
        return access == Access::write ? "put" : "get";
    }

  private:
    Status move_one(Access access, std::size_t variable, Payload& payload) {
        const bool shares = place_.cell.arrays.has_value();
        const Slab slab = shares ? file_->schema().share(variable, place_.owner)
                                 : slab_of(*place_.addresses.box());
        const std::span<std::byte> memory =
            shares ? payload.piece(static_cast<std::int64_t>(variable)) : payload.all().memory;
        return access == Access::write ? file_->put(variable, slab, memory)
                                       : file_->get(variable, slab, memory);
    }

    ArrayLibrary& library_;
    const Place& place_;
    std::unique_ptr<ArrayFile> file_;
};

}  // namespace

std::unique_ptr<Mover> make_array_mover(ArrayLibrary& library, const Place& place) {
    return std::make_unique<ArrayMover>(library, place);
}

}  // namespace effio::study
