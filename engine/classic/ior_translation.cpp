// SPDX-License-Identifier: BSD-3-Clause
// One test of IOR's command line in our own words.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "classic/ior.hpp"
#include "classic/ior_backend.hpp"
#include "core/whole.hpp"
#include "parallel/system.hpp"
#include "storage/posix_calls.hpp"

namespace effio {
namespace {

std::string base_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    while (true) {
        const auto end = text.find(at, begin);
        parts.push_back(text.substr(begin, end - begin));
        if (end == std::string::npos) return parts;
        begin = end + 1;
    }
}

/// One test while it is translated.
class Translator {
  public:
    Translator(const IorOptions& o, int tasks) : o_(o), tasks_(tasks) {}

    Result<IorTranslation> translate() {
        add("--quiet");
        add("--progress=none");
        refuse_unsupported();
        backend();
        files();
        workload();
        calls();
        limits();
        data();
        if (!faults_.empty()) return usage_error(faults_);
        return std::move(out_);
    }

  private:
    void add(std::string word) { out_.arguments.push_back(std::move(word)); }
    template <class T>
    void add(std::string_view name, const T& value) {
        out_.arguments.push_back(fmt::format("--{}={}", name, value));
    }
    void fault(const std::string& text) { faults_ += text + "\n"; }
    void warn(const std::string& text) { out_.warnings.push_back(text); }

    void refuse_unsupported() {
        if (o_.shared_pointer != 0) fault("-P: shared file pointers are not supported");
        if (o_.dual_mount != 0) fault("-y: dual mounts are not supported");
        if (o_.random_prefill != 0) fault("--randomPrefill is not supported");
        if (o_.range_locks != 0) fault("--posix.rangelocks is not supported");
        if (o_.gpu_direct != 0 || o_.gpu_buffer != 0) fault("buffers on GPUs are not supported");
        if (o_.num_nodes >= 0 || o_.tasks_on_node0 >= 0) {
            out_.notes.emplace_back(
                "numNodes and numTasksOnNode0 are ignored: the nodes are found");
        }
    }

    void backend() {
        auto backend = backend_of(o_);
        for (auto& word : backend.arguments) add(std::move(word));
        for (auto& text : backend.notes) out_.notes.push_back(std::move(text));
        for (auto& text : backend.faults) fault(text);
        queue_depth_ = backend.queue_depth;
        views_ = backend.views;
        collective_ = backend.collective && o_.collective != 0;
    }

    void files() {
        auto paths = split(o_.test_file, '@');
        add("dir", parent_of(paths[0]));
        add("name", base_of(paths[0]));
        if (o_.file_per_proc != 0) {
            add("files", "per-process");
            for (std::size_t i = 1; i < paths.size(); ++i) {
                if (base_of(paths[i]) != base_of(paths[0])) {
                    fault("-o: several paths must differ in their directories alone");
                    break;
                }
                add("more-dirs", parent_of(paths[i]));
            }
        } else if (paths.size() > 1) {
            out_.notes.emplace_back("-o: without -F only the first path is used");
        }
        if (o_.unique_dir != 0 && o_.file_per_proc == 0) {
            out_.notes.emplace_back("-u has no effect without -F");
        } else if (o_.unique_dir != 0) {
            if (paths.size() > 1) fault("-u takes one path");
            add("--rank-dirs");
        }
        if (o_.multi_file != 0) add("--file-each-repetition");
        if (o_.keep != 0) add("--keep");
        if (o_.keep_with_error != 0) add("--keep-on-errors");
        if (o_.use_existing != 0) {
            add("--use-existing");
        } else {
            add("--overwrite");  // the original replaces files of its names without asking
        }
    }

    void workload() {
        const bool none =
            o_.write == 0 && o_.read == 0 && o_.check_read == 0 && o_.check_write == 0;
        const bool writes = none || o_.write != 0;
        const bool reads = none || o_.read != 0 || o_.check_read != 0;
        writes_ = writes;
        if (writes && reads) {
            add("phases", "write,read");
        } else {
            add("phases", writes ? "write" : "read");
        }
        if (o_.check_write != 0) add("verify", writes ? "write" : "read");
        if (o_.check_read != 0 && !(o_.check_write != 0 && !writes)) add("verify", "read");
        if (o_.block % std::max<std::int64_t>(o_.transfer, 1) != 0) {
            fault(fmt::format("block size (-b {}) must be a multiple of transfer size (-t {})",
                              o_.block, o_.transfer));
        }
        add("block", o_.block);
        add("transfer", o_.transfer);
        add("segments", o_.segments);
        add("repetitions", o_.repetitions);
        if (o_.num_tasks > tasks_) {
            warn(
                fmt::format("More tasks requested ({}) than available ({}), running with {} tasks.",
                            o_.num_tasks, tasks_, tasks_));
        } else if (o_.num_tasks > 0) {
            add("ranks", o_.num_tasks);
        }
        if (o_.random_offset > 0) {
            if (collective_ || (views_ && o_.file_view != 0))
                fault("-z cannot be had with collective calls or views");
            if (views_ && o_.strided_type != 0) {
                out_.notes.emplace_back("-S has no effect with -z: each transfer is a call");
            }
            add("order", o_.random_offset > 1 ? "random" : "shuffled");
            if (o_.random_offset_seed >= 0) add("order-seed", o_.random_offset_seed);
        }
        if (reads && o_.reorder != 0 && o_.reorder_random != 0) {
            fault("-C and -Z exclude each other");
        }
        const char* from = "same";
        if (o_.reorder != 0 && o_.task_offset != 0) from = "shifted";
        if (o_.reorder_random == 1) from = "random";
        if (o_.reorder_random > 1) from = "shuffled";
        add("read-from", from);
        add("distance", std::max<std::int64_t>(o_.task_offset, 1));
        if (o_.reorder_random != 0) {
            if (o_.reorder_seed < -std::numeric_limits<std::int64_t>::max()) {
                fault(fmt::format("-X {} is not a seed", o_.reorder_seed));
            } else {
                add("partner-seed", std::abs(o_.reorder_seed));
            }
        }
    }

    void calls() {
        if (collective_) add("--collective");
        if (views_ && o_.strided_type != 0 && o_.random_offset == 0) {
            add("placement", "strided");
        } else if (views_ && o_.file_view != 0) {
            add("placement", "view");
        }
        if (views_ && o_.preallocate != 0) add("--preallocate");
        add("--drop-cache=off");  // the original leaves the caches alone
        add("sync", o_.fsync_per_write != 0 ? "each" : o_.fsync != 0 ? "end" : "none");
        if (o_.barriers != 0) add("--barriers");
        if (o_.delay > 0) add("delay", fmt::format("{}s", o_.delay));
        if (o_.inter_io_delay > 0) add("think-time", fmt::format("{}us", o_.inter_io_delay));
        queue();
        hold_memory();
        pretended_nodes();
    }

    /// -a AIO has several transfers in flight, unless something is done after each of them.
    void queue() {
        if (queue_depth_ <= 1) return;
        if (o_.fsync_per_write != 0 || o_.inter_io_delay > 0 || !o_.calls_csv.empty()) {
            out_.notes.emplace_back(
                "-a AIO: one transfer is in flight at a time, because of -Y, interIODelay or "
                "savePerOpDataCSV");
            return;
        }
        // Each transfer has its own memory.
        constexpr std::int64_t most_memory = 64 * MiB;
        const std::int64_t fits =
            std::max<std::int64_t>(most_memory / std::max<std::int64_t>(o_.transfer, 1), 1);
        const std::int64_t depth = std::min(queue_depth_, fits);
        if (depth > 1) add("queue-depth", depth);
    }

    /// The original's variables for tests on one node: as if the tasks were on several.
    void pretended_nodes() {
        const auto number_in = [this](const char* variable,
                                      const char* what) -> std::optional<std::int64_t> {
            const char* const given = std::getenv(variable);
            if (given == nullptr) return std::nullopt;
            const auto number = parse_integer(given);
            if (number && *number >= 1 && *number <= std::numeric_limits<std::int32_t>::max()) {
                return *number;
            }
            fault(fmt::format("{}: '{}' is not a number of {}", variable, given, what));
            return std::nullopt;
        };
        const auto nodes = number_in(ior_fake_nodes, "nodes");
        const auto each = number_in(ior_fake_tasks, "tasks");
        if (each) {
            add("ranks-per-node", *each);
        } else if (nodes) {
            add("ranks-per-node", (tasks_ + *nodes - 1) / *nodes);
        }
    }

    void hold_memory() {
        const std::string& text = o_.memory_per_node;
        std::int64_t bytes = o_.memory_per_task;
        if (bytes > 0) {  // of one node, where all tasks may be
            const auto all = product_of({bytes, tasks_});
            if (!all) return fault("memoryPerTask: too much for all tasks");
            bytes = *all;
        }
        if (text.ends_with('%')) {
            const auto percent = parse_integer(std::string_view(text).substr(0, text.size() - 1));
            if (!percent || *percent < 0 || *percent > 100) {
                fault(fmt::format("-M: '{}' is not part of the memory", text));
                return;
            }
            bytes = find_memory().total_bytes / 100 * *percent;
        } else if (!text.empty()) {
            const auto size = parse_ior_size(text);
            if (!size) {
                fault("-M: " + size.error().cause);
                return;
            }
            bytes = *size;
        }
        if (bytes > 0) add("hold-memory", bytes);
    }

    void limits() {
        if (o_.deadline > 0) add("stonewall", o_.deadline);
        if (o_.wear_out != 0) {
            if (o_.deadline <= 0) fault("stoneWallingWearOut needs -D");
            add("--wear-out");
        }
        if (o_.wear_out_iterations > 0) add("max-transfers", o_.wear_out_iterations);
        if (!o_.status_file.empty()) {
            if (writes_ && o_.keep == 0) fault("stoneWallingStatusFile needs -k");
            if (writes_ && o_.wear_out == 0) {
                fault("stoneWallingStatusFile needs stoneWallingWearOut");
            }
            add("count-file", o_.status_file);
        }
        if (o_.min_duration > 0) add("min-time", o_.min_duration);
        if (o_.max_duration > 0) add("time-limit", fmt::format("{}min", o_.max_duration));
        if (o_.quit_on_error != 0) add("--stop-on-errors");
        if (o_.outlier_threshold > 0) add("--slowest");
        if (!o_.rank_csv.empty()) add("save-rank-details", o_.rank_csv);
        if (!o_.calls_csv.empty()) add("save-calls", o_.calls_csv);
    }

    /// Without -l the data are the original's, so that both programs can check each other's files
    /// and write from as little memory: one transfer, which stays in the processor's cache.
    void data() {
        const std::string type = lower_case(o_.data_type);
        const bool checks = o_.check_read != 0 || o_.check_write != 0;
        std::string kind;
        if (type.empty() || type == "t" || type == "timestamp") {
            kind = "timestamp";
        } else if (type == "o" || type == "offset") {
            kind = "offset";
        } else if (type == "i" || type == "incompressible" || type == "r" || type == "random") {
            kind = "stamped";
        } else {
            fault(fmt::format("-l {}: timestamp, offset, incompressible and random are known",
                              o_.data_type));
            return;
        }
        add("data", kind);
        if (checks && !writes_ && o_.signature == 0) {
            fault(
                "-R or -W without -w needs the signature (-G) that the data were written with; "
                "a run without -G shows its own with -vv, and its result file has it as data_seed");
        }
        if (o_.signature != 0) {
            add("seed", static_cast<std::uint32_t>(o_.signature) & 0x7fffffffU);
        }
    }

    const IorOptions& o_;
    int tasks_;
    std::int64_t queue_depth_ = 1;
    bool views_ = false;
    bool collective_ = false;
    bool writes_ = true;
    IorTranslation out_;
    std::string faults_;
};

}  // namespace

Result<IorTranslation> translate_ior_test(const IorOptions& options, int tasks) {
    return Translator(options, tasks).translate();
}

}  // namespace effio
