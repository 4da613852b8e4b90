# SPDX-License-Identifier: BSD-3-Clause
"""A folder of runs in the browser: read only, on the loopback interface only.

The standard library's server and jinja2 do it: pages for one person at one machine need no
framework, and a login node without a network nothing more to install. A requested name is never
made into a path: a run is found among the names that are in the folder.
"""
