# SPDX-License-Identifier: BSD-3-Clause
"""What the numbers of kept runs are good for: accept a system, submit it, compare two."""
