// SPDX-License-Identifier: BSD-3-Clause
#include "classic/mdtest_options.hpp"

#include <algorithm>
#include <array>

namespace effio {
namespace {

constexpr const char* mdtest_help_text =
    R"(mdtest measures how many files and directories a file system creates, finds, reads and removes.

  mpirun -np NP mdtest -n items | -I items-per-directory [options]

  -a S   POSIX, DUMMY or NULL (keep nothing), SIM (1 ms of virtual time for each call) [POSIX]
  --posix.odirect  data of files past the page cache with O_DIRECT
  --dummy.delay-create=N, -close, -xfer, -sync   delays of DUMMY, microseconds
  --dummy.delay-only-rank0  on task 0 alone
  -b N   branching factor of the tree [1]         -z N   depth of the tree [0]
  -n N   items of each task                       -I N   items of each task in each directory
  -u     a tree for each task                     -L     items at the lowest level only
  -D     directories only                         -F     files only
  -C -T -E -U -r   only create, stat, read, rename directories, remove (together as given)
  -d P   base directory, or several: P1@P2 with -u [./out]
  -i N   iterations [1]
  -w N   bytes to write into each file            -e N   bytes to read from each file
  -X, --verify-read, --verify-write   compare what was written, in a pass of its own
  -N N   each task on the items of the Nth next node (stat), of twice, of three times as many
  -R, --random-seed N   stat and read in random order       -G N   seed of the data
  -W N   stop creating files after N seconds, continue to the count of the fastest
  -x F   file that the count is written to and read from
  -y     fsync each file                          -Y     sync the file system after each phase
  -c     task 0 creates and removes everything    -S     all tasks share the same files
  -k     create files by mknod(2); see --as-of-2017
  -f N -l N -s N   numbers of tasks from, to, stride
  -B     no barriers between phases               -t     count the first look-up of the own tree
  -p N   pause before directories and files       -g     (Lustre layout; accepted)
  -P     rates and times     -Z  times only       -v, -V N   a line after each phase
  --showRankStatistics   tables with the rates of the ranks, too
  --print-all-procs      a line for each rank after each phase
  --savePerOpDataCSV=P   every operation's time, in P-<thing>-<operation>-<iteration>-<rank>.csv
  --saveRankPerformanceDetails=F  a CSV line for each task, iteration and phase
  --run-cmd-before-phase=C, --run-cmd-after-phase=C   shell command of each task around each
                   phase: before it untimed, after it inside its time; EFFIO_PHASE names it
  --as-of-2017     read the line as mdtest of 2017 did: -k did nothing then, and directories
                   were not renamed
  --overwrite      replace a tree that an earlier run left
)";

using Value = MdtestOption::Value;
using Known = MdtestOption;
constexpr std::array known{
    Known{"a", Value::needed},
    Known{"b", Value::needed},
    Known{"B", Value::optional},
    Known{"c", Value::none},
    Known{"C", Value::none},
    Known{"d", Value::needed},
    Known{"D", Value::none},
    Known{"e", Value::needed},
    Known{"E", Value::none},
    Known{"f", Value::needed},
    Known{"F", Value::none},
    Known{"g", Value::none},
    Known{"G", Value::needed},
    Known{"h", Value::none},
    Known{"i", Value::needed},
    Known{"I", Value::needed},
    Known{"k", Value::none},
    Known{"l", Value::needed},
    Known{"L", Value::none},
    Known{"n", Value::needed},
    Known{"N", Value::needed},
    Known{"p", Value::needed},
    Known{"P", Value::none},
    Known{"r", Value::none},
    Known{"R", Value::none},
    Known{"s", Value::needed},
    Known{"S", Value::none},
    Known{"t", Value::none},
    Known{"T", Value::none},
    Known{"u", Value::none},
    Known{"U", Value::none},
    Known{"v", Value::none},
    Known{"V", Value::needed},
    Known{"w", Value::needed},
    Known{"W", Value::needed},
    Known{"x", Value::needed},
    Known{"X", Value::none},
    Known{"y", Value::none},
    Known{"Y", Value::none},
    Known{"z", Value::needed},
    Known{"Z", Value::none},
    Known{"help", Value::none},
    Known{"verify-read", Value::none},
    Known{"verify-write", Value::none},
    Known{"random-seed", Value::needed},
    Known{"print-all-procs", Value::none},
    Known{"showRankStatistics", Value::none},
    Known{"dataPacketType", Value::needed},
    Known{"warningAsErrors", Value::none},
    Known{"savePerOpDataCSV", Value::needed},
    Known{"saveRankPerformanceDetails", Value::needed},
    Known{"run-cmd-before-phase", Value::needed},
    Known{"run-cmd-after-phase", Value::needed},
    Known{"posix.odirect", Value::none},
    Known{"posix.rangelocks", Value::none},
    Known{"dummy.delay-create", Value::needed},
    Known{"dummy.delay-close", Value::needed},
    Known{"dummy.delay-sync", Value::needed},
    Known{"dummy.delay-xfer", Value::needed},
    Known{"dummy.delay-only-rank0", Value::none},
    Known{"as-of-2017", Value::none},
    Known{"overwrite", Value::none},
};

}  // namespace

const MdtestOption* find_mdtest_option(const std::string& name) {
    const auto* it = std::find_if(known.begin(), known.end(),
                                  [&](const MdtestOption& k) { return name == k.name; });
    return it == known.end() ? nullptr : it;
}

const char* mdtest_help() {
    return mdtest_help_text;
}

}  // namespace effio
