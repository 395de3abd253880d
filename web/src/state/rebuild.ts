// Another set of servers for the current world.
import type { Boot, Op } from '../engine/protocol'
import { bootBody, head, replaced } from './session'

/** rebuild creates the world again with other servers and the same controllers, nodes and log. Undo restores the previous world. */
export async function rebuild(replicas: Boot['replicas'], boot: (body: Boot) => Promise<boolean>): Promise<boolean> {
  const [before, earlier] = [bootBody(), replaced.value]
  const { lesson: id, own: mine, answers: _answers, log: all = [], cursor, ...rest } = before
  // A lesson defines its servers, and its log has no meaning outside it.
  const kept = id || mine ? [] : all
  const body = { ...rest, replicas: replicas ?? [], log: withoutReplicas(kept), cursor: withoutReplicas(kept.slice(0, cursor)).length }
  if (!(await boot(body))) return false
  replaced.value = [...earlier, { boot: before, n: head.value.n }]
  return true
}

/** withoutReplicas returns a log without the lines that set the number of servers, which the boot sets instead. */
export function withoutReplicas(log: readonly Op[]): Op[] {
  return log.filter(({ line }) => !/^\s*replicas?\s/.test(line))
}
