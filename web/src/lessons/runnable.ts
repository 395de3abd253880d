// Which pieces of code in a text are complete lines for the command line. The engine's table of commands decides.
import { signal } from '@preact/signals'

/** usages are the engine's commands with their arguments, by name. */
export const usages = signal(new Map<string, string>())

/** runnable reports whether code is a complete command, and not only a command's name or another word. */
export function runnable(code: string): boolean {
  const [first = '', ...rest] = code.trim().split(/\s+/)
  const usage = usages.value.get(first)
  return usage !== undefined && (rest.length > 0 || usage.replace(/\[.*?\]/g, '').trim() === first)
}

/** mainOf returns the index of the first paragraph that is only a line to run, or -1. A line within a sentence is not the step's action. */
export function mainOf(paragraphs: readonly string[]): number {
  return paragraphs.findIndex(paragraph => /^`[^`]+`$/.test(paragraph.trim()) && runnable(paragraph.trim().slice(1, -1)))
}
