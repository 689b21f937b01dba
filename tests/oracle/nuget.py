# SPDX-License-Identifier: MIT
"""NuGet packages of a test, from the directory of packages that `dotnet` has restored before, or
from NuGet's sources."""

import os
import pathlib
import subprocess
import tempfile

PROJECT = '''<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup><TargetFramework>net{}.0</TargetFramework></PropertyGroup>
  <ItemGroup>{}</ItemGroup>
</Project>
'''
ENVIRONMENT = {**os.environ, 'DOTNET_CLI_TELEMETRY_OPTOUT': '1', 'DOTNET_NOLOGO': '1',
               'DOTNET_SKIP_FIRST_TIME_EXPERIENCE': '1', 'DOTNET_LTTng': '0', 'DOTNET_TieredPGO': '0'}
TIMEOUT = 300
# The runtime for arm64: tests/oracle/data has its maps, and it runs under qemu-user.
ARM64_RUNTIME = 'Microsoft.NETCore.App.Runtime.linux-arm64', '10.0.15'
ARM64_HOST = 'Microsoft.NETCore.App.Host.linux-arm64', '10.0.15'


class NotRestored(RuntimeError):
    """A package is not available."""


def kept():
    """Returns NuGet's directory of packages."""
    return pathlib.Path(os.environ.get('NUGET_PACKAGES') or pathlib.Path.home() / '.nuget' / 'packages')


def directory_of(name, version):
    return kept() / name.lower() / version


def versions_of(packages):
    """name -> all its versions; of several elements with one name NuGet uses only one."""
    found = {}
    for name, version in packages:
        found.setdefault(name, []).append(f'[{version}]')
    return found


def restore(packages):
    """Restores [(name, version)]. Returns the directory of each."""
    directories = [directory_of(*package) for package in packages]
    if all(directory.is_dir() for directory in directories):
        return directories
    sdk = subprocess.run(['dotnet', '--version'], capture_output=True, text=True, check=True).stdout
    with tempfile.TemporaryDirectory(prefix='clrsym-') as scratch:
        project = pathlib.Path(scratch) / 'packages.csproj'
        project.write_text(PROJECT.format(sdk.split('.')[0], ''.join(
            f'<PackageDownload Include="{name}" Version="{";".join(versions)}" />'
            for name, versions in versions_of(packages).items())))
        done = subprocess.run(['dotnet', 'restore', '--disable-build-servers', project], capture_output=True,
                              text=True, check=False, env=ENVIRONMENT, timeout=TIMEOUT)
    if done.returncode != 0:
        raise NotRestored('dotnet restore: ' + done.stdout[-2000:] + done.stderr)
    return directories
