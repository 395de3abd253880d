// Measures how busy the machine is. The limits of the tests are for a machine with an idle processor.

/** contention returns the factor by which other processes slow this one down: wall time over processor time of a busy loop, at least 1. */
export function contention() {
  const wall = performance.now()
  const begun = process.cpuUsage()
  let used = 0
  while (used < 200) {
    const { user, system } = process.cpuUsage(begun)
    used = (user + system) / 1000
  }
  return Math.max(1, (performance.now() - wall) / used)
}
