# SPDX-License-Identifier: BSD-3-Clause
"""Pages in a browser, as the tests ask them."""

from __future__ import annotations

import time

from playwright.sync_api import Page

from patience import SECONDS


def wait_for(page: Page, condition: str, seconds: float = SECONDS) -> None:
    """Until the expression is true. Playwright's own `wait_for_function` asks again from within the
    page, where the page's policy forbids it: it fails if the condition does not hold at once."""
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"not within {seconds} s: {condition}"
        page.wait_for_timeout(20)
