// What is shown is asked of the engine when it has changed. Where changes come faster than one can read (lines that are pasted, controllers
// at work, a served cluster that is busy) it is asked five times a second, and then of the newest: the engine has better to do.
//
//	changes   │ │││││││││ │            │
//	asks      │         │        │     │
import { type EffectCallback, useEffect, useRef } from 'preact/hooks'
import { pause } from '../state/pace'

/** useAsked calls ask after a picture whose inputs are others than those before; what it returns is called when they change again. */
export function useAsked(ask: EffectCallback, inputs: readonly unknown[]): void {
  const last = useRef(-pause)
  useEffect(() => {
    let over: ReturnType<EffectCallback>
    const begin = () => {
      last.current = performance.now()
      over = ask()
    }
    const early = last.current + pause - performance.now()
    const timer = early > 0 ? setTimeout(begin, early) : begin()
    return () => {
      if (timer) clearTimeout(timer)
      over?.()
    }
  }, inputs)
}
