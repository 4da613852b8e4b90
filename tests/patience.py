# SPDX-License-Identifier: BSD-3-Clause
"""Browser pages that wait as long as a busy machine needs."""

from __future__ import annotations

from playwright.sync_api import Page

# Twelve test processes share two cores. Playwright's own 30 s were once too short there for the
# first page of a browser.
MILLISECONDS = 120_000


def patient(page: Page) -> Page:
    """The page, which waits 120 s for everything, loading included."""
    page.set_default_timeout(MILLISECONDS)
    page.set_default_navigation_timeout(MILLISECONDS)
    return page
