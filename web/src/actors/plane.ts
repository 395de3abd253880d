// The controllers of the control plane as the engine lists them, and whether they wait for steps.
import { signal } from '@preact/signals'
import type { Controller } from '../engine/protocol'
import { moment } from '../state/player'
import { query, run } from '../state/session'

interface Plane {
  controllers: Controller[]
  stepped: boolean
}

export const plane = signal<Plane>({ controllers: [], stepped: false })

let asked = 0 // the number of queries
let chosen: boolean | undefined // the choice of the user, until its command has an answer

// ask asks the engine for the controllers. The answer is ignored if there is a newer query.
export function ask(): void {
  const mine = ++asked
  query<Plane>('controllers', moment.value).then(view => {
    if (mine === asked) plane.value = { ...view, stepped: chosen ?? view.stepped }
  }, () => {})
}

// wait runs the command stepped. It shows the choice at once, and restores the previous one if the engine refuses the command.
export async function wait(stepped: boolean): Promise<void> {
  chosen = stepped
  plane.value = { ...plane.value, stepped }
  const done = await run(`stepped ${stepped ? 'yes' : 'no'}`)
  if (chosen !== stepped) return // changed again meanwhile
  chosen = undefined
  if (!done) plane.value = { ...plane.value, stepped: !stepped }
  ask()
}
