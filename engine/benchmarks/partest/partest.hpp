// SPDX-License-Identifier: BSD-3-Clause
// partest (docs/definitions/partest.md) on the frame for studies: a container, files of the tasks,
// and a shared file, through the same phases.
#pragma once

#include <memory>

#include "frame/benchmark.hpp"
#include "frame/study/study.hpp"

namespace effio::partest {

/// A container, a file of each task, one file through MPI-IO.
enum class Method { container, task_local, shared };

struct Parameters : study::Options {
    Parameters() : Options("posix") {}

    std::vector<Method> methods{Method::container, Method::task_local, Method::shared};
    Bytes size{20 * MiB};        ///< of a task
    std::optional<Bytes> total;  ///< of all tasks, instead
    double random_size = 0;
    std::int64_t seed = 1;
    Bytes call{10 * MiB};
    Bytes first_access;
    std::vector<Bytes> chunks;
    std::optional<Bytes> block;
    std::vector<std::int64_t> tasks;
    bool opens_alone = false;  ///< --container-open=each
    std::int64_t container_files = 1;
    std::vector<std::string> collective;  ///< phases
    std::optional<std::int64_t> collector_tasks;
    bool double_write = false;
    std::int64_t at_a_time = 0;
    std::optional<std::int64_t> shift;
    bool unlink = false;
    std::vector<std::string> hints;
    std::string prefix = "partest";
    bool exact_name = false;  ///< the file's name is `prefix` and nothing more

    void declare(OptionTable& table);
    Status check();
    /// Bytes of each task: the given size, or its share of the total.
    std::int64_t bytes_without_random(std::int64_t tasks) const;
    /// Bytes of this task: the same and a random part of it.
    std::int64_t bytes_of(int task, std::int64_t tasks) const;
    /// How the container of this many tasks is made, or read.
    BackendChoice container(std::int64_t chunk, std::int64_t tasks, const std::string& phase) const;
    /// Whether collectors move the container's bytes in a phase.
    bool collects(const std::string& phase) const;
};

Result<study::Definition> define(const Parameters& parameters, int ranks);

/// `view` sees the run; may be null.
std::unique_ptr<Benchmark> make_benchmark(std::unique_ptr<study::Observer> view = nullptr);

}  // namespace effio::partest
