# SPDX-License-Identifier: BSD-3-Clause
"""Which variables of the environment are kept with a run. Runs are mailed around, and an
environment holds secrets, so this is a list of what is kept: what changes the work of MPI, I/O
libraries, OpenMP and the batch system, and what a site adds (`[results] environment`). Of names
that are those of secrets only the name is kept; values that look like a token, or an address with a
password, are masked. The engine has the same rule for its own list
(engine/parallel/recorded_environment.cpp).

The patterns are extended regular expressions: grep and sed use them in job scripts as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_FAMILIES = (
    "(OMPI_MCA|PMIX_MCA|PRTE_MCA|ROMIO|MPIR_CVAR|MPICH|I_MPI|UCX|FI|PNETCDF|HDF5|NETCDF|OMP|GOMP|"
    "KMP|DARSHAN|EFFIO)_[A-Za-z0-9_]+"
)
_SLURM = (
    "SLURM_(JOB_ID|JOBID|JOB_NAME|JOB_PARTITION|JOB_NUM_NODES|JOB_NODELIST|NODELIST|NNODES|NTASKS|"
    "NPROCS|NTASKS_PER_NODE|TASKS_PER_NODE|CPUS_PER_TASK|CPUS_ON_NODE|JOB_CPUS_PER_NODE|"
    "MEM_PER_NODE|MEM_PER_CPU|CLUSTER_NAME|DISTRIBUTION|CPU_BIND[A-Z_]*|MEM_BIND[A-Z_]*|MPI_TYPE|"
    "JOB_QOS|HINT|THREADS_PER_CORE|NODEID|PROCID|LOCALID)"
)
_OTHERS = (
    "PBS_(JOBID|JOBNAME|QUEUE|NP|NUM_NODES|NUM_PPN|NODEFILE|ENVIRONMENT)|NCPUS|"
    "LSB_(JOBID|JOBNAME|QUEUE|DJOB_NUMPROC|MAX_NUM_PROCESSORS|HOSTS|MCPU_HOSTS)|"
    "FLUX_(JOB_ID|JOB_SIZE|JOB_NNODES|ENCLOSING_ID)|CRAY_(CPU_TARGET|MPICH_DIR|MPICH_VERSION)|"
    "PE_ENV|LOADEDMODULES|PATH|LD_LIBRARY_PATH|LD_PRELOAD|TMPDIR|HOSTNAME|LANG|LC_ALL"
)
# Of a name with the = after it, whatever the case of its letters.
SECRET = "^[^=]*(TOKEN|SECRET|PASSW|PASSPH|_PASS=|PWD|KEY|JWT|AUTH|CRED|SESSION|PRIVATE|COOKIE)"
# The variable that passes names added by the site to the engine
# (engine/parallel/recorded_environment.hpp).
SITE_NAMES = "EFFIO_RECORDED_VARIABLES"
NOT_KEPT = "(not recorded)"
MASKED = "(masked)"
# What MASKED replaces: a password in an address, hex digits, words of base64
# (in a path '/' is not part of one).
ADDRESS = r"://[^/@ ]*:[^/ ]*@"
_HEX = "0-9A-Fa-f"
_BASE64 = "A-Za-z0-9+_=-"


def allowed(more: Sequence[str] = ()) -> str:
    """The pattern of lines NAME=VALUE that are kept; `more` are names that a site adds."""
    return f"^({'|'.join([_FAMILIES, _SLURM, _OTHERS, *more])})="


def masked(value: str) -> str:
    value = re.sub(ADDRESS, f"://{MASKED}@", value)
    value = re.sub(f"[{_HEX}]{{32,}}", MASKED, value)
    path = value.startswith(("/", "."))
    return re.sub(f"[{'' if path else '/'}{_BASE64}]{{40,}}", MASKED, value)


def kept_environment(environment: Mapping[str, str], more: Sequence[str] = ()) -> dict[str, str]:
    """What is kept of an environment, in the order of names."""
    known = re.compile(allowed(more))
    return {
        name: of_secret(name, value)
        for name, value in sorted(environment.items())
        if known.search(f"{name}=")
    }


def of_secret(name: str, value: str) -> str:
    """The value, unless name or value show that it is a secret."""
    return NOT_KEPT if re.search(SECRET, f"{name}=", re.I) else masked(value)


def sed_words() -> list[str]:
    """The same for lines of `env` in a job script. A line end stands between name and value while
    the value is worked on; a word is masked from its first letter."""

    def every(letters: str, length: int, label: str) -> str:
        start = rf"(\n(.*[^{letters}])?)[{letters}]{{{length},}}"
        return rf":{label};s#{start}#\1{MASKED}#;t{label}"

    steps = [
        f"/{SECRET}/I{{s/=.*/={NOT_KEPT}/;b}}",
        f"s#{ADDRESS}#://{MASKED}@#g",
        r"s#=#\n#",
        every(_HEX, 32, "h"),
        r"/\n[/.]/bp",
        every("/" + _BASE64, 40, "w"),
        ":p",
        every(_BASE64, 40, "q"),
        r"s#\n#=#",
    ]
    return ["sed", "-E", *(word for step in steps for word in ("-e", step))]
