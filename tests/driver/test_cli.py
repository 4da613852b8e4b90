# SPDX-License-Identifier: BSD-3-Clause
"""Commands on kept runs, as a user types them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import click
import pytest

from driver import made
from driver.conftest import FIRST, SECOND, Effio
from effio.cli.options import as_click
from effio.engine.description import OptionInfo
from patience import SECONDS


def test_help_teaches_and_needs_no_engine(effio: Effio) -> None:
    done = effio.run("--help", env={"PATH": "/usr/bin:/bin"})
    assert done.returncode == 0
    assert "First steps:" in done.stdout
    assert "effio run b-eff-io --time 60s" in done.stdout
    for name in ("run", "runs", "show", "report", "query", "doctor", "list", "describe", "clean"):
        assert f"\n  {name} " in done.stdout
        text = effio.call(name, "--help").stdout
        assert text.startswith(f"Usage: effio {name}"), name


def test_a_wrong_command_is_a_usage_error(effio: Effio) -> None:
    done = effio.call("rnu")
    assert done.returncode == 2
    assert "rnu" in done.stderr
    done = effio.call("runs", "--last", "two")
    assert done.returncode == 2
    assert "Error: --last: 'two' is not a whole number from 1 on" in done.stderr


def test_runs(kept: Effio) -> None:
    lines = kept.call("runs").stdout.splitlines()
    assert lines[0].split() == ["id", "run", "benchmark", "state", "start", "took", "ranks",
                                "headline", "value", "interval", "verdict", "where"]  # fmt: skip
    started = made.run_line()["started"]
    assert lines[1].split()[1:] == [FIRST, "b-eff-io", "done", started, "60.0", "s", "2",
                                    "b_eff_io", "300.0", "MB/s", "not", "a", "mean", "of",
                                    "repetitions:", "no", "interval", "not", "valid,", "mixed",
                                    "ext4", "/"]  # fmt: skip
    assert lines[3].split()[1:] == ["20260303T000000Z-b-eff-io", "b-eff-io", "planned",
                                    "2026-03-03T00:00:00Z"]  # fmt: skip
    rows = [
        json.loads(line)
        for line in kept.call("runs", "--json", "--last", "2").stdout.split("\n")
        if line
    ]
    assert [(row["run"], row["state"]) for row in rows] == [
        (SECOND, "done"),
        ("20260303T000000Z-b-eff-io", "planned"),
    ]
    # The number of the text "300.0 MB/s", for programs.
    first = json.loads(kept.call("runs", "--json").stdout.splitlines()[0])
    assert (first["value"], first["number"], first["unit"]) == ("300.0 MB/s", 300e6, "B/s")
    assert (rows[1]["number"], rows[1]["unit"]) == (None, "")


def test_runs_that_a_word_names(kept: Effio) -> None:
    def listed(*words: str) -> list[str]:
        lines = kept.call("runs", "--json", *words).stdout.splitlines()
        return [json.loads(line)["run"] for line in lines]

    everything = listed()
    assert listed("last") == everything[-1:]
    assert listed(FIRST) == [FIRST]
    assert listed(json.loads(kept.call("runs", "--json").stdout.splitlines()[1])["id"]) == [SECOND]
    assert listed("eff-io") == everything
    assert listed("rings") == []
    none = kept.call("runs", "rings")
    assert none.returncode == 0
    assert f"none of the {len(everything)} runs in" in none.stderr


def test_no_runs_yet(effio: Effio) -> None:
    done = effio.call("runs")
    assert done.returncode == 0
    assert "start one: effio run b-eff-io" in done.stderr


def test_show(kept: Effio) -> None:
    done = kept.call("show", FIRST)
    assert done.returncode == 0, done.stderr
    text = done.stdout
    # What stands out first is that the number does not count, then what it is a number of.
    begin = "NOT VALID for comparison of systems: b_eff_io = 300.0 MB/s on 2 ranks, ext4 (writes "
    assert text.startswith(begin)
    assert "(writes until on storage; reads from memory)" in " ".join(text.split())
    assert "NOT VALID for comparison of systems" in text
    assert "scheduled for at least 30 min (this run: 0.2 min) (not reached)" in text
    # Rates with their unit, percentiles, hints, caches.
    row = next(line for line in text.splitlines() if line.startswith("1 KiB  "))
    assert row.split() == ["1", "KiB", "write", "20.00", "5.000", "40.00", "30.00", "25.00"]
    assert "[MB/s]" in text
    assert "p99.9" in kept.call("show", FIRST, "--all").stdout
    assert "No hints were requested" in text
    assert "Where the bytes came from or went to" in text
    assert kept.call("show", "last").stdout.startswith("NOT VALID for comp")


def test_show_a_section(kept: Effio) -> None:
    calls = kept.call("show", FIRST, "--section", "calls").stdout
    # The table has the section's title, which is printed once.
    assert calls.count("Call times") == 1
    done = kept.call("show", FIRST, "--section", "caches")
    assert done.stdout.startswith("Cache or device")
    assert "b_eff_io =" not in done.stdout
    wrong = kept.call("show", FIRST, "--section", "nothing")
    assert wrong.returncode == 2
    assert "there are: page, averages, where, calls, roof, caches, hints, system" in wrong.stderr


def test_show_a_bare_file_and_a_bad_one(kept: Effio) -> None:
    bare = made.write(kept.cwd / "bare.jsonl", made.b_eff_io())
    assert kept.call("show", bare).stdout.startswith("NOT VALID for comp")
    bare.write_text("{not json\n")
    done = kept.call("show", bare)
    assert done.returncode == 2
    assert done.stderr.strip().endswith("bare.jsonl, line 1: not JSON")
    for words in (["show"], ["table"], ["export"], ["accept", "blue-waters"]):
        assert kept.call(*words, "20260303").stderr.startswith(
            "effio: run 20260303T000000Z-b-eff-io has no result: it is planned"
        ), words


@pytest.mark.parametrize("command", ["show", "report", "export", "clean"])
@pytest.mark.parametrize("text", ["", "[]\n", "\x00\x01", '{"schema": "effio-result/9"}\n'])
def test_no_command_shows_a_traceback(command: str, text: str, effio: Effio) -> None:
    bad = effio.cwd / "bad.jsonl"
    bad.write_text(text)
    done = effio.call(command, bad)
    assert done.returncode == 2
    assert done.stderr.startswith("effio: ")
    assert "Traceback" not in done.stderr


def test_hostile_results_are_shown_as_text(effio: Effio) -> None:
    bad = made.write(effio.cwd / "x.jsonl", made.hostile(" ".join(made.HOSTILE)), foreign=True)
    for words in (("show", bad, "--all"), ("export", bad), ("report", bad)):
        done = effio.call(*words)
        assert done.returncode == 0, done.stderr
        if words[0] != "export":
            assert "\x1b" not in done.stdout


def test_runs_and_measurements_join_by_their_benchmark(kept: Effio) -> None:
    done = kept.call(
        "query", "--csv",
        "SELECT count(*) AS n FROM runs JOIN measurements USING (benchmark, run)",
    )  # fmt: skip
    assert done.stdout.splitlines() == ["n", str(77 + 2 * 77)], done.stderr


def test_a_figure_is_what_the_name_of_its_file_says(kept: Effio) -> None:
    done = kept.call("report", FIRST, "--png", "rates", "-o", kept.cwd / "r.svg")
    assert done.returncode == 2
    assert "--png writes a file whose name ends in .png" in done.stderr
    assert not (kept.cwd / "r.svg").exists()
    # A page is not written as a picture, either.
    done = kept.call("report", FIRST, "-o", "r.png")
    assert done.returncode == 2
    assert "r.png: a page is a file whose name ends in .html or .htm" in done.stderr
    assert not (kept.cwd / "r.png").exists()


def test_a_mistyped_command_is_guessed(effio: Effio) -> None:
    done = effio.call("rum", "ior")
    assert done.returncode == 2
    assert "no command 'rum'; did you mean run?" in done.stderr


def test_query(kept: Effio) -> None:
    pytest.importorskip("duckdb")
    done = kept.call(
        "query", "--json",
        "SELECT run, max(rate) AS best, count(*) AS n FROM measurements GROUP BY run ORDER BY run",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"run": FIRST, "best": 3.2e9, "n": 77},
        {"run": SECOND, "best": 3.2e9, "n": 154},
    ]
    assert done.stderr == ""
    as_csv = kept.call("query", "--csv", "SELECT value FROM figures WHERE figure = 'b_eff_io'")
    assert as_csv.stdout == "value\n300000000.0\n300000000.0\n"
    table = kept.call("query", "SELECT count(*) AS runs FROM runs").stdout.split()
    assert table == ["runs", "2"]


def test_an_answer_is_json_without_loss(kept: Effio) -> None:
    """Of two columns with the same name, only the last was left; NaN is not JSON."""
    pytest.importorskip("duckdb")
    sql = """SELECT a.run, b.run, 2 AS run_1, 'nan'::DOUBLE AS x, ['inf'::DOUBLE, 1] AS y, 1.5 AS z,
             {'a': '-inf'::DOUBLE} AS s FROM runs a, runs b WHERE a.run < b.run"""
    (line,) = kept.call("query", "--json", sql).stdout.splitlines()

    def never(name: str) -> None:
        pytest.fail(f"{name} is not JSON")

    assert json.loads(line, parse_constant=never) == {
        "run": FIRST, "run_1": SECOND, "run_1_1": 2, "x": None, "y": [None, 1.0], "z": 1.5,
        "s": {"a": None},
    }  # fmt: skip
    heading = kept.call("query", "--csv", sql).stdout.splitlines()[0]
    assert heading == "run,run_1,run_1_1,x,y,z,s"


def test_an_axis_that_is_not_a_number_is_empty(kept: Effio) -> None:
    folder = kept.cwd / "effio-runs" / FIRST
    part = {"name": "c", "step": "s", "point": "0", "repetition": 0, "axes": {"x": float("nan")}}
    record = {
        "id": FIRST, "created": "", "benchmark": "b_eff_io", "campaign": part, "arguments": [],
        "directory": "", "command": [],
    }  # fmt: skip
    (folder / "run.json").write_text(json.dumps(record))
    done = kept.call("export", FIRST, "--what", "runs", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert "NaN" not in done.stdout
    assert json.loads(done.stdout)[0]["axis_x"] is None


@pytest.mark.parametrize(
    ("sql", "message"),
    [("SELEC 1", "syntax error"), ("SELECT * FROM nothing", "nothing"), (" ", "no question")],
)
def test_wrong_sql_is_a_usage_error(sql: str, message: str, kept: Effio) -> None:
    pytest.importorskip("duckdb")
    done = kept.call("query", sql)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_damaged_run_is_left_out_of_a_query(kept: Effio) -> None:
    pytest.importorskip("duckdb")
    (kept.cwd / "effio-runs" / FIRST / "result.jsonl").write_text("{\n")
    done = kept.call("query", "--csv", "SELECT run FROM runs")
    assert done.stdout == f"run\n{SECOND}\n"
    assert "left out" in done.stderr


def test_report_of_several_runs(kept: Effio) -> None:
    done = kept.call("report", FIRST, SECOND, "-o", "both.html")
    assert done.stdout == "report: both.html\n"
    text = (kept.cwd / "both.html").read_text()
    assert FIRST in text
    assert SECOND in text
    assert text.count('id="plotly"') == 1  # carried once
    assert kept.call("report", FIRST).stdout == f"report: effio-runs/{FIRST}/report.html\n"
    nowhere = kept.call("report", FIRST, "-o", "/nowhere/x.html")
    assert nowhere.returncode == 3
    assert "cannot write /nowhere/x.html" in nowhere.stderr


def test_single_figures(kept: Effio) -> None:
    pytest.importorskip("matplotlib")
    for figure in ("scaling", "time", "call-times", "roofline"):
        done = kept.call("report", SECOND, "--png", figure)
        assert done.returncode == 0, done.stderr
        data = (kept.cwd / f"{figure}.png").read_bytes()
        assert data.startswith(b"\x89PNG")
        assert len(data) > 5000
    assert kept.call("report", SECOND, "--pdf", "scaling").returncode == 0
    assert (kept.cwd / "scaling.pdf").read_bytes().startswith(b"%PDF")


def test_an_unknown_figure_lists_what_there_is(kept: Effio) -> None:
    done = kept.call("report", FIRST, "--png", "nothing")
    assert done.returncode == 2
    assert "there are: classic, time, call-times, roofline" in done.stderr
    done = kept.call("report", SECOND, "--pdf", "nothing")
    assert "there are: classic (2 ranks, 4 ranks), scaling, time" in done.stderr


def test_a_figure_with_switches_is_drawn_as_chosen(kept: Effio) -> None:
    pytest.importorskip("matplotlib")

    def drawn(*words: str) -> bytes:
        done = kept.call("report", SECOND, "--png", "classic", *words)
        assert done.returncode == 0, done.stderr
        return (kept.cwd / done.stdout.strip()).read_bytes()

    first = drawn()
    other = drawn("--variant", "4")  # as much as distinguishes it
    assert (kept.cwd / "classic-4.png").is_file()
    linear = drawn("--linear")
    assert (kept.cwd / "classic-linear.png").is_file()
    assert len({first, other, linear}) == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--png", "classic", "--variant", "7"),
         "figure 'classic' has no variant '7'; there are: 2 ranks, 4 ranks"),
        (("--png", "roofline", "--variant", "7"), "'roofline' has no variants to choose from"),
        (("--png", "time", "--linear"), "'time' has no switch between log and linear"),
        (("--variant", "4 ranks"), "--variant and --linear are for a single figure"),
        (("--png", "time", "--pdf", "time", "-o", "x"), "--output names one file"),
    ],
)  # fmt: skip
def test_switches_that_a_figure_has_not(kept: Effio, words: tuple[str, ...], said: str) -> None:
    done = kept.call("report", SECOND, *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert not list(kept.cwd.glob("*.p*"))


def test_a_figure_of_several_runs_is_one_of_their_comparison(kept: Effio) -> None:
    done = kept.call("report", FIRST, SECOND, "--png", "classic")
    assert done.returncode == 2
    assert "no figure 'classic'; there are: " in done.stderr
    assert "systems-accesses" in done.stderr


# With an engine ----------------------------------------------------------------------------------


def test_list_and_describe(with_engine: Effio) -> None:
    text = with_engine.call("list").stdout
    assert "b-eff-io" in text
    assert "\nbackends for files as bytes" in text
    assert "b-eff-io" in with_engine.call("list", "--names").stdout.split()
    described = with_engine.call("describe", "b-eff-io").stdout
    assert "--partitions" in described
    assert "[default: a quick check of 60s that drops caches" in " ".join(described.split())
    options = json.loads(with_engine.call("describe", "b-eff-io", "--json").stdout)["options"]
    assert "max-bytes" in {o["name"] for o in options}
    assert "latency=" in with_engine.call("describe", "sim").stdout
    wrong = with_engine.call("describe", "nothing")
    assert wrong.returncode == 2
    assert "b-eff-io" in wrong.stderr


def test_the_help_of_a_benchmark_is_the_engines(with_engine: Effio) -> None:
    text = " ".join(with_engine.call("run", "b-eff-io", "--help").stdout.split())
    for words in (
        "scheduled time for all partitions together", "--ranks N total number of processes",
        "write a script that is ready to submit: slurm, pbs, lsf, flux", "--help-all",
        "effio run b-eff-io --ranks 4 --dir /scratch/me",
    ):  # fmt: skip
        assert words in text, words
    assert "--agree-deadline" not in text
    assert "EXTRA" not in text
    assert "x>=1" not in text
    assert "--agree-deadline" in with_engine.call("run", "b-eff-io", "--help-all").stdout


def test_a_faulty_site_file_names_every_fault(effio: Effio) -> None:
    site = effio.cwd / "effio-site.toml"
    site.write_text('[launch]\nlauncher = 3\n[batch]\nsystem = "cron"\n[other]\n')
    done = effio.call("runs")
    assert done.returncode == 2
    for fault in ("launch.launcher", "batch.system", "other"):
        assert fault in done.stderr
    site.write_text("not toml")
    assert effio.call("runs").returncode == 2
    site.write_text('[results]\nruns = "elsewhere"\n')
    made.write(effio.cwd / "elsewhere" / FIRST / "result.jsonl", made.b_eff_io())
    assert FIRST in effio.call("runs").stdout
    assert effio.call("runs", env={"EFFIO_SITE": "/nowhere.toml"}).returncode == 2


def test_a_reader_that_goes_away_is_not_an_error(kept: Effio) -> None:
    command = " ".join(kept.command("show", "last", "--all"))
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{command} | head -n 1"],
        cwd=kept.cwd, env=kept.environment, capture_output=True, text=True, timeout=SECONDS,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stderr == ""


def test_a_list_of_choices_takes_several() -> None:
    both = ("independent", "collective")
    info = OptionInfo(name="calls", type="choice", list=True, choices=both, metavar="|".join(both))
    option = as_click(info, frozenset())
    assert option.metavar == "independent|collective[,…]"
    command = click.Command("tile-io", params=[option])

    def values(*words: str) -> object:
        return command.make_context("tile-io", list(words)).params["engine_calls"]

    assert values("--calls", "independent,collective") == ("independent,collective",)
    assert values("--calls", "collective") == ("collective",)
    with pytest.raises(click.BadParameter, match="'sideways' is not one of"):
        values("--calls", "independent,sideways")


def test_an_output_that_takes_nothing_is_named(kept: Effio) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            kept.command("runs"), cwd=kept.cwd, env=kept.environment, stdout=full,
            stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 3
    assert done.stderr.startswith("effio: standard output, or a temporary file in ")
