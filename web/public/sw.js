// The service worker makes the page work offline after the first visit. It holds no state of the simulator.
//
//   hashed files (assets/*, engine/*-<hash>.*)   cache first: their names change with their content
//   everything else (index.html, engine.json)    network first, the cache when there is none
//
// FILES is filled in by scripts/finish.mjs with what the first visit fetches; VERSION changes when any of them does.
const VERSION = 'kubesim-dev'
const FILES = ['./']

const hashed = /\/(assets|engine)\/[^/]+-[\w-]{6,}\.\w+(\.\w+)?$/

self.addEventListener('install', event => {
  event.waitUntil(caches.open(VERSION).then(cache => cache.addAll(FILES)).then(() => self.skipWaiting()))
})

self.addEventListener('activate', event => {
  event.waitUntil(removeOld().then(() => self.clients.claim()))
})

// removeOld deletes what older versions of the page have cached.
async function removeOld() {
  for (const name of await caches.keys()) {
    if (name.startsWith('kubesim-') && name !== VERSION) await caches.delete(name)
  }
}

self.addEventListener('fetch', event => {
  const { request } = event
  const url = new URL(request.url)
  if (request.method !== 'GET' || url.origin !== self.location.origin || !url.href.startsWith(self.registration.scope)) return
  event.respondWith(hashed.test(url.pathname) ? cacheFirst(request) : networkFirst(request))
})

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
