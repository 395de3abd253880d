// The embedded page: an <iframe> in an article with one command, its answer and its timeline, and nothing else.
//
//	<iframe src="https://…/?embed=create+configmap+a"></iframe>       an empty world, and the line to run
//	<iframe src="https://…/?embed=kubectl+get+nodes"></iframe>        a new cluster with three nodes, and the line to run
//	<iframe src="https://…/?embed=get+configmaps#v1…"></iframe>       the world of a link, and the line to run in it
import { text } from '../text'

const asked = typeof location === 'object' ? new URLSearchParams(location.search) : new URLSearchParams()

/** embedded reports whether the page is in an <iframe> of another page. */
export const embedded = asked.has('embed')

/** offered is the initial content of the command line. */
export const offered = asked.get('embed') ?? ''

/** frame returns the HTML of an <iframe> that shows a world and a line to run in it. */
export function frame(link: string, line: string): string {
  const url = new URL(link)
  url.search = `?embed=${encodeURIComponent(line)}`
  const src = url.href.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  return `<iframe src="${src}" title="${text.title}" width="100%" height="480" loading="lazy"></iframe>`
}

/** whole returns the address of the same world as a page of its own. */
export function whole(): string {
  const url = new URL(location.href)
  url.search = ''
  return url.href
}
