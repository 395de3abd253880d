// later wraps a component whose module is loaded when it is first shown, so that the first visit does not load it.
import { useEffect, useState } from 'preact/hooks'
import type { FunctionComponent } from 'preact'
import { bringMore } from '../text'

export function later<P extends object>(load: () => Promise<{ default: FunctionComponent<P> }>): FunctionComponent<P> {
  let loaded: FunctionComponent<P> | null = null
  return function Later(props: P) {
    const [Shown, setShown] = useState<FunctionComponent<P> | null>(() => loaded)
    useEffect(() => {
      if (loaded) return
      let gone = false
      Promise.all([load(), bringMore()]).then(
        ([module]) => {
          loaded = module.default
          if (!gone) setShown(() => module.default)
        },
        () => {}, // offline before it was ever loaded: the component stays empty
      )
      return () => { gone = true }
    }, [])
    return Shown ? <Shown {...props} /> : null
  }
}
