// Stories of scenarios: a title, and a caption for each operation, which the page shows beside the world.
import type { Story } from '../engine/protocol'

// scriptOf returns the lines of a scenario, without its files.
function scriptOf(scenario: string): string[] {
  return (scenario.split(/^-- .* --$/m, 1)[0] ?? '').split('\n')
}

/** captionsOf returns one caption for each operation of a scenario: the last comment above it. */
export function captionsOf(scenario: string): string[] {
  let now = ''
  let before = '' // the previous line, if it was a comment
  const out: string[] = []
  for (const line of scriptOf(scenario)) {
    const said = line.startsWith('#') ? line.slice(1).trim() : ''
    if (said) now = before ? `${now} ${said}` : said
    else if (line.trim() && !line.startsWith('#')) out.push(now)
    before = said
  }
  return out
}

/** storyOf returns the story of a scenario: its first paragraphs and its captions. */
export function storyOf(scenario: string): Story {
  const lines = scriptOf(scenario)
  const end = lines.findIndex(line => !line.startsWith('#'))
  const about = lines.slice(0, Math.max(0, end)).map(line => line.slice(1).trim()).join('\n')
  return { about: about.replace(/(\S)\n(?=\S)/g, '$1 ').trim(), captions: captionsOf(scenario) }
}
