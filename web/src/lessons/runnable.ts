// Which pieces of code in a text are lines that the command line runs, and not only words of them: the engine's table of commands says so.
import { signal } from '@preact/signals'

/** usages are the commands of the engine with their arguments, by their names. */
export const usages = signal(new Map<string, string>())

/** runnable says whether code is a whole command, and not only the name of one. */
export function runnable(code: string): boolean {
  const [first = '', ...rest] = code.trim().split(/\s+/)
  const usage = usages.value.get(first)
  return usage !== undefined && (rest.length > 0 || usage.replace(/\[.*?\]/g, '').trim() === first)
}
