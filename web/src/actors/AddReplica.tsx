// AddReplica adds an API server. It rebuilds the world with the same controllers, nodes and log, because a server cannot join a running
// world. In a lesson it renders nothing: the lesson defines its servers.
import { signal } from '@preact/signals'
import { manifest } from '../engine/files'
import type { Boot, Replica } from '../engine/protocol'
import { notice } from '../state/page'
import { rebuild } from '../state/rebuild'
import { lessonState, query, ready } from '../state/session'
import { enter } from '../state/worlds'
import { text } from '../text'

const words = text.actors

/** minors lists the Kubernetes minors that a server can have, newest first: that of the engine, and those with data that the page can
 * fetch. */
const minors = manifest ? [manifest.minor, ...Object.keys(manifest.schemas ?? {})].sort((a, b) => b.localeCompare(a, 'en', { numeric: true })) : []

const version = signal(manifest?.minor ?? '')

/** addServers rebuilds the world with more servers beside the engine's current ones, shows a notice, and reports whether that succeeded. */
export async function addServers(more: NonNullable<Boot['replicas']>): Promise<boolean> {
  const { replicas } = await query<{ replicas: Replica[] }>('replicas')
  const there = replicas.map(replica => ({ version: replica.version.replace(/^v?(\d+\.\d+).*/, '$1'), gates: replica.gates ?? {} }))
  const made = await rebuild([...there, ...more], enter)
  if (made) notice.value = words.rebuilt
  return made
}

export function AddReplica() {
  if (lessonState.value) return null
  const add = () => void addServers([{ version: version.value, gates: {} }]).catch(() => {}) // without an engine there are no servers
  return (
    <p class="chips">
      <select aria-label={words.version} value={version.value} onChange={event => { version.value = event.currentTarget.value }}>
        {minors.map(minor => <option key={minor}>{minor}</option>)}
      </select>
      <button aria-disabled={!ready.value} onClick={add}>{words.add}</button>
    </p>
  )
}
