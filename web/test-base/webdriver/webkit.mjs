// The WebKit of Debian (apt-get install webkit2gtk-driver xvfb), driven over WebDriver: MiniBrowser without its toolbar, on a virtual
// screen.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort, soon } from './start.mjs'

const commands = { go: '/url', back: '/back', forward: '/forward', run: '/execute/async', perform: '/actions' }

// miniBrowser returns the path of WebKit's small browser, which has more options than the driver's default.
function miniBrowser() {
  const roots = ['/usr/lib', ...readdirSync('/usr/lib').filter(name => name.endsWith('-linux-gnu')).map(name => `/usr/lib/${name}`)]
  const found = roots.flatMap(root => ['webkit2gtk-4.1', 'webkitgtk-6.0', 'webkit2gtk-4.0'].map(name => join(root, name, 'MiniBrowser'))).find(existsSync)
  if (!found) throw new Error('there is no MiniBrowser')
  return found
}

// screen starts an X server with a virtual screen and returns its name.
async function screen() {
  const child = spawn('Xvfb', ['-displayfd', '1', '-screen', '0', '1920x1920x24', '-nolisten', 'tcp'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [line] = await once(createInterface(child.stdout), 'line')
  return { display: `:${line}`, stop: () => child.kill() }
}

// home creates a home folder with the user's settings. WebKit uses the language of the C library, which needs a folder for it: the folder
// links to the locale C, which supports all characters.
function home({ locale, reducedMotion }) {
  const folder = mkdtempSync(join(tmpdir(), 'webkit-'))
  const language = `${locale.replace('-', '_')}.UTF-8`
  for (const one of ['Downloads', 'locales', 'gtk-3.0']) mkdirSync(join(folder, one))
  writeFileSync(join(folder, 'gtk-3.0/settings.ini'), `[Settings]\ngtk-enable-animations=${reducedMotion === 'reduce' ? 0 : 1}\n`)
  writeFileSync(join(folder, 'gtk-3.0/gtk.css'), 'window * { min-width: 0; margin: 0; padding: 0; border: 0 }\n') // allows windows as narrow as a phone
  writeFileSync(join(folder, 'user-dirs.dirs'), 'XDG_DOWNLOAD_DIR="$HOME/Downloads"\n')
  symlinkSync('/usr/lib/locale/C.utf8', join(folder, 'locales', language))
  return { folder, env: { HOME: folder, XDG_CONFIG_HOME: folder, LOCPATH: join(folder, 'locales'), LC_ALL: language } }
}

async function start(path, display, options) {
  const { colorScheme, serviceWorkers } = options
  const { folder, env } = home(options)
  const port = await freePort()
  const driver = spawn(path, [`--port=${port}`], { stdio: 'ignore', env: {
    ...process.env, ...env, DISPLAY: display, GTK_THEME: colorScheme === 'dark' ? 'Adwaita:dark' : 'Adwaita', GTK_A11Y: 'none',
    WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1', WEBKIT_DISABLE_COMPOSITING_MODE: '1', LIBGL_ALWAYS_SOFTWARE: '1',
  } })
  const ask = async (method, command, body, limit = 120_000) => {
    const answer = await fetch(`http://127.0.0.1:${port}${command}`, { method, signal: AbortSignal.timeout(limit), ...(body && { body: JSON.stringify(body) }) })
    const { value } = await answer.json()
    if (!answer.ok) throw new Error(`${value?.error}: ${value?.message}`)
    return value
  }
  const end = async at => {
    if (at) await ask('DELETE', at).catch(() => {})
    driver.kill()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await soon(() => ask('GET', '/status').catch(() => null), 'WebKitWebDriver')
    const args = ['--automation', '--full-screen', ...(serviceWorkers === 'block' ? ['--features=-ServiceWorkers'] : [])]
    const { sessionId } = await ask('POST', '/session', { capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': { binary: miniBrowser(), args } } } }, 30_000)
    const at = `/session/${sessionId}`
    await ask('POST', `${at}/timeouts`, { script: 300_000, pageLoad: 60_000 })
    return {
      downloads: join(folder, 'Downloads'),
      send: (command, { element, ...parameters }) => ask('POST', at + (commands[command] ?? `/element/${Object.values(element)[0]}/value`), parameters),
      resize: viewport => ask('POST', `${at}/window/rect`, viewport),
      async paint(wanted) { if (wanted !== colorScheme) throw new Error('MiniBrowser keeps the colour scheme that it is started with') },
      end: () => end(at),
    }
  } catch (error) {
    await end()
    throw error
  }
}

/** webkit opens sessions with the driver at a path. Each session has its own browser, because a driver has at most one session. */
export function webkit(path) {
  const open = new Set()
  let shown
  return {
    async open(options) {
      shown ??= await screen()
      const begin = () => start(path, shown.display, options)
      const session = await begin().catch(begin) // MiniBrowser sometimes does not answer on a busy machine
      open.add(session)
      return session
    },
    async done(session) {
      open.delete(session)
      await session.end()
    },
    async close() {
      for (const session of open) await session.end()
      shown?.stop()
    },
  }
}
