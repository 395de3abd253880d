// The build: one page, one UI chunk, two workers, and chunks that are loaded when they are first shown. Nothing is inlined, because the page's
// Content-Security-Policy allows neither inline scripts nor inline styles nor data: images.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig, type Plugin } from 'vite'

const policy = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

// engineManifest returns the manifest that `make wasm` wrote, or null if no engine has been built, which the page then reports.
function engineManifest(): unknown {
  const path = 'public/engine/engine.json'
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null
}

// steps counts the steps that were recorded from a real API server: the headings in the files of cases and life.
function steps(folder = '../sim/conformance/testdata'): number {
  return ['cases', 'life'].flatMap(part => readdirSync(join(folder, part), { recursive: true, encoding: 'utf8' }).map(file => join(folder, part, file)))
    .filter(file => file.endsWith('.http'))
    .reduce((sum, file) => sum + (readFileSync(file, 'utf8').match(/^### /gm)?.length ?? 0), 0)
}

// The address of the source, and that of the page (KUBESIM_SITE=https://…/). Previews on other sites need the absolute address of the
// image.
const source = 'https://github.com/kubesim/kubesim'
const site = process.env.KUBESIM_SITE ?? ''

// card returns the meta tags for previews of the page on other sites.
function card(): { tag: string; attrs: Record<string, string>; injectTo: 'head' }[] {
  const title = 'kubesim: the Kubernetes API server, in this page'
  const about = 'Revisions, late caches, conflicts, 410: see what happens between a request and a watch, stop it, take it back, share it.'
  const image = site ? new URL('card.png', site).href : './card.png'
  const properties = { 'og:type': 'website', 'og:title': title, 'og:description': about, 'og:image': image, 'og:image:width': '1200', 'og:image:height': '630',
    'og:image:alt': 'A timeline: one controller, two requests, the same pod twice', ...(site ? { 'og:url': site } : {}) }
  const names = { 'twitter:card': 'summary_large_image', 'twitter:title': title, 'twitter:description': about, 'twitter:image': image }
  return [
    ...Object.entries(properties).map(([property, content]) => ({ tag: 'meta', attrs: { property, content }, injectTo: 'head' as const })),
    ...Object.entries(names).map(([name, content]) => ({ tag: 'meta', attrs: { name, content }, injectTo: 'head' as const })),
  ]
}

// head adds the policy and the meta tags. There is no preload for the engine, because WebKit would fetch it twice.
function head(): Plugin {
  return {
    name: 'kubesim-head',
    apply: 'build',
    transformIndexHtml: () => [
      { tag: 'meta', attrs: { 'http-equiv': 'Content-Security-Policy', content: policy }, injectTo: 'head-prepend' },
      ...card(),
    ],
  }
}

// stories emits stories.json with the scenarios of examples/scenarios and the patterns of examples/gallery. The page fetches it when the
// gallery is opened.
function stories(): Plugin {
  return {
    name: 'kubesim-stories',
    apply: 'build',
    generateBundle() {
      const all = (JSON.parse(readFileSync('stories.json', 'utf8')) as { id: string }[])
        .map(story => ({ ...story, scenario: readFileSync(`../examples/scenarios/${story.id}.txtar`, 'utf8').replace(/^-- transcript --$[\s\S]*/m, '') }))
      const patterns = [...readFileSync('../examples/gallery/README.md', 'utf8').matchAll(/^\| `(\w+_test\.go)` \| (\S+#[^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)]
        .map(([, file, seen, mistake, pattern]) => ({ file, seen: seen?.trim(), mistake: mistake?.trim(), pattern: pattern?.trim() }))
      this.emitFile({ type: 'asset', fileName: 'stories.json', source: JSON.stringify({ stories: all, patterns }) })
    },
  }
}

export default defineConfig({
  base: './',
  define: { __ENGINE__: JSON.stringify(engineManifest()), __STEPS__: String(steps()), __SOURCE__: JSON.stringify(source) },
  plugins: [head(), stories()],
  worker: { format: 'es' },
  server: { fs: { allow: ['..'] } }, // for wasm/unpack.mjs
  build: {
    target: 'es2022',
    cssTarget: ['chrome123', 'firefox121', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Everything that main.tsx imports statically is one file. Without this group there are five, whose lists of imports and exports have
    // 1.9 kB after Brotli, and 0.6 kB in the files that are loaded later.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'first', test: /src\/main\.tsx$/ }] } } },
    cssCodeSplit: false,
    reportCompressedSize: false,
  },
  test: { include: ['src/**/*.test.ts'], environment: 'node' },
} as Parameters<typeof defineConfig>[0])
