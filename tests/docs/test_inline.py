# SPDX-License-Identifier: BSD-3-Clause
"""Commands within a sentence are run or at least parsed; named options exist."""

from __future__ import annotations

import os
import re
from pathlib import Path

import click
import pytest

from docs.inline import FOREIGN, NOT_RUN, Mention, commands_of, options_of, stood_in
from docs.test_pages import PAGES
from driver import made
from driver.conftest import Effio
from effio.cli.main import cli
from effio.engine.program import Engine as Program
from engines import ROOT, Engine

MENTIONS = {m.text: m for page in PAGES for m in commands_of((ROOT / page).read_text())}


def test_spans_are_found() -> None:
    page = (
        "Type `effio\nreport last` or `` effio run … | head ``, `mpiexec -n 2 effio-mpi ior\n"
        '--keep`, not `effio.x`.\n```sh\n`effio no`\n```\n`effio-mpi x -g "3: ior …"`, `--dir D`\n'
    )
    assert commands_of(page) == [
        Mention("effio report last", ("effio", "report", "last")),
        Mention("effio run … | head", ("effio", "run")),
        Mention("mpiexec -n 2 effio-mpi ior --keep", ("effio-mpi", "ior", "--keep"), 2),
        Mention('effio-mpi x -g "3: ior …"', ("effio-mpi", "x", "-g", "3: ior")),
    ]
    assert options_of(page) == ["--dir"]
    assert stood_in("step=ior-1:RUN") == "step=ior-1:last"


def fault_of(words: list[str]) -> str:
    """The error of click's parser for a command of the driver; values are not checked."""
    command: click.Command = cli
    context = click.Context(cli, info_name="effio")
    while True:
        try:
            _, rest, _ = command.make_parser(context).parse_args(words)
            if not isinstance(command, click.Group) or not rest:
                return ""
            _, found, words = command.resolve_command(context, rest)
        except click.UsageError as error:
            return error.format_message()
        if found is None:
            return f"no command {rest[0]}"
        command, context = found, click.Context(found, parent=context)


def driver_words(mention: Mention) -> list[str]:
    """Commands within a sentence do not measure: benchmarks and campaigns are only planned. A
    command without arguments gets --help."""
    words = [stood_in(word) for word in mention.words[1:]]
    options = [word for word in words if word.startswith("-")]
    if len(words) == 1 or (
        words[0] in ("engine", "run", "compare") and len(words) == len(options) + 1
    ):
        return [*words, "--help"]
    return [*words, "--plan"] if words[0] == "run" else words


def engine_words(mention: Mention) -> list[str]:
    words = [stood_in(word) for word in mention.words[1:]]
    if words[0] == "classic":
        return [*words[:2], "-help" if words[1].startswith("b_eff") else "-h"]
    if words[0] in ("list", "describe") or "--help" in words:
        return words
    if len(words) == 1:
        return [*words, "--help"]
    ranks = () if mention.ranks is None else ("--plan-ranks", str(mention.ranks))
    return [*words, *(() if "--plan" in words else ("--plan",)), *ranks]


def test_a_command_within_a_sentence_is_one(any_engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "effio-runs/20260101T000000Z-b-eff-io"
    folder.mkdir(parents=True)
    made.write(folder / "result.jsonl", made.b_eff_io())
    made.write(tmp_path / "result.jsonl", made.b_eff_io())
    (tmp_path / "hints.txt").write_text("cb_nodes = 1\n")
    outside = ("EFFIO_", "SLURM", "PBS_", "LSB_", "FLUX_", "OMPI_", "PMI")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(outside)}
    home = {f"XDG_{k}_HOME": str(tmp_path / k) for k in ("CONFIG", "DATA", "CACHE")}
    named = {"EFFIO_ENGINE": str(any_engine.program), "EFFIO_MPIEXEC": any_engine.mpiexec}
    effio = Effio(tmp_path, {**environment, **home, **named, "COLUMNS": "100"})
    faults = []
    for text, mention in MENTIONS.items():
        if mention.program == "effio":
            if text in NOT_RUN:
                with pytest.MonkeyPatch.context() as patch:
                    patch.setenv("EFFIO_ENGINE", str(any_engine.program))
                    fault = fault_of([stood_in(word) for word in mention.words[1:]])
                faults += [f"{text}: {fault}"] if fault else []
                continue
            done = effio.call(*driver_words(mention))
            code, said = done.returncode, done.stderr
            # A page may name a command without its arguments.
            good = code == 0 or "Missing argument" in said
        else:
            run = any_engine.alone(engine_words(mention), tmp_path)
            code, said = run.code, run.stderr
            good = code == 0
        if "…" in text and code == 2:
            # The omitted words may be required.
            good = not any(word in said.lower() for word in ("unknown option", "no such option"))
        if not good:
            faults.append(f"{text}: {code}: {said[-300:]}")
    assert not faults, "\n".join(faults)


def test_the_list_of_what_is_not_run_is_no_longer_than_it_must_be() -> None:
    assert NOT_RUN.keys() <= MENTIONS.keys()


def _options_of(command: click.Command, context: click.Context) -> set[str]:
    found = {o for p in command.get_params(context) for o in (*p.opts, *p.secondary_opts)}
    if isinstance(command, click.Group) and command.name != "run":
        for name in command.list_commands(context):
            one = command.get_command(context, name)
            if one is not None:
                found |= _options_of(one, click.Context(one, parent=context, info_name=name))
    return found


def test_an_option_that_a_page_names_exists(
    any_engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EFFIO_ENGINE", str(any_engine.program))
    from effio.cli.campaign import campaign_parameters
    from effio.cli.run_options import run_options

    known = _options_of(cli, click.Context(cli, info_name="effio"))
    for option in (*campaign_parameters(), *run_options()):
        known |= {*option.opts, *option.secondary_opts}
    for benchmark in Program(any_engine.program, "of the test").info.benchmarks:
        known |= {f"--{option.name}" for option in benchmark.options}
    classic = any_engine.alone(["classic-names"], tmp_path).stdout.split()
    for words in (
        ["sion", "split", "--help"],
        ["sion", "cat", "--help"],
        ["together", "--help"],
        *(["classic", n, "-h"] for n in classic),
    ):
        known |= {*re.findall(r"--[A-Za-z][A-Za-z0-9-]+", any_engine.alone(words, tmp_path).stdout)}
    named = {option: page for page in PAGES for option in options_of((ROOT / page).read_text())}
    unknown = {o: page for o, page in named.items() if o not in known and o not in FOREIGN}
    assert unknown == {}
    assert FOREIGN.keys() <= named.keys()
    assert not FOREIGN.keys() & known
