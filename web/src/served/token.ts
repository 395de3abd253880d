// The token with which the page speaks to a cluster that is served. The link that kubesim serve prints has it behind its #: no browser
// sends that to a server. It is taken out of the address at once, and kept for this tab only.
import { signal } from '@preact/signals'

/** wanted is what the cluster said when it refused the page; "": it did not. */
export const wanted = signal('')

/** user is who the page is there, as the cluster says; "": it does not say. */
export const user = signal('')

const key = 'kubesim.token'
let held = '' // where storage is refused

/** token is the one that requests have to send; "": none. */
export function token(): string {
  try {
    return sessionStorage.getItem(key) ?? held
  } catch {
    return held
  }
}

/** keepToken sends another one from now on. */
export function keepToken(next: string): void {
  held = next
  try {
    if (next) sessionStorage.setItem(key, next)
    else sessionStorage.removeItem(key)
  } catch {
    // Storage is refused: it is kept as long as the page is not loaded anew.
  }
}

/** takeToken takes the token out of the address. */
export function takeToken(): void {
  const found = /^#token=(.*)$/.exec(location.hash)?.[1]
  if (found === undefined) return
  keepToken(new URLSearchParams(`token=${found}`).get('token') ?? '')
  history.replaceState(history.state, '', location.pathname + location.search)
}
