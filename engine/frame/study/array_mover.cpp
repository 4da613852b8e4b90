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
    ArrayMover(ArrayLibrary& library, const RankContext& place)
        : Mover(library.storage(), place), library_(library) {}

    Status open(bool create) override {
        ArrayRequest request;
        request.path = place_.path;
        request.schema = schema();
        request.hints = place_.hints;
        request.access =
            place_.cell.collective ? ArrayAccess::collective : ArrayAccess::independent;
        request.boxes = boxes();
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
    std::string call_name(Access access) const override {
        return access == Access::write ? "put" : "get";
    }

  protected:
    ArrayFile& file() { return *file_; }
    virtual bool boxes() const { return true; }
    virtual ArraySchema schema() const { return schema_of(*place_.addresses.box()); }
    virtual Slab slab(const ArraySchema& /*of_file*/, std::size_t /*variable*/) const {
        return slab_of(*place_.addresses.box());
    }
    virtual std::span<std::byte> memory(std::size_t /*variable*/, Payload& payload) const {
        return payload.all().memory;
    }

  private:
    Status move_one(Access access, std::size_t variable, Payload& payload) {
        const Slab where = slab(file_->schema(), variable);
        return access == Access::write ? file_->put(variable, where, memory(variable, payload))
                                       : file_->get(variable, where, memory(variable, payload));
    }

    ArrayLibrary& library_;
    std::unique_ptr<ArrayFile> file_;
};

/// Puts and gets the arrays that the cell names.
class ShareMover : public ArrayMover {
  public:
    ShareMover(ArrayLibrary& library, const RankContext& place)
        : ArrayMover(library, place), arrays_(std::get<Arrays>(place.cell.data)) {}

    Result<std::int64_t> overhead_bytes() override { return file().overhead_bytes(); }
    bool reports_files() const override { return place_.apart || ArrayMover::reports_files(); }
    std::int64_t least_bytes() const override {
        return place_.apart ? arrays_.schema.share_bytes(place_.owner) : place_.cell.file_bytes;
    }
    Status look_at_files(Readable& /*readable*/) const override {
        return Readable::fits(
            place_.session, place_.own_path,
            place_.apart ? arrays_.schema.share_bytes(place_.owner) : arrays_.schema.bytes());
    }
    /// Names the array and the element.
    std::string explain(const Mismatch& wrong) const override {
        const ArraySchema& schema = arrays_.schema;
        const auto variable = static_cast<std::size_t>(wrong.offset / schema.bytes(0));
        std::int64_t element =
            wrong.offset % schema.bytes(0) / schema.variables[variable].element_bytes();
        std::string place;
        const auto shape = schema.shape(variable);
        for (std::size_t d = shape.size(); d-- > 0; element /= shape[d]) {
            place = fmt::format("{}{}{}", element % shape[d], place.empty() ? "" : ", ", place);
        }
        return fmt::format("variable {} at ({}): {}", schema.variables[variable].name, place,
                           wrong.text());
    }

  protected:
    bool boxes() const override { return false; }
    ArraySchema schema() const override { return arrays_.schema; }
    Slab slab(const ArraySchema& of_file, std::size_t variable) const override {
        return of_file.share(variable, place_.owner);
    }
    std::span<std::byte> memory(std::size_t variable, Payload& payload) const override {
        return payload.piece(static_cast<std::int64_t>(variable));
    }

  private:
    const Arrays& arrays_;
};

}  // namespace

std::unique_ptr<Mover> make_box_mover(ArrayLibrary& library, const RankContext& place) {
    return std::make_unique<ArrayMover>(library, place);
}

std::unique_ptr<Mover> make_share_mover(ArrayLibrary& library, const RankContext& place) {
    return std::make_unique<ShareMover>(library, place);
}

}  // namespace effio::study
