// AddReplica makes the world again with one API server more, and the same log: a server cannot join a running world. A lesson
// has the servers that it has.
import { signal } from '@preact/signals'
import { manifest } from '../engine/files'
import type { Op, Replica } from '../engine/protocol'
import { bootBody, lessonState, ready } from '../state/session'
import { enter } from '../state/worlds'
import { text } from '../text'

const words = text.actors

/** minors are the Kubernetes minors that a server can have, newest first: that of the engine, and those whose data the page fetches. */
const minors = manifest ? [manifest.minor, ...Object.keys(manifest.schemas ?? {})].sort((a, b) => b.localeCompare(a, 'en', { numeric: true })) : []

const version = signal(manifest?.minor ?? '')

/** withReplicas is a log that leaves it to the boot how many servers there are. */
export function withReplicas(log: readonly Op[]): Op[] {
  return log.filter(({ line }) => !/^\s*replicas?\s/.test(line))
}

export function AddReplica({ now }: { now: Replica[] }) {
  if (lessonState.value) return null
  const add = () => {
    const { log = [], seed = '1' } = bootBody()
    const replicas = now.map(replica => ({ version: replica.version.replace(/^v?(\d+\.\d+).*/, '$1'), gates: replica.gates ?? {} }))
    void enter({ seed, log: withReplicas(log), replicas: [...replicas, { version: version.value, gates: {} }] })
  }
  return (
    <p class="chips">
      <select aria-label={words.version} value={version.value} onChange={event => { version.value = event.currentTarget.value }}>
        {minors.map(minor => <option key={minor}>{minor}</option>)}
      </select>
      <button aria-disabled={!ready.value} onClick={add}>{words.add}</button>
    </p>
  )
}
