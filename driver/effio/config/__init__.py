# SPDX-License-Identifier: BSD-3-Clause
"""Settings that a site or a user makes once."""
