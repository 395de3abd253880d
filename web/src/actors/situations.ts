// Situations are prepared worlds, each behind one key. A situation consists of a few ordinary lines, which undo removes one by one.
import { head, query, run } from '../state/session'
import { manifest } from '../engine/files'
import type { Replica } from '../engine/protocol'
import { addServers } from './AddReplica'

export interface Situation {
  key: string // the key on the keyboard, also the key of its texts
  replicas?: number
  lines: string[]
  files?: Record<string, string>
}

const settings = (color: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: shared\ndata:\n  color: ${color}\n`

export const situations: Situation[] = [
  {
    key: 'c',
    lines: [
      'create configmap shared --from-literal=color=red --as alice',
      'get configmap shared --as bob',
      `patch configmap shared --type merge -p '{"data":{"color":"green"}}' --as alice`,
      'replace -f shared.yaml --rv last --as bob',
    ],
    files: { 'shared.yaml': settings('blue') },
  },
  {
    key: 'g',
    lines: [
      'list configmaps --as carol',
      'watch configmaps --rv last --name before --as carol',
      'create configmap one',
      'stop before',
      'create configmap two',
      'expire',
      'watch configmaps --rv last --name after --as carol',
    ],
  },
  {
    key: 'p',
    lines: [
      'create configmap page-a', 'create configmap page-b', 'create configmap page-c',
      'list configmaps --limit 2 --as reader',
      'create configmap page-d',
      'expire',
      '! list configmaps --limit 2 --continue last --as reader',
    ],
  },
  {
    key: 'l', replicas: 2,
    lines: [
      'watch configmaps --name near --via 1 --as dora',
      'watch configmaps --name far --via 2 --as emil',
      'lag 2',
      'create configmap fresh --via 1',
      'list configmaps --rv 0 --via 1 --as dora',
      'list configmaps --rv 0 --via 2 --as emil',
    ],
  },
  {
    key: 'o',
    lines: [
      'apply -f red.yaml --field-manager alice --as alice',
      'apply -f blue.yaml --field-manager bob --as bob',
      'apply -f blue.yaml --field-manager bob --as bob --force',
    ],
    files: { 'red.yaml': settings('red'), 'blue.yaml': settings('blue') },
  },
  {
    key: 'b',
    lines: [
      'watch configmaps --bookmarks --name idle --as carol',
      'create namespace elsewhere',
      'create secret noise -n elsewhere',
      'tick 1m',
    ],
  },
  {
    key: 'a',
    lines: [
      'fault on create configmaps times=1 do commit-then-fail Timeout',
      '! create -f request.yaml --as issuer',
      'create -f request.yaml --as issuer',
      'list configmaps -l order=1 --as alice',
    ],
    files: { 'request.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: request-, labels: {order: "1"}}\n' },
  },
  {
    key: 's', replicas: 2,
    lines: [
      'create configmap lock --from-literal owner=alice --as alice',
      'let seen = configmaps/lock .metadata.resourceVersion',
      'lag 2',
      `patch configmap lock -p '{"data":{"owner":"bob"}}' --as bob --via 1`,
      'get configmap lock --rv 0 --via 2 --as alice',
      `! patch configmap lock --rv=$seen -p '{"data":{"owner":"alice"}}' --via 2 --as alice`,
    ],
  },
]

/** runSituation runs the lines of a situation. If the world has fewer servers than the situation needs, it is first rebuilt with more. */
export async function runSituation(situation: Situation): Promise<void> {
  if (situation.replicas) {
    const { replicas } = await query<{ replicas: Replica[] }>('replicas')
    if (replicas.length < situation.replicas) {
      const more = Array.from({ length: situation.replicas - replicas.length }, () => ({ version: manifest?.minor ?? '', gates: {} }))
      if (!(await addServers(more))) return
    }
  }
  const before = head.value.branch
  for (const line of situation.lines) {
    const named = Object.entries(situation.files ?? {}).filter(([name]) => line.includes(`-f ${name}`))
    await run(line, Object.fromEntries(named))
    if (head.value.branch !== before) return
  }
}
