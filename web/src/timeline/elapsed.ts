/** elapsed formats a duration of virtual time, given in ms, in few characters: 250ms, 1.5s, 3m20s, 2h. */
export function elapsed(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`
  if (ms < 60_000) return `${Math.round(ms / 100) / 10}s`
  const minutes = Math.floor(ms / 60_000)
  const seconds = Math.round((ms % 60_000) / 1000)
  if (minutes < 60) return seconds ? `${minutes}m${seconds}s` : `${minutes}m`
  const rest = minutes % 60
  return rest ? `${Math.floor(minutes / 60)}h${rest}m` : `${Math.floor(minutes / 60)}h`
}
