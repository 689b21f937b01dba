# SPDX-License-Identifier: MIT
"""Repeats a step in the background while a test waits."""

import threading


class Repeated:
    """Calls step() every PAUSE seconds, in a thread, until the `with` ends."""

    PAUSE = 0.01

    def __init__(self):
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def step(self):
        raise NotImplementedError

    def run(self):
        while not self.is_over.wait(self.PAUSE):
            self.step()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()
