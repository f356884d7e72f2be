#!/bin/sh
# A Vulkan device, checked and measured in under six minutes, as one table of plain text that fits docs: the GPU test
# suite, matrix products and elementwise kernels beside the device's limits, training of the demo's model and of one of
# GPT-2's size, the same run twice, and where the time of a step goes. On a software driver everything is shortened.
#
#   sh tests/gpu/check.sh [--build DIR] [--device vulkan[:N]] [--quick]
#
# --build: a built tree (default: build/release, which is built if need be); the targets are llmtool, test_gpu and, for
# large matrix products on the best device, bench_vulkan_matmul. --quick: the short form on any device.
# The table goes to stdout, progress to stderr. Exit 1 if a test fails, a product differs from the CPU's or two equal
# runs differ. Not here: measuring the CPU (llmtool bench).
set -u
cd "$(dirname "$0")/../.." || exit 1

build=
device=vulkan
quick=
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$(cd "$2" && pwd) || exit 2; shift ;;
    --device) device=$2; shift ;;
    --quick) quick=yes ;;
    *) sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
  shift
done

say() { echo "check: $*" >&2; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
failed=

if [ -z "$build" ]; then
  build=build/release
  say "building $build"
  if ! { cmake --preset release -DLLMTOOL_TESTS=ON && cmake --build --preset release --target llmtool test_gpu bench_vulkan_matmul; } \
    >"$work/build.log" 2>&1; then
    tail -n 20 "$work/build.log" >&2
    exit 1
  fi
  build=$PWD/$build
fi
llmtool=$build/llmtool
began=$(date +%s)  # the build is not part of the six minutes

# row WHAT VALUE: one line of the table.
row() { printf '%-44s | %s\n' "$1" "$2"; }
# value KEY FILE: the last number or word under that key of JSON lines.
value() { grep -o "\"$1\":[^,}]*" "$2" | tail -n 1 | cut -d: -f2 | tr -d '"'; }
# limited SECONDS COMMAND...: its output in $work/out and $work/err. The whole check ends within its six minutes.
limited() {
  left=$((350 - $(date +%s) + began))
  [ $left -gt 0 ] || left=1
  seconds=$1
  [ "$seconds" -lt $left ] || seconds=$left
  shift
  timeout "$seconds" "$@" >"$work/out" 2>"$work/err"
}
fail() {
  [ $(($(date +%s) - began)) -lt 350 ] || {
    row "$1" "not done: out of time"
    failed=yes
    return
  }
  row "$1" "FAILED"
  tail -n 5 "$work/err" >&2
  failed=yes
}

"$llmtool" devices >"$work/devices" || exit 1
case $device in
  vulkan:*) line=$(grep "^$device " "$work/devices") ;;
  *) line=$(grep '^vulkan:' "$work/devices" | grep auto) || line=$(grep '^vulkan:' "$work/devices" | head -n 1) ;;
esac
[ -n "$line" ] || { say "no such device: $device"; cat "$work/devices" >&2; exit 1; }
case $line in
  *", software,"*) quick=yes ;;
esac
row "device" "$(echo "$line" | sed 's/ *<- auto//')"
row "version" "$("$llmtool" --version)${quick:+ (short form)}"

say "operation suite"
suite_limit=150
if [ -n "$quick" ]; then  # about every 25th case of the kernel matrix
  LLMTOOL_TEST_EVERY=25
  export LLMTOOL_TEST_EVERY
  suite="[matrix]"
  suite_limit=120
else
  suite=
fi
start=$(date +%s)
[ -x "$build/tests/test_gpu" ] || { say "$build has no tests/test_gpu"; exit 1; }
# shellcheck disable=SC2086
if LLMTOOL_TEST_NEED_VULKAN=1 limited $suite_limit "$build/tests/test_gpu" $suite; then
  row "operation suite" "$(tail -n 2 "$work/out" | grep . | tail -n 1), $(($(date +%s) - start)) s"
elif [ $? -eq 124 ]; then
  row "operation suite" "not done after $seconds s"
  failed=yes
else
  fail "operation suite"
  tail -n 40 "$work/out" >&2
fi

say "matrix products and elementwise kernels"
for part in gemm train generate; do
  if limited 60 "$llmtool" bench $part --device "$device" --quiet; then
    sed -e 's/^gemm *| //' -e 's/^\([a-z]*\) *| \([0-9]\)/\1: \2/' -e 's/ | /|/' "$work/out" | while IFS='|' read -r what rest; do
      row "$(echo "$what" | sed 's/ *$//')" "$(echo "$rest" | sed 's/^ *//')"
    done
  else
    fail "bench $part"
  fi
done

sweep=$build/tests/bench_vulkan_matmul
if [ -z "$quick" ] && [ -x "$sweep" ] && [ "$device" = vulkan ]; then
  say "large matrix products"
  if limited 40 "$sweep" 200; then
    sed 1d "$work/out"
  else
    fail "large matrix products"
  fi
fi

say "the demo's model"
steps=600
[ -z "$quick" ] || steps=4
if limited 60 "$llmtool" train --device "$device" --out "$work/a" --json --quiet --set train.steps=$steps; then
  grep '"event":"log"' "$work/out" | tail -n 1 >"$work/log"
  row "demo model, $steps steps: last loss" "$(value train_loss "$work/log")"
  row "demo model: training" "$(value tokens_per_second "$work/log" | cut -d. -f1) tokens/s"
  if limited 60 "$llmtool" train --device "$device" --out "$work/b" --quiet --set train.steps=$steps &&
    (cd "$work/a/checkpoints" && find . -name '*.safetensors') | while read -r file; do
      cmp "$work/a/checkpoints/$file" "$work/b/checkpoints/$file" >>"$work/err" 2>&1 || exit 1
    done; then
    row "the same run twice" "the same bytes of weights and moments"
  else
    fail "the same run twice"
  fi
else
  fail "demo model"
fi

# profile_rows: the table of --profile from $work/out.
profile_rows() { sed -n '/^profile |/,$p' "$work/out"; }

if [ -z "$quick" ]; then
  say "a model of GPT-2's size on random text"
  head -c 3000000 /dev/urandom | base64 -w 200 >"$work/random.txt"
  gpt2="--data $work/random.txt --set model.preset=gpt2 --set tokenizer.type=file --set tokenizer.path=$work/gpt2.json
    --set train.batch_size=8 --set train.eval_every=4"
  # shellcheck disable=SC2086
  if ! limited 60 "$llmtool" tokenize train --input "$work/random.txt" --vocab-size 50257 --out "$work/gpt2.json"; then
    fail "vocabulary of random text"
  elif limited 120 "$llmtool" train --device "$device" --out "$work/g" --json --quiet $gpt2 --set train.steps=12; then
    row "GPT-2 size: parameters" "$(value parameters "$work/out")"
    grep '"event":"log"' "$work/out" | tail -n 1 >"$work/log"
    row "GPT-2 size, 8192 tokens a step: training" "$(value tokens_per_second "$work/log" | cut -d. -f1) tokens/s"
    # shellcheck disable=SC2086
    if limited 120 "$llmtool" train --device "$device" --out "$work/g" --overwrite --quiet $gpt2 --profile \
      --set train.steps=3; then
      profile_rows
    else
      fail "GPT-2 size: profile"
    fi
  else
    fail "GPT-2 size"
  fi
else
  say "profile of the demo's model"
  if limited 60 "$llmtool" train --device "$device" --out "$work/a" --overwrite --quiet --profile \
    --set train.steps=2; then
    profile_rows
  else
    fail "profile"
  fi
fi

row "time of this check" "$(($(date +%s) - began)) s"
[ -z "$failed" ] || exit 1
