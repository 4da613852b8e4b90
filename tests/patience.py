# SPDX-License-Identifier: BSD-3-Clause
"""How long tests wait for a process or a page: as long as a busy machine needs.

Twelve test processes share two cores, next to a compiler or to other programs. A process that needs
eight seconds of a processor was once not done after 120 s there, and Playwright's own 30 s were too
short for the first page of a browser. These limits only end what hangs, so they are long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

SECONDS = 300
MILLISECONDS = 1000 * SECONDS


def patient(page: Page) -> Page:
    """The page, which waits that long for everything, loading included."""
    page.set_default_timeout(MILLISECONDS)
    page.set_default_navigation_timeout(MILLISECONDS)
    return page
