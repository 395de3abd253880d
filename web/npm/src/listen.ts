// An HTTP server of Node that forwards requests to a Server.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ListenOptions, Server } from './server.js'

/** Listener is a running HTTP server. */
export interface Listener {
  url: string
  close(): Promise<void>
}

/** listen starts an HTTP server in front of a Server. */
export async function listen(server: Server, { port = 0, host = '127.0.0.1' }: ListenOptions): Promise<Listener> {
  const http = createServer({ keepAliveTimeout: 60_000, requestTimeout: 0 }, (request, response) => {
    answer(server, request, response).catch((error: Error) => {
      if (response.headersSent) response.destroy(error)
      else response.writeHead(500, { 'content-type': 'text/plain' }).end(`${error.message}\n`)
    })
  })
  await new Promise<void>((resolve, reject) => {
    http.once('error', (error: NodeJS.ErrnoException) => {
      reject(new Error(`kubesim: listen on ${host}:${port}: ${error.message}${error.code === 'EADDRINUSE' ? '; leave out port to take a free one' : ''}`, { cause: error }))
    })
    http.listen(port, host, resolve)
  })
  const address = http.address() as AddressInfo
  return {
    url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    close: () => new Promise(resolve => {
      http.close(() => resolve())
      http.closeAllConnections()
    }),
  }
}

async function answer(server: Server, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  const raw = request.rawHeaders
  const headers = Array.from({ length: raw.length / 2 }, (_, i): [string, string] => [raw[2 * i] ?? '', raw[2 * i + 1] ?? ''])
  const cancel = server.send({ method: request.method ?? 'GET', target: request.url ?? '/', headers, body: pieces.length > 0 ? Buffer.concat(pieces) : undefined }, {
    head(code, headers) {
      if (code < 200) {
        response.writeHead(501, { 'content-type': 'text/plain' }).end('kubesim: this listener has no WebSockets and no SPDY: exec, attach and port-forward need kubesim serve\n')
        return
      }
      for (const [name, value] of headers) response.appendHeader(name, value)
      response.writeHead(code)
      response.flushHeaders()
    },
    data(bytes) { if (!response.writableEnded) response.write(bytes) },
    end(broken) {
      if (broken) response.destroy()
      else response.end()
    },
  })
  response.once('close', cancel)
}
