import { expect, test } from 'vitest'
import { runnable, usages } from './runnable'

test('code is a runnable line if it begins with a command of the engine and has its required arguments', () => {
  usages.value = new Map([['kubectl', 'kubectl WORD …'], ['compact', 'compact [REVISION]'], ['tick', 'tick DURATION|next'], ['expire', 'expire']])
  expect(['kubectl get pods', 'compact', 'expire', 'tick 5s'].map(runnable)).toEqual([true, true, true, true])
  expect(['kubectl', 'tick', 'managedFields', 'metadata.name', ''].map(runnable)).toEqual([false, false, false, false, false])
})
