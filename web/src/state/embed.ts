// Embed is the page in an <iframe> of an article: one command, its answer and its timeline, and nothing else.
//
//	<iframe src="https://…/?embed=create+configmap+a"></iframe>       a world with nothing in it, and the line to run
//	<iframe src="https://…/?embed=get+configmaps#v1…"></iframe>       the world of a link, and the line to run in it
import { text } from '../text'

const asked = typeof location === 'object' ? new URLSearchParams(location.search) : new URLSearchParams()

/** embedded says that the page is part of another one. */
export const embedded = asked.has('embed')

/** offered is the line that stands in the command line at first. */
export const offered = asked.get('embed') ?? ''

/** frame is the text of an <iframe> that shows a world, and a line to run in it. */
export function frame(link: string, line: string): string {
  const url = new URL(link)
  url.search = `?embed=${encodeURIComponent(line)}`
  const src = url.href.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  return `<iframe src="${src}" title="${text.title}" width="100%" height="480" loading="lazy"></iframe>`
}

/** whole is the address of the same world in a page of its own. */
export function whole(): string {
  const url = new URL(location.href)
  url.search = ''
  return url.href
}
