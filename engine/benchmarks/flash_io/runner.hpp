// SPDX-License-Identifier: BSD-3-Clause
// The loops of FLASH I/O: repetitions, dumps, files (docs/definitions/flash-io.md).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/flash_io/mesh.hpp"
#include "benchmarks/flash_io/result.hpp"
#include "core/buffer.hpp"
#include "frame/benchmark.hpp"
#include "frame/observers.hpp"
#include "frame/run_loop.hpp"
#include "storage/array_file.hpp"
#include "storage/hints.hpp"
#include "storage/target.hpp"

namespace effio::flash_io {

class Runner {
  public:
    Runner(Job& job, const Setup& setup, ArrayLibrary& library, const Target& target,
           const HintRules& rules, std::vector<Observer*> observers);

    Ending run();

  private:
    /// Consecutive ranks among those that write, or wrote, the files.
    struct Writers {
        int first = 0;
        int count = 1;
    };
    /// One file to be written or read.
    struct FileTransfer {
        File file;
        std::int64_t repetition;
        std::int64_t dump;
        const FileDefinition& definition;
        Writers owners;  ///< whose blocks this rank moves
        bool write;
        ArrayRequest request;
        /// Paths of the files that hold what this rank moves; writing: of one.
        std::vector<std::string> own_paths;
        std::vector<ArrayAttribute> found = {};  ///< in the file that is read
        std::unique_ptr<ArrayFile> open = {};
        std::int64_t overhead = 0;  ///< bytes in it in addition to the data, once it is closed
        Histogram times = {};
    };
    FileTransfer task(File file, bool write, std::int64_t repetition, std::int64_t dump) const;

    static Writers find_sources(const Job& job, const Setup& setup);
    /// Distinguishes the values of dumps and repetitions. In the last repetition, whose files may
    /// be kept, it is the dump's number, so that a later run knows what to expect.
    std::int64_t pass(std::int64_t repetition, std::int64_t dump) const {
        const auto& p = setup_.parameters;
        if (!p.write) return dump;
        return (p.repetitions - 1 - repetition) * p.dumps + dump;
    }
    std::size_t memory_bytes() const;
    /// What this rank moves of a variable of a file that it reads.
    Slab source(const FileTransfer& t, std::size_t variable) const;
    void run_repetition(std::int64_t number);
    /// Adds the rates of the last repetition, for --until-ci.
    void add_rates();
    void write_dumps(std::int64_t repetition);
    void compute();
    void write_file(std::int64_t repetition, std::int64_t dump, File file);
    Status put_header(const FileTransfer& t);
    Status put_unknowns(const FileTransfer& t);
    Status put_variable(const FileTransfer& t, std::size_t variable,
                        std::span<const std::byte> data);
    void read_file(std::int64_t repetition, std::int64_t dump, File file);
    Status get_attributes(FileTransfer& t);
    Status get_all(const FileTransfer& t);
    std::int64_t verify(const FileTransfer& t, Outcome& mine) const;
    void carry_out(FileTransfer& t);
    struct OneFile {
        FileRun run;
        Agreed agreed;
    };
    OneFile visit(FileTransfer& t);
    VisitSteps steps(FileTransfer& t, FileRun& run, Outcome& mine);
    /// Size of the file that this rank reports, its own or the shared one.
    Result<Footprint> size_of_files(const FileTransfer& t) const;
    bool buffered(const FileTransfer& t) const {
        return setup_.nonblocking && t.file != File::checkpoint;
    }
    bool in_place(const FileTransfer& t) const {
        return setup_.parameters.memory == Memory::in_place && t.file == File::checkpoint;
    }
    Job& job_;
    Session& session_;
    const Comm& comm_;
    const Setup& setup_;
    ArrayLibrary& library_;
    const Target& target_;
    const HintRules& rules_;
    Observers<Observer> notify_;
    CommonClock common_;
    Geometry geometry_;
    std::vector<FileDefinition> definitions_;  ///< by File
    Mesh mesh_;
    Writers sources_;                             ///< whose blocks this rank reads
    Buffer memory_;                               ///< packed variables
    std::vector<std::vector<std::byte>> posted_;  ///< header and tree, until they are written
    std::vector<double> scratch_;                 ///< what compute() works on
    std::vector<Repetition> repetitions_;
    double compute_seconds_ = 0;
    RunLoop loop_;
    UntilCi until_ci_;
    std::int64_t files_done_ = 0;
    std::int64_t files_of_repetition_ = 0;
};

}  // namespace effio::flash_io
