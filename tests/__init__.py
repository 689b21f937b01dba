# SPDX-License-Identifier: MIT
"""The tests' modules: tests/python runs their programs."""
