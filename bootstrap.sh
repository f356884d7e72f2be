#!/bin/sh
# From a fresh checkout to a running program: installs what is missing with the system's package manager, builds the
# release preset, and runs the demo or the tests. Where the packages that the Vulkan device is built with cannot be
# had, it builds without that device and says so. Not a build system: that is CMakeLists.txt.
set -eu
cd "$(dirname "$0")"

say() { echo "bootstrap: $*" >&2; }
fail() {
  say "error: $*"
  exit 1
}

usage="usage: sh bootstrap.sh demo|test|build"
[ $# -eq 1 ] || { echo "$usage" >&2; exit 2; }
task=$1
case $task in
  demo | build) tests=OFF ;;
  test) tests=ON ;;
  -h | --help) echo "$usage"; exit 0 ;;
  *) echo "$usage" >&2; exit 2 ;;
esac

build=build/release
log=build/bootstrap.log
mkdir -p build
: >"$log"

# run WHAT COMMAND...: output goes to the log; a failure shows its end.
run() {
  what=$1
  shift
  if ! "$@" >>"$log" 2>&1; then
    tail -n 20 "$log" >&2
    fail "$what failed; everything it said is in $log"
  fi
}

# missing QUERY PACKAGE...: those for which the query command fails.
missing() {
  query=$1
  shift
  for package in "$@"; do
    $query "$package" >/dev/null 2>&1 || printf '%s ' "$package"
  done
}

deb_installed() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'; }

# Installs what the build needs and the system lacks.
install_packages() {
  catch_deb=
  catch_rpm=
  catch_arch=
  if [ $tests = ON ]; then
    catch_deb=catch2
    catch_rpm=catch-devel
    catch_arch=catch2
  fi
  refresh=
  if command -v apt-get >/dev/null 2>&1; then
    vulkan="libvulkan-dev libvulkan-volk-dev glslang-tools spirv-tools"
    [ $tests = OFF ] || vulkan="$vulkan mesa-vulkan-drivers vulkan-validationlayers"
    # shellcheck disable=SC2086
    packages=$(missing deb_installed g++ cmake ninja-build libhwy-dev nlohmann-json3-dev libcli11-dev $catch_deb)
    # shellcheck disable=SC2086
    vulkan=$(missing deb_installed $vulkan)
    refresh="apt-get update"
    install="env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends"
  elif command -v dnf >/dev/null 2>&1; then
    vulkan="vulkan-headers vulkan-volk-devel glslang spirv-tools"
    [ $tests = OFF ] || vulkan="$vulkan mesa-vulkan-drivers vulkan-validation-layers"
    # shellcheck disable=SC2086
    packages=$(missing "rpm -q" gcc-c++ libstdc++-static cmake ninja-build highway-devel json-devel cli11-devel $catch_rpm)
    # shellcheck disable=SC2086
    vulkan=$(missing "rpm -q" $vulkan)
    install="dnf install -y"
  elif command -v pacman >/dev/null 2>&1; then
    vulkan="vulkan-headers volk glslang spirv-tools"
    [ $tests = OFF ] || vulkan="$vulkan vulkan-swrast vulkan-validation-layers"
    # shellcheck disable=SC2086
    packages=$(missing "pacman -Q" gcc cmake ninja highway nlohmann-json cli11 $catch_arch)
    # shellcheck disable=SC2086
    vulkan=$(missing "pacman -Q" $vulkan)
    install="pacman -S --noconfirm --needed"
  else
    fail "no apt-get, dnf or pacman here. Install a C++20 compiler, CMake 3.25 or newer, Ninja, Highway," \
      "nlohmann-json, CLI11 (and Catch2 for the tests; for the Vulkan device also the Vulkan headers, volk, glslang and" \
      "spirv-tools), then run this again"
  fi
  [ -n "$packages$vulkan" ] || return 0
  as_root=
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
      [ -z "$packages" ] || fail "these packages are missing, and installing them needs root: $packages$vulkan"
      without_vulkan
      return 0
    fi
    as_root=sudo
    say "installing with ${install%% -*} needs root, so sudo may ask for a password"
  fi
  say "installing: $packages$vulkan"
  # shellcheck disable=SC2086
  [ -z "$refresh" ] || run "the update of the package lists" $as_root $refresh
  # shellcheck disable=SC2086
  [ -z "$packages" ] || run "the installation" $as_root $install $packages
  # shellcheck disable=SC2086
  if [ -n "$vulkan" ] && ! $as_root $install $vulkan >>"$log" 2>&1; then
    without_vulkan
  fi
}

with_vulkan=ON
without_vulkan() {
  say "some of these packages cannot be had here, so the build has no Vulkan device: $vulkan"
  with_vulkan=OFF
}
configure() { cmake --preset release -DLLMTOOL_TESTS=$tests -DLLMTOOL_VULKAN=$with_vulkan; }

# Configuring is the test of what is there: packages are looked at only if it fails.
have_tools() { command -v cmake >/dev/null 2>&1 && command -v ninja >/dev/null 2>&1; }
if ! have_tools || ! configure >>"$log" 2>&1; then
  install_packages
  have_tools || fail "cmake or ninja is still not found"
  version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p')
  if [ "${version%%.*}" -lt 3 ] || { [ "${version%%.*}" -eq 3 ] && [ "${version#*.}" -lt 25 ]; }; then
    fail "CMake $version is too old: 3.25 or newer is needed"
  fi
  rm -f "$build/CMakeCache.txt"
  run "the configuration" configure
fi

target=llmtool
[ $tests = OFF ] || target=all
say "building $build/llmtool (some minutes the first time)"
if [ -t 2 ]; then  # ninja keeps to one line on a terminal
  cmake --build --preset release --target $target >&2 || fail "the build failed"
else
  run "the build" cmake --build --preset release --target $target
fi

case $task in
  demo) exec "$build/llmtool" demo ;;
  test) ctest --preset release || fail "tests failed" ;;
  build) say "built: $build/llmtool" ;;
esac
