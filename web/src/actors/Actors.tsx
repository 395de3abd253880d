// Actors is the panel of the API servers, the clients, the controllers, and the faults between them.
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Client, Replica } from '../engine/protocol'
import { filesOf, manifests, putManifest } from '../state/manifests'
import { dialog } from '../state/page'
import { live, moment, revisionInView } from '../state/player'
import { head, query, ready, run } from '../state/session'
import { stateWords, text } from '../text'
import { AddReplica } from './AddReplica'
import { Controllers } from './Controllers'
import { Faults } from './Faults'

const words = text.actors
const replicas = signal<Replica[]>([])
const clients = signal<Client[]>([])

export default function Actors() {
  useEffect(() => {
    if (!ready.value) return
    query<{ replicas: Replica[] }>('replicas', moment.value).then(view => { replicas.value = view.replicas ?? [] }, () => {})
    query<{ clients: Client[] }>('clients', moment.value).then(view => { clients.value = view.clients ?? [] }, () => {})
  }, [head.value, ready.value, moment.value])
  return (
    <div class="actors">
      {!live.value && <p class="hint">{words.before}</p>}
      <div class="split">
        <h2>{words.situations}</h2>
        <button onClick={() => { dialog.value = 'situations' }}>{words.situations} <kbd>s</kbd></button>
      </div>
      <h2>{words.replicas}</h2>
      <Replicas />
      <h2>{words.clients}</h2>
      <Clients />
      <NewActor />
      <Controllers />
      <h2>{words.faults}</h2>
      <Faults />
    </div>
  )
}

function Replicas() {
  const newest = Number(revisionInView.value)
  return (
    <>
      <ul class="cards">
        {replicas.value.map(replica => {
          const behind = newest - Number(replica.rv)
          const state = replica.cut ? words.isCut : replica.lagging?.length ? `${words.lags} ${replica.lagging.join(', ')}` : words.fine
          return (
            <li key={replica.n}>
              <p class="split"><b>{text.timeline.replica(String(replica.n))}</b><span class="hint">{replica.version}</span></p>
              <p>{words.applied} <span class="mono">{replica.rv}</span>{behind > 0 && <span class="bad"> {words.behind(behind)}</span>}</p>
              <p class="hint">{state}{gates(replica)}</p>
              <p class="chips">
                <button onClick={() => void run(`lag ${replica.n}`)}>{words.lag}</button>
                <button onClick={() => void run(`cut ${replica.n}`)}>{words.cut}</button>
                <button onClick={() => void run(`resume ${replica.n}`)}>{words.resume}</button>
                <button onClick={() => void run(`restart ${replica.n}`)}>{words.restart}</button>
              </p>
            </li>
          )
        })}
      </ul>
      {replicas.value.length < 4 && <AddReplica />}
    </>
  )
}

function gates(replica: Replica): string {
  const set = Object.entries(replica.gates ?? {}).map(([name, on]) => `${name}=${on}`)
  return set.length > 0 ? `, ${set.join(', ')}` : ''
}

function Clients() {
  if (clients.value.length === 0) return <p class="hint">{words.noClients}</p>
  return <ul class="cards">{clients.value.map(client => <Card key={client.name} client={client} />)}</ul>
}

function Card({ client: { name, held, requests, actor } }: { client: Client }) {
  const keys = actor?.keys ?? []
  return (
    <li>
      <p class="split"><b>{name}</b><span class="hint">{actor?.kind} {actor?.resource}</span></p>
      <p>{words.requests(requests)}{actor?.keys && `, ${words.holds(keys.length)}`}{held && `, ${words.held}`}</p>
      {actor?.state && <p class="hint">{stateWords(actor.state)}{actor.rv && `, ${text.timeline.knows(actor.rv)}`}</p>}
      {keys.length > 0 && <p class="mono small wrap">{keys.slice(0, 12).join(' ')}</p>}
      <p class="chips">
        <button onClick={() => void run(`${held ? 'release' : 'hold'} ${name}`)}>{held ? words.release : words.hold}</button>
        {actor && actor.kind !== 'informer' && <button onClick={() => void run(`step ${name}`)}>{words.next}</button>}
        {actor && <button onClick={() => void run(`crash ${name}`)}>{words.crash}</button>}
        {actor && <button onClick={() => void run(`start ${name}`)}>{words.start}</button>}
      </p>
    </li>
  )
}

const kind = signal<'informer' | 'pager' | 'controller'>('informer')
const name = signal('informer-1')
const resource = signal('configmaps')
const rules = 'rules.yaml'

function NewActor() {
  const add = () => {
    const lines = {
      informer: `informer ${name.value} ${resource.value}`,
      pager: `pager ${name.value} ${resource.value} --limit 2`,
      controller: `controller ${name.value} -f ${rules}`,
    }
    void run(lines[kind.value], filesOf(lines[kind.value]))
  }
  return (
    <form class="split" onSubmit={event => { event.preventDefault(); add() }}>
      <label><span>{words.clients}</span>
        <select value={kind.value} onChange={event => {
          kind.value = event.currentTarget.value as 'informer'
          name.value = `${kind.value}-${clients.value.length + 1}`
        }}>
          <option value="informer">{words.addInformer}</option>
          <option value="pager">{words.addPager}</option>
          <option value="controller">{words.addController}</option>
        </select>
      </label>
      <label><span>{words.name}</span><input value={name.value} onInput={event => { name.value = event.currentTarget.value }} /></label>
      {kind.value === 'controller' ? (
        <label class="grow"><span>{words.rules}</span>
          <textarea class="mono" rows={10} spellcheck={false} value={manifests.value[rules] ?? ''}
            onInput={event => putManifest(rules, event.currentTarget.value)} />
        </label>
      ) : (
        <label><span>{text.objects.resource}</span>
          <input value={resource.value} onInput={event => { resource.value = event.currentTarget.value }} />
        </label>
      )}
      <button type="submit" class="primary">{words.start}</button>
    </form>
  )
}
