# SPDX-License-Identifier: BSD-3-Clause
"""The whole command line of each launcher, which one is taken, and the script of each batch
system. LSF, PBS and Flux are not at hand: their scripts are held against text."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from effio.engine import mpi
from effio.engine.mpi import Mpi
from effio.engine.program import Engine
from effio.errors import EffioError, ExitCode
from effio.launch.batch import BatchJob, batch_system
from effio.launch.choose import NoLauncherError, choose_launcher
from effio.launch.launchers import (
    LAUNCHERS,
    Aprun,
    Flux,
    Hydra,
    IntelMpi,
    Jsrun,
    Launch,
    Launcher,
    OpenMpi,
    Pals,
    Ranks,
    Srun,
)
from effio.launch.machine import Allocation, Machine, find_allocation, refuse_to_be_launched

LAPTOP = Machine(cores=4, is_root=False, allocation=None)
ROOT = Machine(cores=4, is_root=True, allocation=None)
IN_SLURM = Machine(cores=4, is_root=False, allocation=Allocation("slurm", "17"))
PROGRAM = ("effio-mpi", "b-eff-io")


def test_open_mpi_as_a_user_with_enough_cores() -> None:
    launch = OpenMpi("mpiexec").launch(Ranks(4), PROGRAM, LAPTOP)
    assert launch.command == ("mpiexec", "-n", "4", "effio-mpi", "b-eff-io")
    assert launch.environment == {}
    assert launch.notes == ()


def test_open_mpi_as_root_on_few_cores_says_what_it_sets() -> None:
    launch = OpenMpi("mpiexec", options=("--bind-to", "none")).launch(
        Ranks(8, per_node=4), PROGRAM, ROOT
    )
    assert launch.command == (
        "mpiexec", "-n", "8", "--map-by", "ppr:4:node", "--oversubscribe", "--bind-to", "none",
        "effio-mpi", "b-eff-io",
    )  # fmt: skip
    assert launch.environment == {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    assert "OMPI_ALLOW_RUN_AS_ROOT" in launch.notes[0]
    assert "8 ranks on 4 cores" in launch.notes[1]


def test_within_an_allocation_its_cores_count_not_ours() -> None:
    assert "--oversubscribe" not in OpenMpi("mpiexec").launch(Ranks(64), PROGRAM, IN_SLURM).command


@pytest.mark.parametrize("kind", [Hydra, IntelMpi])
def test_mpich_and_intel_mpi(kind: type[Hydra]) -> None:
    launch = kind("mpiexec.hydra").launch(Ranks(8, 2, 4), PROGRAM, ROOT)
    assert launch.command == ("mpiexec.hydra", "-n", "8", "-ppn", "4", "effio-mpi", "b-eff-io")
    assert launch.environment == {}
    assert "polling" in launch.notes[0]


@pytest.mark.parametrize(
    ("family", "interface"), [(mpi.OPEN_MPI, "pmix"), (mpi.MPICH, "pmi2"), (mpi.INTEL, "pmi2")]
)
def test_srun_speaks_the_interface_of_the_engines_mpi(family: str, interface: str) -> None:
    launch = Srun("srun", Mpi(family)).launch(Ranks(8, 2, 4), PROGRAM, IN_SLURM)
    assert launch.command == (
        "srun", f"--mpi={interface}", "--nodes", "2", "--ntasks", "8", "--ntasks-per-node", "4",
        "--kill-on-bad-exit=1", "effio-mpi", "b-eff-io",
    )  # fmt: skip


def test_an_interface_given_by_the_user_is_kept() -> None:
    launch = Srun("srun", Mpi(mpi.MPICH), ("--mpi=pmi1",)).launch(Ranks(2), PROGRAM, IN_SLURM)
    assert launch.command[:4] == ("srun", "--ntasks", "2", "--kill-on-bad-exit=1")
    assert "--mpi=pmi1" in launch.command


def test_flux_and_pals() -> None:
    assert Flux("flux").launch(Ranks(8, 2), PROGRAM, LAPTOP).command == (
        "flux", "run", "-n", "8", "-N", "2", "effio-mpi", "b-eff-io",
    )  # fmt: skip
    assert Pals("mpiexec").launch(Ranks(8, 2, 4), PROGRAM, LAPTOP).command == (
        "mpiexec", "-n", "8", "--ppn", "4", "effio-mpi", "b-eff-io",
    )  # fmt: skip


def test_aprun_and_jsrun() -> None:
    assert Aprun("aprun", options=("-d", "2")).launch(Ranks(8, 2, 4), PROGRAM, LAPTOP).command == (
        "aprun", "-n", "8", "-N", "4", "-d", "2", "effio-mpi", "b-eff-io",
    )  # fmt: skip
    assert Aprun("aprun").launch(Ranks(8), PROGRAM, LAPTOP).command[:4] == (
        "aprun", "-n", "8", "effio-mpi",
    )  # fmt: skip
    assert Jsrun("jsrun", options=("-b", "rs")).launch(Ranks(8, 2, 4), PROGRAM, ROOT).command == (
        "jsrun", "--nrs", "8", "--tasks_per_rs", "1", "--cpu_per_rs", "1", "--rs_per_host", "4",
        "-b", "rs", "effio-mpi", "b-eff-io",
    )  # fmt: skip


def test_every_launcher_has_its_own_name() -> None:
    names = [kind.name for kind in LAUNCHERS]
    assert sorted(set(names)) == sorted(names)


# Which MPI something belongs to ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "family", "version"),
    [
        ("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4", mpi.OPEN_MPI, "4.1.4"),
        ("MPICH Version:\t4.0.2\nMPICH Release date: Thu", mpi.MPICH, "4.0.2"),
        ("Intel(R) MPI Library 2021.13 for Linux* OS", mpi.INTEL, "2021.13"),
        ("MVAPICH Version\t:\t3.0\nMPICH-derived", mpi.MVAPICH, "3.0"),
        ("MPI VERSION    : CRAY MPICH version 8.1.29.4 (ANL base 3.4a2)", mpi.CRAY, "8.1.29.4"),
    ],
)
def test_a_library_is_known_by_its_version_text(text: str, family: str, version: str) -> None:
    assert mpi.of_library(text) == Mpi(family, version)


@pytest.mark.parametrize(
    ("text", "family", "version"),
    [
        ("mpiexec (OpenRTE) 4.1.4\n\nReport bugs to http://", mpi.OPEN_MPI, "4.1.4"),
        ("mpiexec (Open MPI) 5.0.11", mpi.OPEN_MPI, "5.0.11"),
        ("HYDRA build details:\n    Version:   4.0.2", mpi.MPICH, "4.0.2"),
        ("Intel(R) MPI Library for Linux* OS, Version 2021.13 Build", mpi.INTEL, "2021.13"),
    ],
)
def test_a_launcher_is_known_by_its_version_text(text: str, family: str, version: str) -> None:
    assert mpi.of_launcher(text) == Mpi(family, version)


def test_what_says_nothing_is_unknown() -> None:
    assert mpi.of_library("some library") is None
    assert mpi.of_launcher("usage: mpiexec") is None


def test_relatives_of_mpich_start_each_other() -> None:
    assert Mpi(mpi.MPICH).speaks_with(Mpi(mpi.INTEL))
    assert not Mpi(mpi.MPICH).speaks_with(Mpi(mpi.OPEN_MPI))


# Which launcher is taken -------------------------------------------------------------------------

OPENMPI_SAYS = "mpiexec (OpenRTE) 4.1.4"
HYDRA_SAYS = "HYDRA build details:\\n    Version:  4.0.2"


def _program(path: Path, script: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    """One that says it was built with MPICH."""
    described = '{"engine": {"version": "1", "mpi_built_with": "MPICH Version: 4.0.2"},'
    described += '"benchmarks": []}'
    program = _program(tmp_path / "engine/effio-mpi", f"cat << 'END'\n{described}\nEND\n")
    return Engine(Path(program), "made for a test")


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH of programs made by the test, and nothing else."""
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setenv("PATH", str(directory))
    monkeypatch.delenv("EFFIO_MPIEXEC", raising=False)
    for tool in ("sh", "cat", "printf"):
        found = next(Path(d) / tool for d in ("/bin", "/usr/bin") if (Path(d) / tool).exists())
        (directory / tool).symlink_to(found)
    return directory


def test_the_launcher_of_the_engines_mpi_is_taken(engine: Engine, path: Path) -> None:
    _program(path / "mpiexec", f"printf '{OPENMPI_SAYS}'")
    right = _program(path / "mpiexec.mpich", f"printf '{HYDRA_SAYS}'")
    launcher = choose_launcher(engine, LAPTOP)
    assert (launcher.program, launcher.name) == (right, "mpich")


def test_a_launcher_of_another_mpi_is_refused(engine: Engine, path: Path) -> None:
    wrong = _program(path / "mpiexec", f"printf '{OPENMPI_SAYS}'")
    with pytest.raises(EffioError, match="no launcher here belongs to the engine's MPI") as caught:
        choose_launcher(engine, LAPTOP)
    assert caught.value.code == ExitCode.ENVIRONMENT
    assert "Open MPI 4.1.4" in caught.value.message
    with pytest.raises(EffioError, match="each rank would run alone, as rank 0 of 1"):
        choose_launcher(engine, LAPTOP, wanted=wrong)


def test_no_launcher_at_all(engine: Engine, path: Path) -> None:
    with pytest.raises(NoLauncherError) as caught:
        choose_launcher(engine, LAPTOP)
    assert caught.value.code == ExitCode.ENVIRONMENT


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("srun", "srun was not found on PATH"),
        ("openmpi", "a launcher of this kind was not found on PATH"),
        ("./nonsense", "neither a program nor one of openmpi, mpich"),
    ],
)
def test_a_request_that_cannot_be_met(
    wanted: str, message: str, engine: Engine, path: Path
) -> None:
    with pytest.raises(EffioError, match=message):
        choose_launcher(engine, LAPTOP, wanted=wanted)


def test_a_launcher_that_says_nothing_is_refused(engine: Engine, path: Path) -> None:
    dumb = _program(path / "starter", "echo usage >&2; exit 1")
    with pytest.raises(EffioError, match="does not say which MPI it belongs to: usage"):
        choose_launcher(engine, LAPTOP, wanted=dumb)


def test_within_slurm_srun_is_taken(engine: Engine, path: Path) -> None:
    srun = _program(path / "srun", "exit 0")
    _program(path / "mpiexec", f"printf '{HYDRA_SAYS}'")
    assert choose_launcher(engine, IN_SLURM).program == srun
    assert choose_launcher(engine, LAPTOP).name == "mpich"


def test_open_mpi_in_slurm_without_its_plugin_uses_its_own_launcher(
    tmp_path: Path, path: Path
) -> None:
    described = (
        '{"engine": {"version": "1", "mpi_built_with": "Open MPI v4.1.4"}, "benchmarks": []}'
    )
    program = _program(tmp_path / "engine/effio-mpi", f"cat << 'END'\n{described}\nEND\n")
    engine = Engine(Path(program), "made for a test")
    _program(path / "mpiexec", f"printf '{OPENMPI_SAYS}'")
    srun = _program(path / "srun", "exit 1")
    assert choose_launcher(engine, IN_SLURM).name == "openmpi"
    # srun may end well although a node could not start its task.
    Path(srun).write_text("#!/bin/sh\nexit 0\n")
    assert choose_launcher(engine, IN_SLURM).name == "openmpi"
    Path(srun).write_text("#!/bin/sh\necho here\n")
    assert choose_launcher(engine, IN_SLURM).name == "srun"


@pytest.mark.parametrize(("name", "system"), [("aprun", "pbs"), ("jsrun", "lsf")])
def test_within_a_job_the_launcher_of_the_machine_is_taken(
    name: str, system: str, engine: Engine, path: Path
) -> None:
    program = _program(path / name, "exit 1")
    _program(path / "mpiexec", f"printf '{HYDRA_SAYS}'")
    inside = replace(LAPTOP, allocation=Allocation(system, "7"))
    assert choose_launcher(engine, inside).program == program
    assert choose_launcher(engine, LAPTOP).name == "mpich"
    for wanted in (name, program):
        assert choose_launcher(engine, LAPTOP, wanted=wanted).name == name
    other = replace(LAPTOP, allocation=Allocation("slurm", "7"))
    assert choose_launcher(engine, other).name == "mpich"


# Where we are ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        (
            {"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "2", "SLURM_NTASKS": "8"},
            Allocation("slurm", "7", 2, 8),
        ),
        ({"PBS_JOBID": "7.host", "PBS_NP": "16"}, Allocation("pbs", "7.host", None, 16)),
        ({"LSB_JOBID": "7", "LSB_DJOB_NUMPROC": "4"}, Allocation("lsf", "7", None, 4)),
        ({"FLUX_URI": "local:///", "FLUX_ENCLOSING_ID": "ƒabc"}, Allocation("flux", "ƒabc")),
        ({"FLUX_URI": "local:///"}, None),
    ],
)
def test_an_allocation_is_known_by_its_variables(
    environment: dict[str, str], expected: Allocation | None
) -> None:
    assert find_allocation(environment) == expected


@pytest.mark.parametrize(
    "environment",
    [
        {"OMPI_COMM_WORLD_SIZE": "4"},
        {"PMI_SIZE": "4"},
        {"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0"},
    ],
)
def test_effio_itself_is_not_to_be_launched(environment: dict[str, str]) -> None:
    with pytest.raises(EffioError, match="effio was started 4 times") as caught:
        refuse_to_be_launched(environment)
    assert caught.value.code == ExitCode.ENVIRONMENT


def test_one_process_of_a_launcher_is_fine() -> None:
    refuse_to_be_launched({"OMPI_COMM_WORLD_SIZE": "1", "SLURM_STEP_NUM_TASKS": "4"})


# Batch scripts -----------------------------------------------------------------------------------

HEADERS = {
    "slurm": """\
#!/bin/bash
#SBATCH --job-name=effio-b-eff-io
#SBATCH --ntasks=8
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --time=01:45:00
#SBATCH --output="/scratch/a run/job.log"
#SBATCH --signal=B:USR1@60
#SBATCH --no-requeue
#SBATCH --account=abc
""",
    "pbs": """\
#!/bin/bash
#PBS -N effio-b-eff-io
#PBS -l select=2:ncpus=4:mpiprocs=4
#PBS -l walltime=01:45:00
#PBS -j oe
#PBS -r n
#PBS -o "/scratch/a run/job.log"
#PBS --account=abc
""",
    "lsf": """\
#!/bin/bash
#BSUB -J effio-b-eff-io
#BSUB -n 8
#BSUB -R "span[ptile=4]"
#BSUB -W 1:45
#BSUB -o "/scratch/a run/job.log"
#BSUB -wt 1 -wa USR1
#BSUB --account=abc
""",
    "flux": """\
#!/bin/bash
# flux: --job-name=effio-b-eff-io
# flux: -n 8
# flux: -N 2
# flux: -t 105m
# flux: --output="/scratch/a run/job.log"
# flux: --signal=SIGUSR1@60s
# flux: --account=abc
""",
}

BODY = """
cd /home/me || exit 6
run='/scratch/a run'
module load openmpi
export A='b c'
"""

LAUNCH = """\
mpiexec -n 8 'effio mpi' > "$run/stdout.log" 2> "$run/stderr.log" &
launcher=$!
trap 'kill -USR1 $launcher' USR1 TERM
wait $launcher
while kill -0 $launcher 2> /dev/null; do wait $launcher; done
wait $launcher; status=$?
cd "$run" || exit 6
for file in result.jsonl run.json environment.txt stdout.log stderr.log; do
    if [ -f "$file" ]; then sha256sum "$file"; fi
done > SHA256SUMS
exit $status
"""


def job_with(launch: Launch) -> BatchJob:
    return BatchJob(
        name="effio-b-eff-io",
        directory=Path("/scratch/a run"),
        working_directory=Path("/home/me"),
        ranks=Ranks(8, 2, 4),
        minutes=105,
        launch=launch,
        directives=("--account=abc",),
        setup=("module load openmpi",),
    )


@pytest.mark.parametrize("name", HEADERS)
def test_the_script_of_a_batch_system(name: str) -> None:
    job = job_with(Launch(("mpiexec", "-n", "8", "effio mpi"), {"A": "b c"}))
    script = batch_system(name).script(job)
    assert script.startswith(HEADERS[name] + BODY)
    assert script.endswith(LAUNCH)
    checked = subprocess.run(["bash", "-n"], input=script, text=True, check=False)
    assert checked.returncode == 0


@pytest.mark.parametrize(
    ("name", "kind", "line"),
    [
        ("pbs", Aprun, "aprun -n 8 -N 4 -d 2 'effio mpi'"),
        (
            "lsf",
            Jsrun,
            "jsrun --nrs 8 --tasks_per_rs 1 --cpu_per_rs 1 --rs_per_host 4 -d 2 'effio mpi'",
        ),
    ],
)
def test_the_script_with_a_launcher_of_the_machine(
    name: str, kind: type[Launcher], line: str
) -> None:
    launch = kind(kind.name, options=("-d", "2")).launch(Ranks(8, 2, 4), ("effio mpi",), LAPTOP)
    script = batch_system(name).script(job_with(replace(launch, environment={"A": "b c"})))
    assert script.startswith(HEADERS[name] + BODY)
    assert script.endswith(LAUNCH.replace("mpiexec -n 8 'effio mpi'", line))


@pytest.mark.parametrize(
    ("name", "prints", "job_id"),
    [
        ("slurm", "1234;cluster", "1234"),
        ("pbs", "1234.server", "1234.server"),
        ("lsf", "Job <1234> is submitted to default queue <normal>.", "1234"),
        ("flux", "ƒ2hTYi5Q", "ƒ2hTYi5Q"),
    ],
)
def test_the_id_of_a_submitted_job(
    name: str, prints: str, job_id: str, path: Path, tmp_path: Path
) -> None:
    system = batch_system(name)
    _program(path / system.submit_command[0], f"printf '%s' '{prints}'")
    assert system.submit(Path(_program(tmp_path / "job.sh", ""))) == job_id


def test_a_refused_job_says_why(path: Path, tmp_path: Path) -> None:
    _program(path / "sbatch", "echo 'sbatch: error: invalid account' >&2; exit 1")
    with pytest.raises(EffioError, match="invalid account") as caught:
        batch_system("slurm").submit(tmp_path / "job.sh")
    assert caught.value.code == ExitCode.ENVIRONMENT


@pytest.mark.parametrize(
    ("name", "script", "alive"),
    [
        ("slurm", "echo RUNNING", True),
        ("slurm", "exit 0", False),
        ("slurm", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1", False),
        ("slurm", "echo 'Unable to contact slurm controller' >&2; exit 1", None),
        ("pbs", "echo 7.server", True),
        ("pbs", "exit 153", False),
        ("lsf", "echo RUN", True),
        ("lsf", "echo EXIT", False),
        ("flux", "echo R", True),
        ("flux", "echo CD", False),
    ],
)
def test_whether_a_job_is_still_there(
    name: str, script: str, alive: bool | None, path: Path
) -> None:
    system = batch_system(name)
    _program(path / system.alive_command[0], script)
    assert system.is_alive("7") is alive
    (path / system.alive_command[0]).unlink()
    assert system.is_alive("7") is None
