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

/** slowness is how many times as long a fixed piece of work takes the processor here as on the machine of the limits, where it takes
 * some 280 ms; 1 on a faster one. */
export function slowness() {
  const began = process.cpuUsage()
  for (let i = 0, text = '{"a":[1,2,{"b":"c"}]}'; i < 300_000; i++) text = JSON.stringify(JSON.parse(text))
  const { user, system } = process.cpuUsage(began)
  return Math.max(1, (user + system) / 1000 / 280)
}
