// The service worker makes the page work offline after the first visit. It holds no state of the simulator.
//
//   hashed files (assets/*, engine/*-<hash>.*)   cache first: their names change with their content
//   everything else (index.html, engine.json)    network first, the cache when there is none
//   /api, /apis, /version …, sent by a page      the API server in that page answers (src/wire/answer.ts)
//   /sim/                                        sent to the server of an attached cluster: not handled here
//
// FILES is the list of files for the first visit, written by scripts/finish.mjs. VERSION changes when any of them does.
const VERSION = 'kubesim-dev'
const FILES = ['./']

const hashed = /\/(assets|engine)\/[^/]+-[\w-]{6,}\.\w+(\.\w+)?$/

self.addEventListener('install', event => {
  event.waitUntil(caches.open(VERSION).then(cache => cache.addAll(FILES)).then(() => self.skipWaiting()))
})

self.addEventListener('activate', event => {
  event.waitUntil(removeOld().then(() => self.clients.claim()))
})

// removeOld deletes the caches of older versions of the page.
async function removeOld() {
  for (const name of await caches.keys()) {
    if (name.startsWith('kubesim-') && name !== VERSION) await caches.delete(name)
  }
}

self.addEventListener('fetch', event => {
  const { request } = event
  const url = new URL(request.url)
  if (url.origin === self.location.origin && request.mode !== 'navigate' && served.test(url.pathname) && event.clientId) {
    event.respondWith(fromPage(event, url))
    return
  }
  if (request.method !== 'GET' || url.pathname.startsWith('/sim/') || url.origin !== self.location.origin || !url.href.startsWith(self.registration.scope)) return
  event.respondWith(hashed.test(url.pathname) ? cacheFirst(request) : networkFirst(request))
})

// served matches the paths that an API server serves.
const served = /^\/(api|apis|openapi|version|healthz|livez|readyz|metrics)(\/|$)/

// fromPage forwards a request to the page that sends it, whose engine answers it. If the page has no engine, the request goes to the
// network.
async function fromPage(event, url) {
  const page = await self.clients.get(event.clientId)
  const onward = event.request.clone()
  if (!page) return fetch(onward)
  const body = await event.request.text()
  const { port1, port2 } = new MessageChannel()
  const answer = await new Promise(resolve => {
    port1.onmessage = ({ data }) => resolve(data)
    page.postMessage({ asked: { method: event.request.method, path: url.pathname + url.search, headers: [...event.request.headers], body } }, [port2])
  })
  if (answer.pass) return fetch(onward)
  if (answer.error) return Response.error()
  const headers = new Headers(answer.headers.filter(([name]) => !/^(content-length|content-encoding|transfer-encoding)$/i.test(name)))
  if (!answer.stream) return new Response([204, 304].includes(answer.status) ? null : answer.body, { status: answer.status, headers })
  return new Response(events(port1), { status: answer.status, headers })
}

// events returns the body of a watch: the chunks from the port, until the watch ends or the reader cancels it.
function events(port) {
  const encoder = new TextEncoder()
  return new ReadableStream({
    start(controller) {
      // Firefox resolves fetch with the first byte of the body, which may come late. A blank line between JSON values has no meaning.
      if (/Firefox\//.test(navigator.userAgent)) controller.enqueue(encoder.encode('\n'))
      port.onmessage = ({ data }) => {
        if (data.chunk) controller.enqueue(encoder.encode(data.chunk))
        if (data.end) controller.close()
      }
    },
    cancel() { port.postMessage('cancel') },
  })
}

async function cacheFirst(request) {
  const cache = await caches.open(VERSION)
  const kept = await cache.match(request, { ignoreVary: true })
  if (kept) return kept
  const answer = await fetch(request)
  if (answer.ok) await cache.put(request, answer.clone())
  return answer
}

async function networkFirst(request) {
  const cache = await caches.open(VERSION)
  try {
    const answer = await fetch(request)
    if (answer.ok) await cache.put(request, answer.clone())
    return answer
  } catch (error) {
    const kept = await cache.match(request, { ignoreVary: true, ignoreSearch: true })
      ?? (request.mode === 'navigate' ? await cache.match('./') : undefined)
    if (kept) return kept
    throw error
  }
}
