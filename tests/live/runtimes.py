# SPDX-License-Identifier: MIT
"""A program with each available runtime: this machine's, and those of NuGet.

runtimes.py --missing: lists the packages of NuGet that this machine lacks. runtimes.py --restore: gets them."""

import os
import pathlib
import re
import shutil
import sys

from tests.live import collect_linux, live
from tests.oracle import nuget


# .NET 10 is that of this machine's SDK.
OWN = '10'
NEWEST = '11'
ALL = '8', '9', OWN, NEWEST
BOTH = OWN, NEWEST
# Test with a .NET program -> its runtimes in `tests/all`; with --full, each test runs on all. A test has a second
# runtime if the runtimes differ in the tested feature, or if that takes few seconds. test_tree.py compares this table
# with the tests.
TESTS = {
    'test_again.py': (OWN,),
    # Run by tests/on-arm64, with a runtime of its own.
    'test_arm64.py': (OWN,),
    'test_arm64_chains.py': (OWN,),
    'test_attach.py': BOTH,
    'test_attach_refused.py': (NEWEST,),
    'test_bpftrace.py': (NEWEST,),
    'test_chains.py': (OWN,),
    # The tested file is made by another tool, whatever the runtime.
    'test_collect_linux.py': (OWN,),
    'test_collections.py': ('9', NEWEST),
    # For musl: runtimes whose LTTng providers need different libraries.
    'test_containers.py': ('8', OWN, NEWEST),
    'test_coredump.py': (OWN,),
    'test_doctor.py': ('8', NEWEST),
    'test_eventpipe.py': ALL,
    'test_feed_live.py': (NEWEST,),
    'test_gdb.py': (OWN,),
    'test_harmless.py': BOTH,
    'test_kept_map.py': (NEWEST,),
    'test_killed_together.py': (NEWEST,),
    'test_live.py': ('8', OWN, NEWEST),
    'test_live_churn.py': (NEWEST,),
    'test_live_inlined.py': ALL,
    # .NET 11 has all shapes of the others, and runtime async methods.
    'test_live_lines.py': (NEWEST,),
    'test_names.py': ALL,
    'test_perf_live.py': (OWN,),
    'test_plain.py': ('9', NEWEST),
    'test_precompiled.py': (NEWEST,),
    'test_record.py': BOTH,
    # One runtime with GCAllocationTick, one with AllocationSampled.
    'test_record_events.py': ('8', NEWEST),
    'test_record_push.py': (NEWEST,),
    # Only the newest runtime reports chains.
    'test_record_async.py': BOTH,
    'test_record_waits.py': (NEWEST,),
    # `dotnet watch` belongs to the SDK.
    'test_reload.py': (OWN,),
    'test_same_events.py': ALL,
    'test_stack.py': (NEWEST,),
    # One runtime with the table of tracepoints, and one without.
    'test_tracepoints.py': BOTH,
}

RUNTIME = 'Microsoft.NETCore.App.Runtime.linux-x64'
WEB = 'Microsoft.AspNetCore.App.Runtime.linux-x64'
PRECOMPILER = 'Microsoft.NETCore.App.Crossgen2.linux-x64'
# The first compiler with runtime async methods.
COMPILER = 'Microsoft.Net.Compilers.Toolset', '5.9.0'
REFERENCES = 'Microsoft.NETCore.App.Ref'
WEB_REFERENCES = 'Microsoft.AspNetCore.App.Ref'
# The SDK of .NET 10 does not know its version.
NEWEST_VERSION = '11.0.0'
# For another C library, in test_containers.py.
MUSL = 'linux-musl-x64'
MUSL_VERSIONS = {'8': '8.0.34', NEWEST: NEWEST_VERSION}


def own_host():
    return pathlib.Path(os.path.realpath(shutil.which('dotnet')))


def own_sdk():
    return own_host().parent / 'sdk' / live.run('dotnet', '--version').strip()


def version_of(runtime):
    """The whole version, "8.0.31"."""
    if runtime == OWN:
        return live.run('dotnet', '--list-runtimes').split('Microsoft.NETCore.App ')[-1].split()[0]
    if runtime == NEWEST:
        return NEWEST_VERSION
    known = own_sdk() / 'Microsoft.NETCoreSdk.BundledVersions.props'
    return re.search(rf'KnownFrameworkReference Include="Microsoft.NETCore.App"\s+TargetFramework="net{runtime}.0"'
                     r'[^>]*LatestRuntimeFrameworkVersion="([\d.]+)"', known.read_text(encoding='utf-8'))[1]


def musl_version_of(runtime):
    return MUSL_VERSIONS.get(runtime) or version_of(runtime)


def musl_packages(runtime):
    """The program that starts a runtime, which is the same for each version; and the runtime."""
    return [(f'Microsoft.NETCore.App.Host.{MUSL}', version_of(OWN)),
            (f'Microsoft.NETCore.App.Runtime.{MUSL}', musl_version_of(runtime))]


def compiler(runtime):
    """csc.dll, for a program for that runtime."""
    if runtime == NEWEST:
        tools, = nuget.restore([COMPILER])
        return tools / 'tasks/netcore/bincore/csc.dll'
    return own_sdk() / 'Roslyn/bincore/csc.dll'


def references(runtime):
    """The assemblies that a program for that runtime is compiled with."""
    if runtime == OWN:
        packs = sorted((own_host().parent / 'packs' / REFERENCES).iterdir())[-1]
    else:
        packs, = nuget.restore([(REFERENCES, version_of(runtime))])
    return sorted(packs.glob('ref/*/*.dll'))


def make_host(version, to):
    fxr = to / 'host/fxr' / version
    fxr.mkdir(parents=True)
    for name, pack in zip((RUNTIME, WEB), nuget.restore([(RUNTIME, version), (WEB, version)])):
        shared = to / 'shared' / name.removesuffix('.Runtime.linux-x64') / version
        shared.mkdir(parents=True)
        for path in [*pack.glob('runtimes/linux-x64/lib/*/*'), *pack.glob('runtimes/linux-x64/native/*')]:
            shutil.copy(path, shared)
    shutil.copy(to / 'shared/Microsoft.NETCore.App' / version / 'libhostfxr.so', fxr)
    shutil.copy(own_host(), to / 'dotnet')


def host(directory, runtime):
    """The `dotnet` that runs assemblies with that runtime. RuntimeError: not available."""
    if runtime == OWN:
        return own_host()
    version = version_of(runtime)
    return live.made_once(f'dotnet-{version}', pathlib.Path(directory) / f'dotnet-{version}',
                          lambda to: make_host(version, to)) / 'dotnet'


def framework(dotnet, runtime):
    """The directory with the assemblies of that runtime, by its host."""
    return pathlib.Path(dotnet).parent / 'shared/Microsoft.NETCore.App' / version_of(runtime)


def tracepoints(plugins):
    """The library that gives .NET 11 its LTTng events back, from the build with that directory of plugins."""
    return next(pathlib.Path(plugins).resolve().glob('tracepoints/*.so'))


def command(directory, runtime, program='app', name='clrsym-live', library=None):
    """Runs the program with that runtime. RuntimeError: not available. LIBRARY: for events by LTTng, see
    tracepoints()."""
    directory = pathlib.Path(directory)
    # The SDK of .NET 10 builds for no newer runtime.
    other = None if runtime in (OWN, NEWEST) else f'net{runtime}.0'
    to = directory / runtime
    assembly = live.build(to, program, f'{name}.dll', other)
    if runtime == OWN:
        return [shutil.which('dotnet'), assembly]
    path = host(to, runtime)
    preload = [f'LD_PRELOAD={library}'] if library and runtime == NEWEST else []
    return ['/usr/bin/env', 'DOTNET_ROLL_FORWARD=LatestMajor', f'DOTNET_ROOT={path.parent}', *preload, path, assembly]


def of_test(test):
    # recorded.py has the same, but changes the environment, which the demo needs.
    return ALL if os.environ.get('CLRSYM_TEST_FULL') else TESTS[pathlib.Path(test).name]


def commands(tap, test, directory, program='app', name='clrsym-live', library=None):
    """Yields ("10", command) for each runtime of the test; skips unavailable runtimes."""
    for runtime in of_test(test):
        try:
            found = command(directory, runtime, program, name, library)
        except RuntimeError as error:
            tap.skip(f'.NET {runtime}', f'it is not to be had: {str(error).splitlines()[-1]}')
        else:
            yield runtime, found


def runs(tap, test, directory, **options):
    """commands(), each with a new directory for its run."""
    for runtime, found in commands(tap, test, directory, **options):
        place = pathlib.Path(directory) / f'run-{runtime}'
        place.mkdir()
        yield runtime, found, place


def precompile(assembly, to, framework_of, *others, runtime=OWN):
    """Precompiles the assembly for the runtime whose assemblies are in FRAMEWORK_OF."""
    tools, = nuget.restore([(PRECOMPILER, version_of(runtime))])
    paths = framework_of / '*.dll', *others
    live.run(tools / 'tools/crossgen2', '--targetos:linux', '--targetarch:x64', '-O', '-o', to, assembly,
             *(word for path in paths for word in ('-r', path)))


def is_here(runtime):
    """True if nothing has to be fetched for it."""
    return runtime == OWN or nuget.directory_of(RUNTIME, version_of(runtime)).is_dir()


def packages():
    """The packages of NuGet that tests need: (name, version)."""
    for_musl = [package for runtime in TESTS['test_containers.py'] for package in musl_packages(runtime)]
    of_each = RUNTIME, WEB, REFERENCES, WEB_REFERENCES, PRECOMPILER
    return [COMPILER, collect_linux.PACKAGE, nuget.ARM64_HOST, nuget.ARM64_RUNTIME, *dict.fromkeys(for_musl),
            *((name, version_of(runtime)) for runtime in ALL for name in of_each
              if runtime != OWN or name == PRECOMPILER)]


def main():
    missing = [package for package in packages() if not nuget.directory_of(*package).is_dir()]
    if sys.argv[1:] == ['--missing']:
        for name, version in missing:
            print(name, version)
    elif sys.argv[1:] == ['--restore']:
        nuget.restore(missing)
    else:
        sys.exit('usage: runtimes.py --missing | --restore')


if __name__ == '__main__':
    main()
