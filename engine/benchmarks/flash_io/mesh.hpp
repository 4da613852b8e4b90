// SPDX-License-Identifier: BSD-3-Clause
// The mesh of one rank in memory: the unknowns with their guard cells, and the tree
// (docs/definitions/flash-io.md, The mesh). What every element should be follows from its place
// alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/flash_io/definition.hpp"
#include "core/layout.hpp"
#include "core/pattern.hpp"

namespace effio::flash_io {

/// What the unknowns and the tree hold.
enum class Fill : char {
    constant,  ///< the original's: variable v holds v everywhere, so a misplaced block goes unseen
    index,     ///< whole numbers that depend on dump, variable, block and cell
    random,    ///< of the unknowns: numbers from 1 to 2 with 49 random bits; the rest as index
};

/// The values that a dump should hold; `number` distinguishes dumps.
class Values {
  public:
    /// `shape` is that of random values: of each 64 cells of a block, in the order of the file,
    /// those past DataShape::random_words() are equal, and a block is written `duplicate` times.
    Values(const Geometry& geometry, Fill fill, std::int64_t number, const DataShape& shape = {})
        : geometry_(geometry), fill_(fill), number_(number), shape_(shape) {}

    /// Value of a cell of the whole mesh; `cell` counts those of a block with guards, x fastest.
    /// Sums of eight are exact in double precision.
    double unknown(int variable, std::int64_t block, std::int64_t cell) const;
    /// The mean of the cells that meet at a corner of a block, guard cells included.
    double corner(int variable, std::int64_t block, std::int64_t x, std::int64_t y,
                  std::int64_t z) const;
    /// Value of a field of the tree, `element` within the block.
    std::int32_t whole(Field field, std::int64_t block, std::int64_t element) const;
    double real(Field field, std::int64_t block, std::int64_t element) const;

  private:
    std::uint64_t word(std::uint64_t key, std::int64_t block, std::int64_t element) const;
    double random(int variable, std::int64_t block, std::int64_t cell) const;
    /// The number of a cell among those without guards; a guard cell has that of the cell at the
    /// other side of the block.
    std::int64_t interior(std::int64_t cell) const;

    Geometry geometry_;
    Fill fill_;
    std::int64_t number_;
    DataShape shape_;
};

/// Wrong elements of what was read.
struct WrongData {
    std::int64_t elements = 0;
    std::string first;  ///< "variable dens, block 3, element 17: expected 1, found 0"
};

class Mesh {
  public:
    /// Makes `count` blocks from the global number `first` on.
    Mesh(const Geometry& geometry, std::int64_t first, std::int64_t count);

    /// `beat` is called for every block: large meshes take their time.
    void fill(const Values& values, const std::function<void()>& beat = [] {});

    /// Elements of a variable in a file: this rank's blocks.
    std::int64_t elements(File file) const;
    /// The interior of a variable, packed; `out` has elements() of the file's type.
    void pack(int variable, std::span<double> out) const;
    void pack(int variable, std::span<float> out) const;
    /// The corner values from the cells around, packed.
    void interpolate(int variable, std::span<float> out) const;

    /// The order of the unknowns, and where a variable's interior is in them.
    std::span<const double> unknowns() const { return unknowns_; }
    Box interior(int variable) const;

    /// Neighbors, parent and children by global number: positive local numbers gain the number of
    /// the first block, others stay.
    std::vector<std::int32_t> global_ids() const;
    const std::vector<std::int32_t>& whole(Field field) const;
    const std::vector<double>& real(Field field) const;
    /// A field of the tree as a file of such elements holds it.
    std::vector<std::byte> tree_bytes(Field field, ArrayType type) const;

  private:
    template <class Real>
    void pack_as(int variable, std::span<Real> out) const;
    std::size_t place(std::int64_t block, std::int64_t z, std::int64_t y, std::int64_t x) const;

    Geometry geometry_;
    std::int64_t first_;
    std::int64_t count_;
    std::vector<double> unknowns_;  ///< block, z, y, x, variable; the last runs fastest
    std::vector<std::int32_t> levels_;
    std::vector<std::int32_t> types_;
    std::vector<std::int32_t> local_ids_;
    std::vector<double> coordinates_;
    std::vector<double> sizes_;
    std::vector<double> bounds_;
};

/// Compares the blocks from the global number `first` on of one variable of a file.
std::optional<WrongData> check(const FileDefinition& definition, std::size_t variable,
                               const Geometry& geometry, const Values& values, std::int64_t first,
                               std::span<const std::byte> found);

/// The bytes of a header field of the HDF5 structure as rank 0 writes them.
std::vector<std::byte> header_bytes(const FileDefinition& definition, std::size_t variable,
                                    const Geometry& geometry);

}  // namespace effio::flash_io
