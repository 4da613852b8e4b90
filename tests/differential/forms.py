# SPDX-License-Identifier: BSD-3-Clause
"""The text of ior and mdtest line by line: the form of each line that the originals print, from
the description of their output. What is measured is in a form, what follows from the command line
is compared."""

from __future__ import annotations

import re
from dataclasses import dataclass

CTIME = r"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}"
SPACE = (
    r"FS                  : \d+\.\d [KMGTP]iB   Used FS: \d+\.\d%   "
    r"Inodes: \d+\.\d Mi   Used Inodes: \d+\.\d%"
)
# Of a row of results: six decimals below 1, two below 3600, else none; inf of a time of 0.
NUMBER = r"(?:0\.\d{6}|[1-9]\d{0,3}\.\d\d|\d{4,}|-|NA|inf)"
OPTION_KEYS = (
    "api|apiVersion|test filename|access|type|segments|ordering in a file|ordering inter file"
    "|task offset|reorder random seed|nodes|tasks|clients per node|memoryBuffer|dataAccess"
    "|GPUDirect|repetitions|xfersize|blocksize|aggregate filesize|verbose|stonewallingTime"
    "|stoneWallingWearOut|memoryPerNode|data"
)
RESULT_HEAD = [
    "access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   "
    "close(s)   total(s)   iter",
    "------    ---------  ----       ----------  ---------- ---------  --------   --------   "
    "--------   --------   ----",
]
SUMMARY_HEAD = (
    "Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     "
    "StdDev    Mean(s) Stonewall(s) Stonewall(MiB) Test# #Tasks tPN reps fPP reord reordoff "
    "reordrand seed segcnt   blksiz    xsize aggs(MiB)   API RefNum"
)
MDTEST_HEAD = [
    "   Operation                     Max            Min           Mean        Std Dev",
    "   ---------                     ---            ---           ----        -------",
]
WARNING = r"(?:ior: )?WARNING: +(\S+ \S+ \S+).*"
RANKS_HEAD = [
    "   Operation     per Rank: Max            Min           Mean      per Iteration: Max"
    "            Min           Mean        Std Dev",
    "   ---------               ---            ---           ----                      ---"
    "            ---           ----        -------",
]
PHASE_HEAD = [
    "   Operation               Duration              Rate",
    "   ---------               --------              ----",
]
OPERATION = (
    "(Directory creation|Directory stat|Directory rename|Directory removal|File creation"
    "|File stat|File read|File removal|Tree creation|Tree removal)"
)


@dataclass(frozen=True)
class Form:
    """A kind of line. What the groups of `pattern` hold follows from the command line."""

    name: str
    pattern: str

    def outline(self, line: str) -> str | None:
        """The name and what is compared; None for another kind of line."""
        found = re.fullmatch(self.pattern, line)
        if found is None:
            return None
        return " ".join([self.name, *(word.strip() for word in found.groups() if word)])


def literal(name: str, line: str) -> Form:
    return Form(name, re.escape(line))


IOR = [
    Form("", " *"),
    Form("banner", r"IOR-\S+: MPI Coordinated Test of Parallel I/O"),
    Form("began", rf"Began               : {CTIME}"),
    Form("command line", r"Command line        : .+"),
    Form("machine", r"Machine             : Linux \S+(?: (.+))?"),
    Form("pretended", r"Fake (number of node|tasks per node): using (\d+)"),
    Form("test", r"TestID              : (\d+)"),
    Form("start", rf"StartTime           : {CTIME}"),
    Form("path", r"Path                : \S+"),
    Form("space", SPACE),
    literal("options", "Options: "),
    Form("option", rf"(?=.{{20}}: )((?:{OPTION_KEYS}) *): (.*)"),
    literal("results", "Results: "),
    *(literal("head of the results", line) for line in RESULT_HEAD),
    # Columns of 10 characters with a blank between them, 11 of the latency.
    Form(
        "row",
        r"(?=.{10}\S.{10}\S.{10}\S.{11}\S.{10}\S.{10}\S.{10}\S.{10}\S.{10}\S.{10}\S)"
        rf"(write|read|remove) +{NUMBER} +{NUMBER} +{NUMBER} +({NUMBER}) +({NUMBER}) +"
        rf"{NUMBER} +{NUMBER} +{NUMBER} +{NUMBER} +(\d+) *",
    ),
    Form("most", r"Max (Write: |Read:  )\d+\.\d\d MiB/sec \(\d+\.\d\d MB/sec\)"),
    literal("summary", "Summary of all tests:"),
    literal("head of the summary", SUMMARY_HEAD),
    # Columns stay where they are unless a number has more digits than fit.
    Form(
        "sums",
        r"(?=.{108} .{9}\S .{12}\S |.* \d{8,}\.\d\d )(write|read) {4,5}(?: +(?:\d+\.\d\d|NA)){8} +"
        r"(?:\d+\.\d{5}|NA) +(?:\d+\.\d\d|NA) +"
        r"(?:\d+\.\d\d|NA)((?: +-?\d+){12} +\d+\.\d +[\w-]+ +\d+)",
    ),
    Form("finished", rf"Finished            : {CTIME}"),
    literal("checks", "Verifying contents of the file(s) just written."),
    Form("time", CTIME),
    Form("written to", r"Writing output to (\S+)"),
    Form(
        "stonewall",
        r"stonewalling pairs accessed min: \d+ max: \d+ -- min data: \d+\.\d GiB "
        r"mean data: \d+\.\d GiB time: \d+\.\ds",
    ),
    Form("warning", WARNING),
    Form("signature", r"Using Time Stamp \d+ \(0x[0-9a-f]+\) for Data Signature"),
    Form("hints", r"hints (passed to) MPI_File_open\(\) \{"),
    Form("hints", r"hints (returned from) opened file \{"),
    Form("hint", r"\t\S+ = .*"),
    Form("end of the hints", r"\}"),
]

EACH = r"(?:\d\.\d{6}e[+-]\d\d|inf)"

MDTEST = [
    Form("", " *"),
    Form("started", r"-- started at \d\d/\d\d/\d{4} \d\d:\d\d:\d\d --"),
    Form("banner", r"mdtest-\S+ was launched with (\d+) total task\(s\) on (\d+) node\(s\)"),
    Form("command line", r"Command line used: .*mdtest '.*"),
    Form("path", r"Path                : \S+"),
    Form("space", SPACE),
    Form("nodes", r"Nodemap: ([01]+)"),
    Form("seed", r"random seed: \d+"),
    Form("items", r"(\d+) tasks, (\d+) (files|directories|files/directories)"),
    Form("heading", r"SUMMARY (rate \(in ops/sec\)|time \(in ms/op\)): \(of (\d+) iterations\)"),
    *(literal("head of the table", line) for line in MDTEST_HEAD),
    *(literal("head of the table with ranks", line) for line in RANKS_HEAD),
    *(literal("head of the phases", line) for line in PHASE_HEAD),
    literal(
        "reads of nothing",
        "WARNING: Read bytes is 0, thus, a read test will actually just open/close",
    ),
    # A name of 22 characters and numbers of 14; with the ranks' own numbers, names of 18.
    Form("row", rf"   (?=.{{22}} ){OPERATION} +\d+\.\d{{3}}(?: {{1,13}}\d+\.\d{{3}}){{3}}"),
    Form(
        "row with ranks",
        r"   (?=[FD].{58}\.\d{3} {9,}\d|T.{62}\.\d{3} {5,}\d)"
        rf"{OPERATION} +\d+\.\d{{3}}(?: +\d+\.\d{{3}}){{6}}",
    ),
    Form("ranks", r"Per process result \((rate|time)\):"),
    Form("iteration", r"iteration: (\d+)"),
    Form("of each rank", rf"Test (?:{OPERATION}|Directory read) {EACH}(?:,{EACH})*"),
    Form("phase", rf"   {OPERATION} *: +\d+\.\d{{3}} sec, +\d+\.\d{{3}} ops/sec"),
    Form("stonewall", r"Continue stonewall hit min: \d+ max: \d+ avg: \d+\.\d "),
    Form("finished", r"-- finished at \d\d/\d\d/\d{4} \d\d:\d\d:\d\d --"),
]

CSV = [
    literal(
        "header",
        "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),"
        "numTasks,iter",
    ),
    Form("row", r"(write|read|remove),(?:(?:-|NA|inf|\d+(?:\.\d+)?(?:e-\d+)?),){9}(\d+),(\d+)"),
    Form("warning", WARNING),
]

# Members of the JSON, in their order.
JSON_TOP = ["Version", "Began", "Command line", "Machine", "tests", "summary", "Finished"]
JSON_TEST = [
    *("TestID", "StartTime", "Path", "Capacity", "Used Capacity", "Inodes", "Used Inodes"),
    *("Parameters", "Options", "Results"),
]
JSON_PARAMETERS = [
    "testID", "refnum", "api", "platform", "testFileName", "deadlineForStonewall",
    "stoneWallingWearOut", "maxTimeDuration", "outlierThreshold", "options", "dryRun", "nodes",
    "memoryPerTask", "memoryPerNode", "tasksPerNode", "repetitions", "multiFile",
    "interTestDelay", "fsync", "fsyncperwrite", "useExistingTestFile", "uniqueDir",
    "singleXferAttempt", "readFile", "writeFile", "filePerProc", "reorderTasks",
    "reorderTasksRandom", "reorderTasksRandomSeed", "randomOffset", "checkWrite", "checkRead",
    "dataPacketType", "keepFile", "keepFileWithError", "warningAsErrors", "verbose",
    "data packet type", "setTimeStampSignature/incompressibleSeed", "collective", "segmentCount",
    "transferSize", "blockSize",
]  # fmt: skip
JSON_RESULT = [
    "access", "bwMiB", "blockKiB", "xferKiB", "iops", "latency", "openTime", "wrRdTime",
    "closeTime", "totalTime",
]  # fmt: skip
JSON_SUMMARY = [
    "operation", "API", "TestID", "ReferenceNumber", "segmentCount", "blockSize", "transferSize",
    "numTasks", "tasksPerNode", "repetitions", "filePerProc", "reorderTasks", "taskPerNodeOffset",
    "reorderTasksRandom", "reorderTasksRandomSeed", "bwMaxMIB", "bwMinMIB", "bwMeanMIB",
    "bwStdMIB", "OPsMax", "OPsMin", "OPsMean", "OPsSD", "MeanTime", "xsizeMiB",
]  # fmt: skip


def forms_of(program: str, text: str) -> list[Form]:
    if program == "mdtest":
        return MDTEST
    return CSV if re.search(r"^access,", text, re.M) else IOR


def outline(program: str, text: str) -> list[str]:
    """The kinds of the lines and what they say of the command line; a line that has no form of the
    original's stands as it is, its figures masked, behind a question mark."""
    forms = forms_of(program, text)
    lines = []
    for line in text.splitlines():
        found = next((seen for form in forms if (seen := form.outline(line)) is not None), None)
        lines.append(f"? {re.sub(r'[0-9]+', '#', line)}" if found is None else found)
    return lines


def odd(program: str, text: str) -> list[str]:
    return [line for line in outline(program, text) if line.startswith("?")]
