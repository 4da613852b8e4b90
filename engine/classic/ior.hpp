// SPDX-License-Identifier: BSD-3-Clause
// The classic face of IOR: its command line, its text, JSON and CSV.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/ior/ior.hpp"
#include "classic/classic.hpp"
#include "classic/ior_options.hpp"
#include "core/json.hpp"
#include "core/named.hpp"

namespace effio {

Result<ClassicProgram::Translation> translate_ior(const std::vector<std::string>& words,
                                                  const std::vector<std::string>& own = {});

/// What one test of IOR requests, and what ior makes of it.
struct IorTranslation {
    std::vector<std::string> arguments;  ///< our command line
    std::vector<std::string> warnings;   ///< what the original warns of
    std::vector<std::string> notes;      ///< what is taken without effect
};
/// `tasks` is the number of tasks of the job.
Result<IorTranslation> translate_ior_test(const IorOptions& options, int tasks);

/// One phase as the classic views print it.
struct IorRow {
    ior::PhaseResult result;
    int test = 0;
    double wr_rd() const;    ///< seconds of the calls and of the fsync after them
    double iops() const;     ///< calls over these seconds
    double latency() const;  ///< seconds of a call, the mean over all tasks
};

/// The output of all tests of one command line; on the root. Rows come as they are measured, the
/// summary at the end.
class IorReport {
  public:
    virtual ~IorReport() = default;
    IorReport(const IorReport&) = delete;
    IorReport& operator=(const IorReport&) = delete;

    virtual void begin_test(int test, const ior::Setup& setup) = 0;
    virtual void row(const IorRow& row) = 0;
    virtual void removed(int test, std::int64_t repetition, double seconds) = 0;
    virtual void end_test(int test, const ior::RunResult& run) = 0;
    /// Nothing follows; called once, also after a run that failed.
    virtual void finish() = 0;

  protected:
    IorReport() = default;
};

struct IorReportRequest {
    std::vector<IorOptions> tests;
    std::string command_line;
};
/// `out` receives complete pieces of text.
using IorSink = std::function<void(const std::string&)>;
std::unique_ptr<IorReport> make_ior_text(IorReportRequest request, IorSink out);
std::unique_ptr<IorReport> make_ior_json(IorReportRequest request, IorSink out);
std::unique_ptr<IorReport> make_ior_csv(IorReportRequest request, IorSink out);

/// The operation times of a test over its repetitions, as the summary shows them.
struct IorSummary {
    ior::Access access = ior::Access::write;
    Samples mib_per_second;
    Samples operations_per_second;  ///< bytes over transfer size and total time
    Samples seconds;
    std::optional<double> stonewall_seconds;  ///< mean over the repetitions
    std::optional<double> stonewall_mib;      ///< MiB/s of all tasks until then
    Samples moved_mib;                        ///< MiB of all tasks
};
std::vector<IorSummary> summaries_of(const IorOptions& options, const ior::RunResult& run);

/// Nodes of the run, and tasks on the fullest of them, as IOR_FAKE_NODES and
/// IOR_FAKE_TASK_PER_NODES pretend if they are set.
inline constexpr const char* ior_fake_nodes = "IOR_FAKE_NODES";
inline constexpr const char* ior_fake_tasks = "IOR_FAKE_TASK_PER_NODES";
int ior_nodes(const ior::Setup& setup);
int ior_tasks_on_node(const ior::Setup& setup);

std::string ior_machine();  ///< "Linux host"
std::string ior_kernel();   ///< "Linux host release version machine", as with -vv

/// "1 MiB", "262144 bytes": as the original shows sizes.
std::string ior_size(std::int64_t bytes);
/// The shared file or that of rank 0, with the directory that was given and without the number of
/// the repetition.
std::string ior_path(const IorOptions& options, const ior::Setup& setup);
/// What all tasks move in a phase that nothing cuts short.
std::int64_t ior_expected_bytes(const IorOptions& options, int tasks);
/// The section Options, numbers as numbers.
std::vector<Named<Json>> ior_options_shown(const IorOptions& options, const ior::Setup& setup);

}  // namespace effio
