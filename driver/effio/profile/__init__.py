# SPDX-License-Identifier: BSD-3-Clause
"""What an application's I/O is like, and the campaign that imitates it."""
