// SPDX-License-Identifier: BSD-3-Clause
#include "classic/ior_backend.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "classic/classic.hpp"
#include "storage/backends.hpp"
#include "storage/posix_calls.hpp"

namespace effio {
namespace {

constexpr std::string_view hint_prefix = "IOR_HINT__MPI__";

class Choice {
  public:
    explicit Choice(const IorOptions& options) : o_(options) {}

    IorBackend make() {
        const std::string api = lower_case(o_.api);
        if (api == "posix") {
            posix();
        } else if (api == "aio") {
            aio();
        } else if (api == "mmap") {
            add("backend", "mmap");
            if (o_.direct != 0) fault("--posix.odirect does not work with -a MMAP");
        } else if (api == "mpiio" || api == "mpi-io") {
            add("backend", "mpiio");
            out_.collective = out_.views = true;
        } else if (api == "dummy") {
            dummy();
        } else if (api == "hdf5") {
            hdf5();
        } else if (api == "ncmpi") {
            ncmpi();
        } else {
            fault("-a {}: this ior knows POSIX, AIO, MMAP, MPIIO, HDF5, NCMPI and DUMMY", o_.api);
            return std::move(out_);
        }
        if (!out_.collective && (o_.collective != 0 || !o_.hints_file.empty())) {
            note("-c and -U have no effect with -a {}", o_.api);
        }
        if (!out_.views && (o_.file_view != 0 || o_.strided_type != 0 || o_.preallocate != 0)) {
            note("-V, -S and -p have no effect with -a {}", o_.api);
        }
        if (api != "hdf5" && has_hdf5_options()) {
            note("the options of HDF5 have no effect with -a {}", o_.api);
        }
        if (out_.collective) hints();
        file_systems(api == "posix" || api == "aio" || api == "mmap");
        return std::move(out_);
    }

  private:
    template <class T>
    void add(std::string_view name, const T& value) {
        out_.arguments.push_back(fmt::format("--{}={}", name, value));
    }
    template <class... T>
    void note(fmt::format_string<T...> text, T&&... values) {
        out_.notes.push_back(fmt::format(text, std::forward<T>(values)...));
    }
    template <class... T>
    void fault(fmt::format_string<T...> text, T&&... values) {
        out_.faults.push_back(fmt::format(text, std::forward<T>(values)...));
    }

    void posix() {
        add("backend", o_.direct != 0 ? "direct" : "posix");
        if (o_.direct == 0) return;
        // As in the original, the kernel says whether a device takes blocks below 4 KiB.
        constexpr std::int64_t usual = 4096;
        constexpr std::int64_t smallest = 512;
        const std::int64_t power = o_.transfer & -o_.transfer;
        if (power < usual)
            add("backend-options", fmt::format("align={}", std::max(power, smallest)));
    }

    /// Where this program has no io_uring the calls are those of POSIX.
    void aio() {
        const auto present = present_backends(Serves::blocks);
        if (std::find(present.begin(), present.end(), "uring") == present.end()) {
            posix();
            note(
                "-a AIO: this program was built without io_uring; pwrite and pread, one at a time");
            return;
        }
        add("backend", "uring");
        if (o_.direct != 0) add("backend-options", "direct=yes");
        out_.queue_depth = o_.aio_pending;
        constexpr std::int64_t of_original = 16;
        if (o_.aio_granularity != of_original) note("--aio.granularity has no effect");
    }

    /// What shapes the files of POSIX on certain file systems.
    void file_systems(bool posix) {
        if (o_.stripe_count != 0) add("stripe-count", o_.stripe_count);
        if (o_.stripe_size != 0) add("stripe-size", o_.stripe_size);
        if (o_.stripe_start >= 0) add("stripe-start", o_.stripe_start);
        if (!o_.stripe_pool.empty()) add("stripe-pool", o_.stripe_pool);
        const bool striped = o_.stripe_count != 0 || o_.stripe_size != 0 || o_.stripe_start >= 0 ||
                             !o_.stripe_pool.empty();
        if (striped && !posix) {
            fault(
                "the options of Lustre do not work with -a {}; with MPIIO, HDF5 and NCMPI the "
                "hints striping_factor and striping_unit do that (-U)",
                o_.api);
        }
        if (o_.ignore_locks != 0) note("lustreIgnoreLocks has no effect: locks stay as they are");
        if (o_.gpfs != 0) {
            note("the options of GPFS have no effect: this ior gives no hints through gpfs_fcntl");
        }
        if (o_.beegfs_targets != 0 || o_.beegfs_chunk != 0) {
            note(
                "the options of BeeGFS have no effect: set the pattern of the directory with "
                "beegfs-ctl --setpattern");
        }
        if (o_.madvise != 0) note("--mmap.madv_dont_need and --mmap.madv_pattern have no effect");
    }

    void dummy() {
        add("backend", "null");
        std::string delays =
            fmt::format("open={}us,close={}us,sync={}us,transfer={}us", o_.dummy_create,
                        o_.dummy_close, o_.dummy_sync, o_.dummy_transfer);
        if (o_.dummy_rank0 != 0) delays += ",rank=0";
        add("backend-options", delays);
    }

    bool has_hdf5_options() const {
        return o_.collective_metadata != 0 || o_.individual_datasets != 0 || o_.alignment > 1 ||
               o_.no_fill != 0 || o_.chunk_size != 0;
    }

    void hdf5() {
        add("backend", "hdf5");
        out_.collective = true;
        if (o_.random_offset != 0) fault("-z cannot be had with -a HDF5");
        if (o_.preallocate != 0) fault("-p cannot be had with -a HDF5: it makes its files itself");
        if (o_.individual_datasets != 0 && o_.collective != 0) {
            fault("-I cannot be had with -c: all tasks make a collective call on one dataset");
        }
        std::string settings = o_.no_fill != 0 ? "fill=never" : "fill=ifset";
        if (o_.individual_datasets != 0) settings += ",datasets=block";
        if (o_.collective_metadata != 0) settings += ",collective-metadata=on";
        if (o_.alignment > 1) {
            // What is smaller than the alignment is packed, or a file would be mostly gaps.
            settings += fmt::format(",alignment={0},alignment-threshold={0}", o_.alignment);
        }
        if (o_.chunk_size > 0) settings += fmt::format(",chunk-rows={}", o_.chunk_size);
        add("backend-options", settings);
    }

    /// The original takes the flags of MPI-IO here too, and uses hardly any.
    void ncmpi() {
        add("backend", "pnetcdf");
        out_.collective = true;
        if (o_.file_per_proc != 0) fault("-F cannot be had with -a NCMPI");
        if (o_.random_offset != 0) fault("-z cannot be had with -a NCMPI");
    }

    void hints() {
        for (char** word = environ; *word != nullptr; ++word) hint_line(*word);
        if (o_.hints_file.empty()) return;
        const auto file = read_text("cannot read the hints file", o_.hints_file);
        if (!file) {
            fault("-U {}: cannot be read: {}", o_.hints_file, file.error().cause);
            return;
        }
        std::istringstream in(*file);
        for (std::string line; std::getline(in, line);) hint_line(line);
    }

    void hint_line(std::string_view line) {
        const auto begin = line.find_first_not_of(" \t");
        if (begin == std::string_view::npos) return;
        line.remove_prefix(begin);
        if (!line.starts_with(hint_prefix)) return;
        line.remove_prefix(hint_prefix.size());
        add("hint", line);
    }

    const IorOptions& o_;
    IorBackend out_;
};

}  // namespace

IorBackend backend_of(const IorOptions& options) {
    return Choice(options).make();
}

}  // namespace effio
