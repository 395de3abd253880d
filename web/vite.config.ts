// The build: one page, one UI chunk, one worker, one lazy editor chunk. Nothing is inlined, because the page's
// Content-Security-Policy allows neither inline scripts nor inline styles nor data: images.
import { existsSync, readFileSync } from 'node:fs'
import { defineConfig, type Plugin } from 'vite'

const policy = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

// engineManifest is what `make wasm` wrote, or null when no engine has been built: the page then says so.
function engineManifest(): unknown {
  const path = 'public/engine/engine.json'
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null
}

// head adds the policy, and a preload for the engine: the page compiles it on the main thread while it streams in.
function head(manifest: { core?: { file: string } } | null): Plugin {
  return {
    name: 'kubesim-head',
    apply: 'build',
    transformIndexHtml: () => [
      { tag: 'meta', attrs: { 'http-equiv': 'Content-Security-Policy', content: policy }, injectTo: 'head-prepend' },
      ...(manifest?.core
        ? [{
            tag: 'link',
            attrs: { rel: 'preload', as: 'fetch', crossorigin: 'anonymous', href: `./engine/${manifest.core.file}` },
            injectTo: 'head' as const,
          }]
        : []),
    ],
  }
}

const manifest = engineManifest()

export default defineConfig({
  base: './',
  define: { __ENGINE__: JSON.stringify(manifest) },
  plugins: [head(manifest as { core?: { file: string } } | null)],
  worker: { format: 'es' },
  build: {
    target: 'es2022',
    cssTarget: ['chrome123', 'firefox121', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    reportCompressedSize: false,
  },
  test: { include: ['src/**/*.test.ts'], environment: 'node' },
} as Parameters<typeof defineConfig>[0])
