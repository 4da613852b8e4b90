# SPDX-License-Identifier: BSD-3-Clause
"""Results of other programs as runs of the store: `effio import`."""
