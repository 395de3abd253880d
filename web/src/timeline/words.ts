// The commands for the server, watch, client or controller of a lane. The buttons show these lines and run them.
import type { Client } from '../engine/protocol'
import type { Lane } from './fold'

/** wordsOf returns the commands for a lane. state is the lane's state as reported by the engine; client is given if the lane belongs to
 * one. */
export function wordsOf({ kind, label }: Pick<Lane, 'kind' | 'label'>, state = '', client?: Client): string[] {
  switch (kind) {
    case 'store':
      return ['compact', 'expire', 'fault on update * times=1 do fail Conflict', 'fault on create * times=1 do fail ServiceUnavailable', 'fault clear']
    case 'replica':
      return [...(state ? [`resume ${label}`] : [`lag ${label}`, `cut ${label}`]), `restart ${label}`, `unready ${label} 30s`, `stall ${label} 45s`, `close ${label}`]
    case 'watch':
      return state === 'closed' ? [] : [`stop ${label}`, `close ${label}`]
    case 'client':
      return [`${state === 'held' ? 'release' : 'hold'} ${label}`, ...(client?.actor ? actor(client.actor.kind, label) : []),
        `fault on * * client=${label}/ times=1 do fail TooManyRequests`, `fault on * * client=${label}/ times=1 do drop`]
    case 'controller':
      return controller(label, state)
  }
}

function actor(kind: string, name: string): string[] {
  return [...(kind === 'informer' ? [] : [`step ${name}`]), `crash ${name}`, `start ${name}`]
}

function controller(name: string, state: string): string[] {
  const down = state === 'stopped' || state === 'crashed'
  return [
    ...(down ? [`start ${name}`] : [`step ${name}`, `stop ${name}`, `crash ${name}`]),
    state === 'lagging' ? `resume ${name}` : `lag ${name}`,
    state === 'slow' ? `slow ${name} 0s` : `slow ${name} 30s`,
  ]
}
