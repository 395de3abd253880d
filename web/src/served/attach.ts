// Connects the page to a served cluster, and asks for a token if the cluster refuses the page.
import { attach, status } from '../state/session'
import { bringMore } from '../text'
import { Refusal, Served } from './served'
import { wanted } from './token'

/** attachServed shows the cluster that serves this page. */
export async function attachServed(): Promise<void> {
  wanted.value = ''
  status.value = { state: 'loading' }
  try {
    await bringMore() // the texts of its errors
    await attach(new Served())
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    wanted.value = error.message
  }
}
