#!/bin/bash
# Runs the tests under a sanitizer: Tools/sanitize.sh address|thread [FILTER].
#
# Every process writes its sanitizer's reports to a separate file. So a report fails the run even if
# it comes from a process that a test starts and that ends as the test expects.
set -euo pipefail
cd "$(dirname "$0")/.."
kind=$1
filter=${2:-}
reports=$PWD/build/sanitize-$kind

options=log_path=$reports/report
# Tests expect the signal by which a damaged file ends a process.
options+=:handle_segv=0:handle_sigbus=0:handle_sigfpe=0
# A test asks for more memory than there is.
options+=:allocator_may_return_null=1
case $kind in
  address)
    export ASAN_OPTIONS=$options:detect_leaks=${LEAKS:-0}
    export LSAN_OPTIONS=suppressions=$PWD/Tools/leaks.supp:print_suppressions=0
    ;;
  # A forked child opens its stores on a separate thread.
  thread) export TSAN_OPTIONS=$options:die_after_fork=0 ;;
  *) echo "sanitize: 'address' or 'thread', not '$kind'" >&2; exit 2 ;;
esac

# Tests read the message of a trap; the backtrace after it starts a process, which the thread
# sanitizer reports as an error.
export SWIFT_BACKTRACE=enable=no

build=(--sanitize="$kind" --scratch-path ".build/$kind")
# Some code describes to the thread sanitizer what it cannot see: see OrphanedWriteCheck.swift.
if [ "$kind" = thread ]; then build+=(-Xswiftc -DTHREAD_SANITIZER); fi
swift build --build-tests "${build[@]}"
rm -rf "$reports"
mkdir -p "$reports"
status=0
swift test --skip-build --disable-xctest "${build[@]}" ${filter:+--filter "$filter"} || status=$?
for report in "$reports"/report*; do
  [ -e "$report" ] || continue
  cat "$report" >&2
  status=1
done
exit "$status"
