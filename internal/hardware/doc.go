// Package hardware describes the machine under test: the hardware.json that
// the leaderboard reads, and the evidence beside a result.
//
// Everything is read, not asked for: the GPUs through facts handed in (by the
// names of nvidia-smi's --query-gpu), the rest from /proc, /sys and /etc below
// a root that tests may set. Each value says whether it was measured, declared
// by the user, or is unknown, and where it came from. The leaderboard knows
// cards by names of its own; the driver's name is mapped by a table and never
// guessed.
//
// Nothing that names the machine or its owner is read: no host name, address,
// serial number or mount. A GPU's UUID appears as a hash only.
package hardware
