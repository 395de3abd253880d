// Completion at the cursor in a lesson's YAML. The page completes conditions itself; the engine completes commands.

const conditions = ['check', 'needs', 'if']
const lines = ['setup', 'do', 'solution']
const known = [...conditions, ...lines].join('|')

/** Asked is a command or a condition, as far as it is typed before the cursor. */
export interface Asked { typed: string; condition: boolean }

/** askedAt returns what can be completed for the text before the cursor, or null. */
export function askedAt(before: string): Asked | null {
  const all = before.split('\n')
  const current = all.pop() ?? ''
  const inline = new RegExp(`^\\s*(?:- )?\\{?(?:.*,\\s*)?(${known}):\\s*(.*)$`).exec(current)
  if (inline) return kept(inline[1], (inline[2] ?? '').replace(/^\[?(?:.*,\s+)?/, ''))
  const item = /^(\s*)- (.*)$/.exec(current)
  if (!item) return null
  for (let i = all.length - 1; i >= 0; i--) {
    const key = /^\s*(?:- )?(\w+):\s*$/.exec(all[i] ?? '')?.[1]
    if (key) return kept(key, item[2] ?? '')
  }
  return null
}

function kept(key = '', typed: string): Asked | null {
  const condition = conditions.includes(key)
  return condition || lines.includes(key) ? { typed, condition } : null
}

const starts = ['status', 'reason', 'message', 'header', 'method', 'path', 'client', 'replica', 'len', 'count', 'every', 'unique', 'seen', 'revision',
  'promises', 'not', 'watch/', 'informer/']
const comparisons = ['==', '!=', '<', '<=', '>', '>=', 'contains']
const joins = ['and', 'or']
const events = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']
const kinds = ['http.req', 'http.res', 'store.commit', 'store.compact', 'cache.apply', 'watch.event', 'watch.bookmark', 'watch.close', 'reconcile', 'fault']

/** wordsAt returns the words that can complete the last word of a condition. resources are the resources of the world. */
export function wordsAt(typed: string, resources: readonly string[]): string[] {
  const words = typed.split(' ')
  const last = words.pop() ?? ''
  const before = words.at(-1) ?? ''
  return after(before, resources).filter(word => word.startsWith(last) && word !== last)
}

function after(word: string, resources: readonly string[]): string[] {
  switch (true) {
    case word === '' || joins.includes(word) || word === 'not' || word === '(':
      return [...starts, ...resources.map(name => `${name}/`)]
    case word === 'count' || word === 'every' || word === 'unique':
      return [...resources, ...events]
    case word === 'seen':
      return kinds
    case word === 'saw':
      return events
    case word === 'promises':
      return ['kept']
    case word.startsWith('watch/'):
      return ['saw', 'count', 'open', 'closed', 'error', 'rv', 'path']
    case word.startsWith('informer/'):
      return ['sees', 'count', 'synced']
    case word.includes('/'):
      return ['exists', 'absent', '.metadata.labels', '.metadata.resourceVersion', '.spec', '.status', '.data']
    case word.startsWith('.'):
      return ['exists', 'older', ...comparisons]
    case comparisons.includes(word):
      return []
    default:
      return [...comparisons, ...joins]
  }
}
