// SPDX-License-Identifier: BSD-3-Clause
#include "storage/array_file.hpp"

#include <fmt/format.h>

#include "core/units.hpp"
#include "storage/late_views.hpp"
#include "storage/posix_calls.hpp"

namespace effio {

std::string_view name(ArrayAccess access) {
    return access == ArrayAccess::collective ? "collective" : "independent";
}

Error ArrayFile::failure(std::string call, std::string cause) const {
    return io_error(std::move(call), path_, std::move(cause));
}

Error ArrayFile::failure(std::string call, std::size_t variable, const std::string& cause) const {
    return failure(std::move(call),
                   fmt::format("variable {}: {}", schema_.variables[variable].name, cause));
}

Status ArrayFile::checked(Status status) const {
    session_.progress.beat();
    if (status) return status;
    return session_.signed_error(std::move(status.error()));
}

template <class Call>
Status ArrayFile::timed(Call&& call) {
    if (call_times_ == nullptr) return checked(call());
    const CallStart start = session_.clock.start_call();
    Status status = call();
    call_times_->add_nanoseconds(session_.clock.nanoseconds_since(start));
    return checked(std::move(status));
}

template <class Call>
Status ArrayFile::transfer(std::size_t variable, const Slab& slab, std::size_t bytes, Call&& call) {
    if (auto fits = schema_.check(variable, slab); !fits) return checked(std::move(fits));
    const std::int64_t needed = schema_.bytes(variable, slab);
    if (static_cast<std::int64_t>(bytes) < needed) {
        return checked(usage_error(fmt::format("variable {}: the slab has {}, the memory {}",
                                               schema_.variables[variable].name, exact_size(needed),
                                               exact_size(static_cast<std::int64_t>(bytes)))));
    }
    Status status = timed(call);
    if (!status) return status;
    session_.progress.moved(needed);
    ++totals_.calls;
    totals_.bytes += needed;
    if (access_ == ArrayAccess::collective) ++totals_.collective_calls;
    return status;
}

Status ArrayFile::set_access(ArrayAccess access) {
    if (access == access_) return {};
    Status status = checked(do_set_access(access));
    if (status) access_ = access;
    return status;
}

Status ArrayFile::put(std::size_t variable, const Slab& slab, std::span<const std::byte> data) {
    return transfer(variable, slab, data.size(), [&] { return do_put(variable, slab, data); });
}

Status ArrayFile::get(std::size_t variable, const Slab& slab, std::span<std::byte> data) {
    return transfer(variable, slab, data.size(), [&] { return do_get(variable, slab, data); });
}

Status ArrayFile::put_from(std::size_t variable, const Slab& slab,
                           std::span<const std::byte> memory, const Box& box) {
    return transfer(variable, slab, memory.size(),
                    [&] { return do_put_from(variable, slab, memory, box); });
}

Status ArrayFile::attach_buffer(std::int64_t bytes) {
    return checked(do_attach_buffer(bytes));
}

Status ArrayFile::detach_buffer() {
    return checked(do_detach_buffer());
}

Status ArrayFile::post_put(std::size_t variable, const Slab& slab, std::span<const std::byte> data,
                           Posted how) {
    return transfer(variable, slab, data.size(),
                    [&] { return do_post_put(variable, slab, data, how); });
}

Status ArrayFile::post_get(std::size_t variable, const Slab& slab, std::span<std::byte> data) {
    return transfer(variable, slab, data.size(), [&] { return do_post_get(variable, slab, data); });
}

Status ArrayFile::wait() {
    return timed([&] { return do_wait(); });
}

Status ArrayFile::sync() {
    return checked(do_sync());
}

Status ArrayFile::close() {
    return checked(do_close());
}

Result<ArrayAttribute> ArrayFile::attribute(const ArrayAttribute& like) {
    return failure("read an attribute",
                   fmt::format("{}: this library keeps no attributes", like.name));
}

Status ArrayFile::do_put_from(std::size_t, const Slab&, std::span<const std::byte>, const Box&) {
    return usage_error("this library takes data out of contiguous memory only");
}

Status ArrayFile::do_attach_buffer(std::int64_t) {
    return usage_error("this library has no buffered calls");
}

Status ArrayFile::do_detach_buffer() {
    return usage_error("this library has no buffered calls");
}

Status ArrayFile::do_post_put(std::size_t, const Slab&, std::span<const std::byte>, Posted) {
    return usage_error("this library has no nonblocking calls");
}

Status ArrayFile::do_post_get(std::size_t, const Slab&, std::span<std::byte>) {
    return usage_error("this library has no nonblocking calls");
}

Status ArrayFile::do_wait() {
    return usage_error("this library has no nonblocking calls");
}

Result<std::unique_ptr<ArrayFile>> ArrayLibrary::checked(
    Result<std::unique_ptr<ArrayFile>> file) const {
    session_.progress.beat();
    if (!file) return session_.signed_error(std::move(file.error()));
    return file;
}

Result<std::unique_ptr<ArrayFile>> ArrayLibrary::create(const Comm& comm,
                                                        const ArrayRequest& request) {
    wait_until_gone(session_, comm, request.path);
    return checked(do_create(comm, request));
}

Result<std::unique_ptr<ArrayFile>> ArrayLibrary::open(const Comm& comm,
                                                      const ArrayRequest& request) {
    // Libraries take the kernel's size of the file for its end.
    if (session_.late_views && size_of(request.path)) {
        (void)size_of_late(session_, request.path, request.schema.bytes());
    }
    return checked(do_open(comm, request));
}

Result<std::unique_ptr<ArrayFile>> ArrayLibrary::update(const Comm& comm,
                                                        const ArrayRequest& request) {
    return checked(do_update(comm, request));
}

Result<std::unique_ptr<ArrayFile>> ArrayLibrary::do_update(const Comm&, const ArrayRequest&) {
    return usage_error("this library writes new files only");
}

FileSet ArrayLibrary::files(const std::string& file, int) const {
    return {file, 1, false};
}

Error missing_variable(const std::string& path, const ArrayVariable& variable) {
    return io_error("find a variable", path,
                    fmt::format("there is no variable '{}' in the file", variable.name));
}

Status check_variable(const std::string& path, const ArraySchema& schema, std::size_t variable,
                      const std::vector<std::int64_t>& extents, bool same_type) {
    const std::string& name = schema.variables[variable].name;
    if (const auto expected = schema.shape(variable); extents != expected) {
        return io_error("find a variable", path,
                        fmt::format("variable '{}' has extents ({}), expected ({})", name,
                                    fmt::join(extents, ","), fmt::join(expected, ",")));
    }
    if (same_type) return {};
    return io_error("find a variable", path,
                    fmt::format("variable '{}' has another type than expected", name));
}

}  // namespace effio
