# SPDX-License-Identifier: BSD-3-Clause
"""Campaign files: sweeps, ids, and what is said of a bad one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from driver.conftest import Effio
from effio.campaign.file import shipped
from effio.campaign.order import Asked, Study, selected, study_of
from effio.campaign.points import Unit
from effio.config.toml_file import campaign_name, read
from effio.engine.program import Engine as Program
from effio.errors import EffioError, ExitCode
from effio.launch.launchers import OpenMpi, Ranks
from engines import ROOT, Engine
from results import load

HEAD = 'title = "t"\npurpose = "p"\n'
STEP = '[[step]]\nname = "a"\nbenchmark = "ior"\n'

Studying = Callable[..., Study]


@pytest.fixture
def study(tmp_path: Path, any_engine: Engine) -> Studying:
    engine = Program(any_engine.program, "of the test")

    def load(text: str, name: str = "c.toml", **asked: object) -> Study:
        path = tmp_path / name
        path.write_text(HEAD + text)
        return study_of(path, Asked(**asked), engine, lambda: Ranks(4))  # type: ignore[arg-type]

    return load


# Sweeps ------------------------------------------------------------------------------------------


def _titles(found: Study) -> list[str]:
    return [point.title for point in found.points]


def test_sweeps_cross_and_what_is_zipped_goes_together(study: Studying) -> None:
    found = study(
        STEP
        + 'zip = [["transfer", "block"]]\nexclude = ["files == \'shared\' and transfer > 1MiB"]\n'
        'include = [{ files = "shared", transfer = "8MiB", block = "8MiB" }]\n'
        '[step.sweep]\nfiles = ["shared", "per-process"]\ntransfer = ["1MiB", "2MiB"]\n'
        'block = ["4MiB", "6MiB"]\n'
    )
    assert _titles(found) == [
        "a files=shared transfer=1MiB block=4MiB",
        "a files=per-process transfer=1MiB block=4MiB",
        "a files=per-process transfer=2MiB block=6MiB",
        "a files=shared transfer=8MiB block=8MiB",
    ]


def test_a_rule_that_names_a_point_excludes_it(study: Studying) -> None:
    rule = 'exclude = [{ transfer = "1MiB", block = "4096KiB" }]\n'
    sweep = '[step.sweep]\ntransfer = ["1MiB", "2MiB"]\nblock = ["4MiB", "8MiB"]\n'
    assert len(study(STEP + rule + sweep).points) == 3


def test_repetitions_are_interleaved_and_every_second_goes_backward(study: Studying) -> None:
    found = study(
        "repetitions = 3\n" + STEP + '[step.sweep]\ntransfer = ["1MiB", "2MiB"]\n'
        '[[step]]\nname = "b"\nbenchmark = "ior"\nrepetitions = 2\n'
    )
    order = [f"{u.point.title[:14]}{u.repetition}" for u in found.units]
    assert order == [
        "a transfer=1Mi0", "a transfer=2Mi0", "b0",
        "a transfer=2Mi1", "a transfer=1Mi1", "b1",
        "a transfer=1Mi2", "a transfer=2Mi2",
    ]  # fmt: skip


def test_two_sides_are_interleaved_a_b_b_a(study: Studying) -> None:
    text = STEP + 'options = { backend = "null" }\n[step.sweep]\ntransfer = ["1MiB", "2MiB"]\n'
    found = study(text, interleave="backend=posix,mpiio")
    order = [(u.point.options["transfer"], u.point.axes["backend"]) for u in found.units]
    there = [(t, b) for t in ("1MiB", "2MiB") for b in ("posix", "mpiio")]
    assert order == [*there, *reversed(there)]
    assert {u.point.options["backend"] for u in found.units} == {"posix", "mpiio"}
    # Three repetitions become four, so that each value comes first as often as last.
    assert len(study("repetitions = 3\n" + text, interleave="backend=posix,mpiio").units) == 16
    for bad, said in (
        ("backend=posix", "is not NAME=A,B"),
        ("backend=posix,posix", "is not NAME=A,B"),
        ("transfer=1MiB,2MiB", "step 'a' sweeps transfer already"),
    ):
        with pytest.raises(EffioError, match=re.escape(said)):
            study(text, interleave=bad)


@pytest.mark.parametrize(
    ("sides", "said"),
    [
        ("bakend=posix,mpiio", "step 'a': ior has no option 'bakend'; did you mean 'backend'?"),
        ("backend=posix,mpio", "step 'a': backend: no choice 'mpio'; did you mean 'mpiio'?"),
        ("block=1MiB,x", "step 'a': block: 'x' is not a size"),
        ("ranks=1,x", "step 'a': ranks: 'x' is not a whole number from 1 on"),
        ("ranks=0,1", "step 'a': ranks: '0' is not a whole number from 1 on"),
    ],
)
def test_a_wrong_side_is_not_the_files_fault(study: Studying, sides: str, said: str) -> None:
    with pytest.raises(EffioError) as caught:
        study(STEP, interleave=sides)
    assert caught.value.message == f"--interleave: {said}"


def test_an_engine_that_is_not_here_is_reported_with_who_named_it(study: Studying) -> None:
    with pytest.raises(EffioError, match=r"no engine 'a' \(given by --interleave\)"):
        study(STEP, interleave="engine=a,b")
    with pytest.raises(EffioError, match=r"no engine 'a' \(requested by the campaign\)"):
        study(STEP + 'engine = "a"\n', interleave="backend=posix,null")


def test_a_sweep_of_ranks_has_whole_numbers(study: Studying) -> None:
    with pytest.raises(EffioError, match=r"c\.toml:\d+:1: ranks: '1\.5' is not a whole number"):
        study(STEP + "[step.sweep]\nranks = [1, 1.5]\n")
    sweep = '[step.sweep]\nranks = [1, "2", "{2 + 1}"]\n'
    assert [p.ranks.total for p in study(STEP + sweep).points] == [1, 2, 3]


def test_an_expression_that_fails_at_a_point_names_its_option(study: Studying) -> None:
    with pytest.raises(EffioError, match="--skip: at the point a: "):
        study(STEP, skip="step > 3")


def test_a_step_comes_after_those_that_it_waits_for(study: Studying) -> None:
    found = study(
        '[[step]]\nname = "read"\nbenchmark = "ior"\nneeds = ["write"]\n'
        '[[step]]\nname = "write"\nbenchmark = "ior"\n'
    )
    assert _titles(found) == ["write", "read"]


def test_a_million_points_are_counted_before_they_are_expanded(study: Studying) -> None:
    axis = json.dumps([f"{n}KiB" for n in range(1, 101)])
    sweep = f"[step.sweep]\ntransfer = {axis}\nblock = {axis}\nhold-memory = {axis}\n"
    with pytest.raises(EffioError) as error:
        study(STEP + sweep)
    assert "1,000,000 points (100 × 100 × 100), more than 10,000" in error.value.message


def test_an_id_is_of_what_is_measured_and_nothing_else(study: Studying) -> None:
    def only(text: str) -> str:
        (point,) = study(STEP + text).points
        return point.id

    plain = only("")
    # The engine's default, in another spelling; titles and tags say nothing about what is done.
    assert only('tags = ["x"]\n[step.options]\ntransfer = "1024KiB"\n') == plain
    assert only('[step.options]\ntransfer = "2MiB"\n') != plain
    assert only("ranks = 2\n") != plain
    assert only('[step.environment]\nROMIO_HINTS = "x"\n') != plain
    assert only('setup = [["true"]]\n') != plain
    # A value more leaves those that were there.
    few = {p.id for p in study(STEP + '[step.sweep]\ntransfer = ["1MiB"]\n').points}
    more = {p.id for p in study(STEP + '[step.sweep]\ntransfer = ["4MiB", "1MiB"]\n').points}
    assert few < more


def test_launch_axes_and_expressions_of_a_point(study: Studying) -> None:
    found = study(
        STEP + "exclude = ['ranks > 4']\n[step.values]\nservers = 2\n"
        '[step.options]\nsegments = "{servers * ranks}"\nblock = "{segments * transfer}"\n'
        'name = "s{servers}"\n'
        "[step.sweep]\nnodes = [1, 2]\nranks-per-node = [1, 2, 4]\n"
    )
    assert [(p.ranks.total, p.ranks.nodes, p.ranks.per_node) for p in found.points] == [
        (1, 1, 1), (2, 1, 2), (4, 1, 4), (2, 2, 1), (4, 2, 2), (8, 2, 4),
    ]  # fmt: skip
    # `ranks` is what the campaign was called with where neither file nor sweep says it: 4.
    options = found.points[0].options
    assert (options["segments"], options["block"], options["name"]) == (8, 8 << 20, "s2")


def test_only_and_skip(study: Studying) -> None:
    found = study(
        'tags = ["all"]\n' + STEP + '[step.sweep]\ntransfer = ["1MiB", "2MiB"]\n'
        '[[step]]\nname = "names"\nbenchmark = "mdtest"\ntags = ["meta"]\n'
    )

    def chosen(only: str = "", skip: str = "") -> list[str]:
        return [u.point.title for u in selected(found.everything, only, skip)]

    assert chosen("transfer >= 2MiB") == ["a transfer=2MiB"]
    assert chosen(skip="transfer >= 2MiB") == ["a transfer=1MiB", "names"]
    assert chosen("'meta' in tags") == ["names"]
    assert chosen("'all' in tags", "step == 'a'") == ["names"]
    assert chosen(f"id == '{found.points[0].id}'") == ["a transfer=1MiB"]
    with pytest.raises(EffioError, match="--only: no name 'transfre'; did you mean 'transfer'"):
        chosen("transfre > 1")


# Bad files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "place", "fault"),
    [
        ("repititions = 2\n" + STEP, "3:1", "'repititions'; did you mean 'repetitions'?"),
        (STEP + "rank = 2\n", "6:1", "unknown key 'rank'; did you mean 'ranks'?"),
        (STEP + "[step.axes]\n", "6:1", "unknown key 'axes'; did you mean 'sweep'?"),
        (STEP + "tasks-per-node = 2\n", "6:1", "did you mean 'ranks_per_node'?"),
        ('seconds = "soon"\n' + STEP, "3:1", "'soon' is not a time"),
        ("bytes = -1\n" + STEP, "3:1", "greater than 0"),
        ("repetitions = true\n" + STEP, "3:1", "repetitions"),
        ('[[step]]\nname = "a"\n', "3:1", "'benchmark' is missing"),
        ("", "", "'step' is missing"),
        (STEP + STEP, "", "two steps have the name 'a'"),
        ('[[step]]\nname = "a b"\nbenchmark = "ior"\n', "4:1", "name"),
        ('[[step]]\nname = "a"\nbenchmark = "iro"\n', "5:1", "'iro'; did you mean 'ior'?"),
        (STEP + '[step.options]\n  trasnfer = "1MiB"\n', "7:3", "did you mean 'transfer'?"),
        (STEP + "[step.options]\ncollective = 1\n", "7:1", "a flag is true or false, not 1"),
        (STEP + "[step.options]\ntransfer = true\n", "7:1", "takes a value, not true"),
        (STEP + '[step.options]\nfiles = "per-proces"\n', "7:1", "did you mean 'per-process'?"),
        (STEP + '[step.options]\nblock = "much"\n', "7:1", "'much' is not a size"),
        (STEP + "[step.options]\nsegments = 1.5\n", "7:1", "'1.5' is not a whole number"),
        (STEP + "[step.options]\nsegments = inf\n", "7:1", "a finite number"),
        (STEP + "[step.sweep]\nsegments = [1, nan]\n", "7:1", "a finite number"),
        (STEP + f'[step.options]\nthink-time = "{400 * "9"}h"\n', "7:1", "is not a time"),
        (STEP + '[step.options]\nresult = "x"\n', "7:1", "given by effio itself"),
        (STEP + '[step.options]\nblock = "{transfre * 2}"\n', "7:1", "no name 'transfre'"),
        (STEP + '[step.options]\nblock = "{bytes}"\n', "7:1", "has no budget of it"),
        (STEP + '[step.options]\nblock = "{1 +}"\n', "7:1", "is not an expression"),
        (STEP + '[step.sweep]\ntransfer = "1MiB"\n', "7:1", "valid list"),
        (STEP + "[step.sweep]\ntransfer = []\n", "7:1", "at least 1 item"),
        (STEP + "[step.sweep]\nserver = [1]\n", "7:1", "has no option 'server'"),
        (STEP + 'zip = [["transfer", "blok"]]\n[step.sweep]\ntransfer = [1]\nblock = [2]\n', "6:1",
         "'blok' is not an axis of the sweep; did you mean 'block'?"),
        (STEP + 'zip = [["transfer", "block"]]\n[step.sweep]\ntransfer = [1]\nblock = [2, 3]\n',
         "6:1", "transfer has 1, block has 2"),
        (STEP + "exclude = [{ nix = 1 }]\n", "6:1", "'nix' is not an axis"),
        (STEP + 'needs = ["b"]\n[[step]]\nname = "bb"\nbenchmark = "ior"\n', "6:1",
         "'b' is not another step; did you mean 'bb'?"),
        (STEP + 'needs = ["b"]\n[[step]]\nname = "b"\nbenchmark = "ior"\nneeds = ["a"]\n', "3:1",
         "the steps wait for each other: a -> b -> a"),
        (STEP + 'setup = [["x", "{nix}"]]\n', "6:1", "no name 'nix'"),
        (STEP + "x = [1,\n", "6:1", ""),
        (STEP + "x = 1 2\n", "6:7", ""),
    ],
)  # fmt: skip
def test_a_bad_file_is_refused_with_place_and_nearest_word(
    study: Studying, tmp_path: Path, text: str, place: str, fault: str
) -> None:
    with pytest.raises(EffioError) as error:
        study(text)
    assert error.value.code == ExitCode.USAGE
    reported = error.value.message
    assert reported.startswith(f"{tmp_path}/c.toml:{place}: " if place else f"{tmp_path}/c.toml: ")
    assert fault in reported


def test_all_faults_are_reported_at_once(study: Studying) -> None:
    with pytest.raises(EffioError) as error:
        study(STEP + '[step.options]\nblok = 1\nfiles = "x"\n[step.sweep]\nbackend = ["posx"]\n')
    assert [line.split(": ")[0].split(":", 1)[1] for line in error.value.message.splitlines()] == [
        "7:1", "8:1", "10:1",
    ]  # fmt: skip


def test_a_list_for_one_value_is_one_fault(study: Studying) -> None:
    """There was one for each type that the value may have."""
    lists = 'ranks = [3]\noptions = { phases = ["create", "stat"] }\n'
    with pytest.raises(EffioError) as caught:
        study(STEP + lists)
    assert sorted(fault.split(": ", 1)[1] for fault in str(caught.value).splitlines()) == [
        'step.0.options.phases: one value is meant; several are one text: "create,stat"',
        "step.0.ranks: one value is meant, not a list",
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('[step.options]\nblock = "{segments}"\nsegments = "{block}"\n',
         "'block' refers to itself: block -> segments -> block"),
        ("ranks = 0\n", "ranks is 0: no number of processes"),
        ("nodes = 2\n", "give ranks, or both nodes and ranks_per_node"),
    ],
)  # fmt: skip
def test_what_only_a_point_shows_names_the_point(study: Studying, text: str, fault: str) -> None:
    with pytest.raises(EffioError) as error:
        study(STEP + text)
    assert error.value.message.startswith("a: ")
    assert fault in error.value.message


def test_a_missing_engine_is_said(study: Studying) -> None:
    with pytest.raises(EffioError) as error:
        study(STEP + '[step.sweep]\nengine = ["nowhere-1.0"]\n')
    assert error.value.code == ExitCode.ENVIRONMENT
    assert "no engine 'nowhere-1.0'" in error.value.message


def test_names_with_blanks_and_quotes_are_words(study: Studying) -> None:
    found = study(
        STEP + 'setup = [["lfs", "set \'x\'", "{dir}/$HOME;`x`"]]\n',
        name="it's a study.toml",
        directory="/tmp/a b'c",
    )
    (point,) = found.points
    assert found.campaign.name == "it-s-a-study"
    assert point.words() == ("--dir=/tmp/a b'c",)
    assert point.commands(point.step.setup) == [["lfs", "set 'x'", "/tmp/a b'c/$HOME;`x`"]]


def test_true_and_false_are_on_and_off_where_the_engine_says_so(study: Studying) -> None:
    (point,) = study(
        STEP + "[step.options]\ncall-times = false\ndrop-cache = true\ncollective = true\n"
    ).points
    assert {"--call-times=off", "--drop-cache=on", "--collective"} <= {*point.words()}
    (as_words,) = study(
        STEP + '[step.options]\ncall-times = "off"\ndrop-cache = "on"\ncollective = true\n'
    ).points
    assert as_words.id == point.id


def test_variables_reach_the_ranks_of_open_mpi() -> None:
    assert OpenMpi("mpiexec").passing(["A", "B"]).options == ("-x", "A", "-x", "B")


def test_the_schema_is_that_of_the_reader(effio: Effio) -> None:
    printed = effio.call("check", "--schema").stdout
    assert (ROOT / "schemas/campaign-1.json").read_text() == printed
    schema = json.loads(printed)
    shipped = sorted((ROOT / "campaigns").glob("*.toml"))
    assert shipped
    for path in shipped:
        jsonschema.validate(read(path).table, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"title": "t", "purpose": "p", "step": [{"name": "a"}]}, schema)


# Commands ----------------------------------------------------------------------------------------

STUDY = HEAD + (
    'bytes = "100MiB"\nrepetitions = 2\n' + STEP + 'ranks = 2\n[step.options]\nbackend = "sim"\n'
    'block = "4MiB"\n[step.sweep]\nfiles = ["shared", "per-process"]\n'
)


def test_check_counts(with_engine: Effio) -> None:
    (with_engine.cwd / "s.toml").write_text(STUDY)
    done = with_engine.call("check", "s.toml")
    assert done.returncode == 0, done.stderr
    assert "s.toml: 2 points, 4 runs" in done.stdout
    assert with_engine.call("check", "quick").returncode == 0
    refused = with_engine.call("check", "qick")
    assert refused.returncode == 2
    assert "no campaign 'qick'; did you mean 'quick'?" in refused.stderr


def test_plan_is_the_engines_and_runs_nothing(with_engine: Effio) -> None:
    (with_engine.cwd / "s.toml").write_text(STUDY)
    done = with_engine.call("plan", "s.toml", "--commands")
    assert done.returncode == 0, done.stderr
    # 2 ranks write a block of 4 MiB each, in two points, twice.
    assert "2 points, 4 runs: 32 MiB written" in done.stdout
    assert "within the budget" in done.stdout
    assert "effio-mpi ior --backend=sim --block=4MiB --files=per-process" in done.stdout
    assert not (with_engine.cwd / "effio-runs").exists()
    tight = with_engine.call("plan", "s.toml", "--max-bytes", "31MiB", "--json")
    assert [p["bytes_written"] for p in json.loads(tight.stdout)] == [8 << 20, 8 << 20]
    # A shared file, then one for each of the two ranks; the engine writes 1.0 and 2.0.
    assert [p["files"] for p in json.loads(tight.stdout)] == [1, 2]
    tight = with_engine.call("plan", "s.toml", "--max-bytes", "31MiB")
    assert "over the budget: 32 MiB written, the budget is 31 MiB" in tight.stdout
    # Twice the rate, half the time: written and read, 8 MiB each.
    slow, quick = (
        json.loads(with_engine.call("plan", "s.toml", "--json", "--rate", rate).stdout)[0]
        for rate in ("1MiB/s", "2MiB/s")
    )
    assert (slow["expected_seconds"], quick["expected_seconds"]) == (16, 8)


def test_a_point_that_the_engine_refuses_is_named(with_engine: Effio) -> None:
    text = HEAD + STEP + '[step.options]\nblock = "3MiB"\n[step.sweep]\ntransfer = ["2MiB"]\n'
    (with_engine.cwd / "s.toml").write_text(text)
    done = with_engine.call("plan", "s.toml")
    assert done.returncode == 2
    assert "a transfer=2MiB: " in done.stderr


def test_a_unit_is_named_by_point_and_repetition(study: Studying) -> None:
    (point,) = study(STEP).points
    assert Unit(point, 3).label == f"a-{point.id}-r3"


# Shipped campaigns -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", shipped())
def test_a_shipped_campaign_has_a_page_and_fits_a_small_machine(
    with_engine: Effio, name: str
) -> None:
    page = ROOT / "docs" / ("quick.md" if name == "quick" else f"campaigns/{name}.md")
    assert name in page.read_text()
    large, small = (
        json.loads(done.stdout)
        for scale in ("1", "0.0001")
        if (done := with_engine.call("plan", name, "--ranks", 2, "--json", "--scale", scale)).stdout
    )

    def seconds(planned: list[dict[str, float]]) -> float:
        return sum((p["expected_seconds"] or 0) * p["runs"] for p in planned)

    assert len(large) == len(small)
    assert seconds(small) < 60
    if name != "quick":  # its size is that of its budget
        assert seconds(small) < seconds(large) / 5


def test_blue_waters_reads_as_far_as_the_smallest_file_goes(with_engine: Effio, data: Path) -> None:
    words = ("--ranks", 1, "--scale", 0.00001, "--dir", data, "--quiet", "--no-report")
    done = with_engine.call("run", "blue-waters", *words, "--only", "step != 'flash-io'")
    assert done.returncode == 0, done.stdout + done.stderr
    runs = sorted((with_engine.cwd / "effio-runs").glob("2*-blue-waters-ior-2-*"))
    assert len(runs) == 6
    cells: dict[tuple[str, int], dict[str, Any]] = {}
    for run in runs:
        part = json.loads((run / "run.json").read_text())["campaign"]
        (cells[part["step"], part["repetition"]],) = load(run / "result.jsonl").measurements
    # 4096 GiB scaled by 1e-5 is 42.9 MB, 10 pieces of 4 MiB, or fewer where time ended it.
    for repetition in range(3):
        written, cell = (cells[f"ior-2-{what}", repetition] for what in ("write", "read"))
        assert 4 << 20 <= cell["where"]["block_bytes"] == written["detail"]["rank_bytes"]["min"]
        assert cell["where"]["block_bytes"] <= 40 << 20
    # The files are there until all is done; what is left out is not done.
    assert len(list(data.iterdir())) == 1


def test_points_by_their_ids(study: Studying) -> None:
    text = STEP + '[step.sweep]\ntransfer = ["1MiB", "2MiB"]\n'
    everything = study(text)
    assert len(everything.units) == 2
    chosen = everything.points[1]
    one = study(text, points=(chosen.id[:4],))
    assert [unit.point.id for unit in one.units] == [chosen.id]
    assert len(one.everything) == 2
    assert len(study(text, points=tuple(p.id for p in everything.points)).units) == 2
    for wrong, what in (("zzzz", "no point has this id"), ("", "no point has this id")):
        with pytest.raises(EffioError, match=f"--point {wrong}: {what}"):
            study(text, points=(wrong,))


@pytest.mark.parametrize("name", ["", ".", "..", "-x", ".x", "a/b", "a\nb", "é", 101 * "x"])
def test_a_name_that_no_folder_can_have_is_refused(with_engine: Effio, name: str) -> None:
    """Some led out of the folder of campaigns, hid the runs, or were too long for their names."""
    (with_engine.cwd / "s.toml").write_text(STUDY)
    done = with_engine.call("run", "s.toml", "--quiet", f"--name={name}")
    assert (done.returncode, done.stderr) == (
        2,
        "effio: --name: at most 100 letters, digits, '-', '_' and '.', and a letter or digit"
        " first\n",
    )
    assert [path.name for path in with_engine.cwd.iterdir()] == ["s.toml"]


@pytest.mark.parametrize("words", [("last.toml",), ("s.toml", "--name", "last")])
def test_none_is_called_last(with_engine: Effio, words: tuple[str, ...]) -> None:
    """`effio report last` is the newest run, so its results could not be named."""
    for name in ("s.toml", "last.toml"):
        (with_engine.cwd / name).write_text(STUDY)
    done = with_engine.call("run", *words, "--quiet")
    assert done.returncode == 2
    assert "'last' means the newest one everywhere" in done.stderr
    assert not (with_engine.cwd / "effio-runs").exists()


def test_a_name_of_a_file_may_have_any_length() -> None:
    """The longest run has it, a time, a step and a benchmark in its name."""
    assert campaign_name(Path(250 * "x" + ".toml")) == 100 * "x"
    assert campaign_name(Path(99 * "x" + "  y.toml")) == 99 * "x"
    assert campaign_name(Path("...toml")) == "campaign"
    assert campaign_name(Path("\u2028.toml")) == "campaign"


def test_a_message_is_not_broken_within_the_name_of_a_file(with_engine: Effio) -> None:
    done = with_engine.call("check", "a\u2028b.toml")
    assert done.returncode == 2
    assert "effio: a b.toml: " in done.stderr
    assert done.stderr.splitlines() == done.stderr.removesuffix("\n").split("\n")
