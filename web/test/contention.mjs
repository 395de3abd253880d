// How busy the machine is that runs the tests. Their limits are those of one that has a processor free.

/** contention is by how much others slow this machine down now: wall time over processor time of a busy loop. */
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
