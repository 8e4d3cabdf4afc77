#!/bin/sh
# The shipped binary contains no simulator: no symbol of rt::sim, and none of its messages.
# Usage: tests/no_simulator.sh target/release/ringlog
# Exit: 0 none found, 1 found, 2 wrong usage or a check that can't work.
set -eu

binary=${1:?usage: no_simulator.sh BINARY}
[ -r "$binary" ] || { echo "no_simulator: cannot read $binary" >&2; exit 2; }

# Mangled names carry the path as 2rt3sim, in both of rustc's schemes; the messages survive stripping.
symbol='2rt3sim'
message='RINGLOG_SIM_SEED'

# A check that finds nothing must be able to find something.
grep -aq 'rt' "$binary" || { echo "no_simulator: $binary is not a binary of ours" >&2; exit 2; }

for pattern in "$symbol" "$message"; do
    if grep -aq "$pattern" "$binary"; then
        echo "no_simulator: $binary contains the simulator ($pattern):" >&2
        grep -ao "[A-Za-z0-9_.$]*$pattern[A-Za-z0-9_.$]*" "$binary" | sort -u | head -5 >&2
        exit 1
    fi
done
echo "no_simulator: none in $binary"
