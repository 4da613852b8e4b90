# SPDX-License-Identifier: BSD-3-Clause
"""What a headline counts and how sure it is, in the words next to it: a number without
them gets quoted for what it is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from effio import text as fmt
from effio.judge import FEWEST
from effio.report.model import Headline
from effio.store.evidence import evidence_of, words_of
from effio.store.members import members_of
from effio.store.reader import Result
from effio.store.records import Figure, Measurement

ONE_REPETITION = "one repetition says nothing about the next"


def interval_of(figure: Figure | None, share: bool = False) -> str:
    """ "± 1.2 MB/s (95 %)", the range of fewer than five repetitions, or why it has none. Empty
    for a figure that is not a mean. `share`: fractions are shown as percentages."""
    if figure is None:
        return ""
    samples = figure.samples
    if samples is None:
        return fmt.plain(members_of(figure).interval.none, 200)

    def show(value: float) -> str:
        return fmt.share(value) if share else fmt.quantity(value, figure.metric.unit)

    low, high = samples.min, samples.max
    if 1 < samples.count < FEWEST and low is not None and high is not None:
        return f"{show(low)} to {show(high)} (range of {samples.count})"
    if samples.half95 is not None and samples.count >= FEWEST:
        return f"± {show(samples.half95)} (95 %)"
    return ONE_REPETITION if samples.count == 1 else ""


def claimed(
    headline: Headline,
    result: Result,
    cell: Sequence[Measurement],
    figure: Figure | None = None,
    after_sync: bool = False,
) -> Headline:
    """The headline as a claim about the measurements that it is computed from. `figure` is the mean
    that its interval is of. `after_sync`: its rate includes the sync, theirs does not."""
    evidence = evidence_of(cell, result.run.simulated, after_sync)
    return replace(
        headline,
        counts=words_of(evidence),
        evidence=evidence,
        interval=interval_of(figure, headline.share),
    )
