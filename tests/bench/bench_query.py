# SPDX-License-Identifier: MIT
"""What an answer costs, over the query socket: one question against a bare echo of as many bytes,
batches as JSON and as binary frames by number of bodies and of clients, and with a feeder at work.
Every row has its ratio to another row of the same run. Asserts no time."""

import json
import os
import pathlib
import subprocess

from tests.traces import recorded

BODIES = (10_000, 100_000, 1_000_000)
BATCHES = (16, 256, 4096)
CLIENTS = (1, 8, 60)
SECONDS = 2
N_PAIRS = 5
TICK = os.sysconf('SC_CLK_TCK')


def cpu_seconds(pid):
    fields = pathlib.Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


class Bench:
    """One daemon with so many bodies."""

    def __init__(self, tools, daemon, n_bodies):
        self.feed_churn, self.program = tools
        self.daemon = daemon
        feed = subprocess.run([self.feed_churn, '--socket', str(daemon.ingest), '--bodies',
                               str(n_bodies), '--alive', str(n_bodies)],
                              stdout=subprocess.PIPE, check=True)
        self.living = feed.stdout

    def run(self, form, batch, clients=1, **options):
        before = cpu_seconds(self.daemon.process.pid)
        words = [word for name, value in options.items() for word in (f'--{name}', str(value))]
        done = subprocess.run([self.program, '--socket', str(self.daemon.query), '--form', form,
                               '--batch', str(batch), '--clients', str(clients), '--warm',
                               '--seconds', str(SECONDS), *words],
                              input=self.living, stdout=subprocess.PIPE, check=True)
        figures = json.loads(done.stdout)
        spent = cpu_seconds(self.daemon.process.pid) - before
        figures['cpu_ns'] = spent * 1e9 / (figures['lookups'] * SECONDS * 1.25)
        return figures


def show(figures):
    return (f'{figures["lookups"]:>9.0f}/s, p50 {figures["p50_us"]:.1f} us, '
            f'p99 {figures["p99_us"]:.1f} us, daemon {figures["cpu_ns"]:.0f} ns CPU a lookup')


def run(tap, programs, directory, tools):
    first = {}
    for n_bodies in BODIES:
        with recorded.Daemon(programs, directory) as daemon:
            bench = Bench(tools, daemon, n_bodies)
            if n_bodies == BODIES[0]:
                single(tap, bench)
            for form in ('json', 'bulk'):
                for batch in BATCHES:
                    figures = bench.run(form, batch)
                    base = first.setdefault((form, batch), figures)
                    tap.check(True, f'{n_bodies:>7} bodies, {form} by {batch:>4}: {show(figures)}, '
                              f'CPU {figures["cpu_ns"] / base["cpu_ns"]:.2f} x that at {BODIES[0]}')
            if n_bodies == BODIES[-1]:
                many(tap, bench)
                fed(tap, bench)


def single(tap, bench):
    for form in ('json', 'bulk'):
        one = bench.run(form, 1)
        echo = bench.run('echo', 1, reply=round(one['bytes']))
        tap.check(True, f'one question, {form}: {show(one)}; p50 '
                  f'{one["p50_us"] / echo["p50_us"]:.2f} x that of an echo '
                  f'({echo["p50_us"]:.1f} us)')


def many(tap, bench):
    base = None
    for clients in CLIENTS:
        figures = bench.run('bulk', 256, clients)
        base = base or figures
        tap.check(True, f'{clients:>2} clients, bulk by 256: {show(figures)}, lookups '
                  f'{figures["lookups"] / base["lookups"]:.2f} x those of one')


def ratio(pair):
    return pair[1]['lookups'] / pair[0]['lookups']


def fed(tap, bench):
    """With and without a feeder in turn: the median of the ratios says more on a busy machine."""
    for form, batch in (('json', 256), ('bulk', 256), ('bulk', 4096)):
        pairs, is_feeding = [], True
        for _ in range(N_PAIRS):
            quiet = bench.run(form, batch)
            with subprocess.Popen([bench.feed_churn, '--socket', str(bench.daemon.ingest),
                                   '--bodies', '10000000', '--alive', '10000', '--pid', '2000'],
                                  stdout=subprocess.DEVNULL) as feeder:
                pairs.append((quiet, bench.run(form, batch)))
                is_feeding = is_feeding and feeder.poll() is None
                feeder.kill()
        median = sorted(pairs, key=ratio)[N_PAIRS // 2]
        tap.check(is_feeding, f'while fed, {form} by {batch}: {show(median[1])}, lookups '
                  f'{ratio(median):.2f} x those without, of '
                  f'{", ".join(f"{ratio(pair):.2f}" for pair in pairs)}')


if __name__ == '__main__':
    recorded.main(run)
