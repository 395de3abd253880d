import { expect, test } from 'vitest'
import { mainOf, runnable, usages } from './runnable'

test('code is a runnable line if it begins with a command of the engine and has its required arguments', () => {
  usages.value = new Map([['kubectl', 'kubectl WORD …'], ['compact', 'compact [REVISION]'], ['tick', 'tick DURATION|next'], ['expire', 'expire']])
  expect(['kubectl get pods', 'compact', 'expire', 'tick 5s'].map(runnable)).toEqual([true, true, true, true])
  expect(['kubectl', 'tick', 'managedFields', 'metadata.name', ''].map(runnable)).toEqual([false, false, false, false, false])
})

test('the action of a step is a line that is a paragraph of its own', () => {
  usages.value = new Map([['kubectl', 'kubectl WORD …'], ['tick', 'tick DURATION|next']])
  expect(mainOf(['You see a table of it with `kubectl get pods`. See the whole object:', '`kubectl get pod web -o yaml`', '`tick 5s`'])).toBe(1)
  expect(mainOf(['Press `kubectl get pods`.', '`metadata.name`'])).toBe(-1)
})
