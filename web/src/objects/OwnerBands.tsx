// OwnerBands shows a manifest with the owners of each line: a colour band and a letter for each field manager.
import type { Owners } from '../engine/protocol'
import { text } from '../text'

const words = text.objects
const hues = 6 // band colours in the style sheet; a seventh manager shares a colour with the first, but has its own letter

export function OwnerBands({ owners }: { owners: Owners }) {
  const index = new Map(owners.managers.map((manager, i) => [manager.letter, i % hues]))
  // The band of a line with several managers has the colour of the one with the highest number.
  const band = (letters: string[]) => letters.length > 0 ? `hue${Math.max(...letters.map(letter => index.get(letter) ?? 0))}` : undefined
  return (
    <div class="owners">
      <div class="scroll">
        <table>
          <thead>
            <tr><th scope="col">{words.manager}</th><th scope="col">{words.operation}</th><th scope="col" class="num">{words.fields}</th><th scope="col">{words.time}</th></tr>
          </thead>
          <tbody>
            {owners.managers.map(manager => (
              <tr key={manager.letter}>
                <td><Letter of={manager.letter} hue={index.get(manager.letter) ?? 0} /> {manager.name}{manager.subresource && ` (${manager.subresource})`}</td>
                <td>{manager.operation}</td>
                <td class="num">{manager.fields}</td>
                <td>{manager.time.slice(11, 19)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <ol class="bands mono" tabIndex={0} aria-label={words.owners}>
        {owners.lines.map((line, i) => (
          <li key={i} class={band(line.managers ?? [])}>
            <span class="letters">
              {(line.managers ?? []).map(letter => <Letter key={letter} of={letter} hue={index.get(letter) ?? 0} />)}
            </span>
            <span class="yaml">{line.text}</span>
          </li>
        ))}
      </ol>
      <p class="hint">{words.force}</p>
    </div>
  )
}

function Letter({ of, hue }: { of: string; hue: number }) {
  return <b class={`letter hue${hue}`}>{of}</b>
}
