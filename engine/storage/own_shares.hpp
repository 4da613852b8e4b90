// SPDX-License-Identifier: BSD-3-Clause
// Arrays of which each writer keeps its shares apart, one variable after the other in the schema's
// order: in a separate file (array_own_files.cpp) or in a stream of a container
// (sion/arrays.cpp). Variables that are not shared out are writer 0's. Any number of readers may
// read: a slab comes together from what its writers kept.
#pragma once

#include "storage/array_file.hpp"

namespace effio {

class OwnSharesFile : public ArrayFile {
  protected:
    OwnSharesFile(Session& session, const ArrayRequest& request, int rank)
        : ArrayFile(session, request), rank_(rank) {}

    int rank() const { return rank_; }
    /// The part of the slab's variable that this rank writes, if the slab is in it.
    Result<Slab> share_around(std::size_t variable, const Slab& slab) const;

    /// Bytes from `offset` of a writer's share of a variable on.
    virtual Status put_part(std::size_t variable, std::int64_t offset,
                            std::span<const std::byte> data) = 0;
    virtual Status get_part(int writer, std::size_t variable, std::int64_t offset,
                            std::span<std::byte> data) = 0;

    Status do_set_access(ArrayAccess) override { return {}; }
    Status do_put(std::size_t variable, const Slab& slab, std::span<const std::byte> data) override;
    Status do_get(std::size_t variable, const Slab& slab, std::span<std::byte> data) override;

  private:
    int rank_;
};

/// What libraries of such files can do.
ArrayCapabilities own_shares_capabilities();

}  // namespace effio
