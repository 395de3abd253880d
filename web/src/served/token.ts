// The bearer token for a served cluster. The link that kubesim serve prints has the token after its #, which browsers do not send to a
// server. The page removes it from the address at once and keeps it for this tab only.
import { signal } from '@preact/signals'

/** wanted is the cluster's message when it refused the page, or "" if it did not. */
export const wanted = signal('')

/** user is the user name that the cluster assigns to the token, or "" if unknown. */
export const user = signal('')

const key = 'kubesim.token'
let held = '' // used when sessionStorage is not available

/** token returns the token for requests, or "" if there is none. */
export function token(): string {
  try {
    return sessionStorage.getItem(key) ?? held
  } catch {
    return held
  }
}

/** keepToken replaces the token. */
export function keepToken(next: string): void {
  held = next
  try {
    if (next) sessionStorage.setItem(key, next)
    else sessionStorage.removeItem(key)
  } catch {
    // Storage is not available: the token is kept until the page is reloaded.
  }
}

/** takeToken removes the token from the address and keeps it. */
export function takeToken(): void {
  const found = /^#token=(.*)$/.exec(location.hash)?.[1]
  if (found === undefined) return
  keepToken(new URLSearchParams(`token=${found}`).get('token') ?? '')
  history.replaceState(history.state, '', location.pathname + location.search)
}
