// Which lines print their whole answer, as in a terminal.
import type { Entry } from '../state/session'

/** prompted matches lines of a shell. Their output is shown unchanged, in a monospaced font, to keep its columns aligned. */
export const prompted = /^[!? ]*(?:kubectl|k|curl|cat|echo)\b/

const exchange = /^\s*\S+ [A-Z]+ \S+ → /

/** detailed reports whether the newest answer has details that the transcript does not show, which are a request and its answer. Without an
 * answer it returns undefined. */
export function detailed(entries: readonly Pick<Entry, 'line' | 'result'>[]): boolean | undefined {
  const newest = entries.findLast(({ line, result }) => prompted.test(line) || result?.lines.some(said => exchange.test(said)))
  return newest && !prompted.test(newest.line)
}
