// The static host of the browser tests. It serves dist with the headers of a typical host, and compressed if possible, on a port that the
// system chooses. For browsers without a protocol that reports errors, it adds a script to the page that collects them.
import { createReadStream, existsSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname, join, normalize } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { tested } from './find.mjs'
import { watch } from './webdriver/inpage.mjs'

const piece = 16 * 1024 // bytes that the simulated line sends at once

const root = new URL('../dist/', import.meta.url).pathname

const types = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml',
  '.json': 'application/json', '.wasm': 'application/wasm', '.bin': 'application/octet-stream',
}

// codings are the content encodings, best first, with the extensions of the compressed files. WebKit accepts Brotli only over TLS.
const codings = [['br', '.br'], ['gzip', '.gz']]
const accepts = (request, coding) => (request.headers['accept-encoding'] ?? '').split(/[\s,;]+/).includes(coding)

// begun adds the script watch.js to the page.
const begun = {
  files: /^\/(index\.html)?$/,
  to: bytes => bytes.toString().replace('<head>', '<head><script src="./watch.js"></script>'),
}

/** serve starts the host. down makes it refuse all requests, stop ends it. With line {bytesPerSecond, latency in ms} all answers share
 * the capacity of a simulated line. (Chromium's own emulation waits for each piece again after it has decompressed the previous one, and
 * so counts the decompression twice.) With change {files, to} a file whose path matches files is replaced by the result of to, which may
 * be a promise; for null the connection is closed. */
export async function serve({ line, change } = {}) {
  const changes = [change, tested() === 'chromium' ? undefined : begun].filter(Boolean)
  let refused = false
  let free = 0 // the time at which the line has sent everything so far
  const carry = async (path, response) => {
    const bytes = await readFile(path)
    free = Math.max(free, performance.now() + line.latency)
    for (let at = 0; at < bytes.length; at += piece) {
      free += Math.min(piece, bytes.length - at) / line.bytesPerSecond * 1000
      await sleep(Math.max(0, free - performance.now()))
      response.write(bytes.subarray(at, at + piece))
    }
    response.end()
  }
  const server = createServer(async (request, response) => {
    if (refused) return request.socket.destroy()
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://host').pathname))
    if (path === '/watch.js') return response.writeHead(200, { 'content-type': types['.js'] }).end(`${watch}\nwatch()`)
    if (path === '/favicon.ico') return response.writeHead(204).end() // browsers request it beside a document without an icon, as in hosted.mjs
    const file = join(root, path.endsWith('/') ? `${path}index.html` : path)
    if (!file.startsWith(root) || !existsSync(file) || !statSync(file).isFile()) return response.writeHead(404).end()
    const headers = { 'content-type': types[extname(file)] ?? 'application/octet-stream', 'cache-control': 'no-cache' }
    const changed = changes.find(({ files }) => files.test(path))
    if (changed) {
      const bytes = await changed.to(await readFile(file))
      return bytes ? response.writeHead(200, headers).end(bytes) : request.socket.destroy()
    }
    const [coding, ending] = codings.find(([name, end]) => accepts(request, name) && existsSync(file + end)) ?? ['', '']
    const sent = file + ending
    if (coding) headers['content-encoding'] = coding
    response.writeHead(200, { ...headers, 'content-length': statSync(sent).size })
    if (line) return carry(sent, response)
    createReadStream(sent).pipe(response)
  })
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    down: () => { refused = true; server.closeAllConnections() },
    stop: () => new Promise(resolve => { server.close(resolve); server.closeAllConnections() }),
  }
}
