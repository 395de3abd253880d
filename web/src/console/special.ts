// Lines that the page answers without the engine: help, clear, kubectl edit, which opens the page's editor, and the interactive shells of
// kubectl exec, run and debug with -it.
import { inside, mode, object, resource, tab } from '../state/page'
import { head, note, query, resources, run, transcript } from '../state/session'
import { text } from '../text'

interface Command {
  name: string
  usage: string
  text: string
  example: string
  flags?: { text: string; detail: string }[]
}

/** answer executes a line if the page handles it, and reports whether it does. */
export async function answer(line: string): Promise<boolean> {
  if (inside.value) {
    await typed(line)
    return true
  }
  if (line === 'clear') {
    transcript.value = []
    return true
  }
  const help = /^(?:help|\?)(?:\s+(\S+))?$/.exec(line)
  if (help) {
    await explain(line, help[1])
    return true
  }
  return edit(line) || enter(line)
}

// interactive matches a line that asks for a terminal in a container: kubectl exec, run or debug with -it, and a shell or no command.
const interactive = /^(\S+)\s+(exec|run|debug)\s+(?=.*-(?:it|ti|i\s+-?-t)\b)(.*?)(\s+--\s+(?:\/bin\/)?(?:ba|a)?sh)?$/
let leaving = '' // the line to run on exit

// enter opens a shell in a container if the line asks for one and the container can execute commands. It reports whether the line was
// handled.
async function enter(line: string): Promise<boolean> {
  const [, kubectl = '', verb, rest = '', shell] = interactive.exec(line) ?? []
  if (!verb || / -- /.test(rest) || (verb === 'exec' && !shell)) return false
  const namespace = /\s(?:-n|--namespace)[\s=]\S+/.exec(line)?.[0] ?? ''
  const remove = / --rm\b/.test(line)
  const into = verb === 'exec' ? `${kubectl} exec ${rest}` : await started(kubectl, verb, rest.replace(/\s*--rm\b(=true)?/, ''), namespace)
  if (!into) return true
  const tried = await run(`${into} -- true`)
  if (!tried || tried.lines.some(said => /error/i.test(said))) return true
  leaving = remove ? into.replace(' exec ', ' delete pod ') : ''
  inside.value = into
  note({ op: head.value.n, line, help: [[into.replace(/^.* exec /, ''), text.shell.inside]] })
  return true
}

// started creates a pod or an ephemeral container, waits for it, and returns the kubectl exec command for it, or '' if that fails.
async function started(kubectl: string, verb: string, rest: string, namespace: string): Promise<string> {
  const made = await run(`${kubectl} ${verb} ${rest} --attach=false`)
  const said = made?.lines.join('\n') ?? ''
  if (verb === 'run') {
    const pod = /pod\/(\S+) created/.exec(said)?.[1]
    return pod && (await run(`${kubectl} wait --for=condition=Ready pod/${pod}${namespace}`)) ? `${kubectl} exec ${pod}${namespace}` : ''
  }
  const container = /container name to (\S+)\./.exec(said)?.[1] ?? /(?:-c|--container)[\s=](\S+)/.exec(rest)?.[1]
  const pod = rest.split(/\s+/).find(word => !word.startsWith('-'))
  if (/error/i.test(said) || !container || !pod) return ''
  await run(`${kubectl} wait pod/${pod.replace(/^pods?\//, '')}${namespace} --for=jsonpath='{.status.ephemeralContainerStatuses[?(@.name=="${container}")].state.running}'`)
  return `${kubectl} exec ${pod} -c ${container}${namespace}`
}

// typed runs a line in the shell of a container. Each line runs in a new shell: files are kept, variables are not.
async function typed(line: string): Promise<void> {
  if (/^(exit|logout)$/.test(line)) {
    note({ op: head.value.n, line, help: [[line, text.shell.outside]] })
    inside.value = ''
    if (leaving) await run(leaving)
    leaving = ''
  } else await run(`${inside.value} -- sh -c '${line.replaceAll("'", `'\\''`)}'`)
}

// explain answers help from the engine's table of commands. It is not an operation and not in the log.
async function explain(asked: string, name?: string): Promise<void> {
  const { commands } = await query<{ commands: Command[] }>('help')
  const one = commands.find(command => command.name === name)
  const rows: [string, string][] = one
    ? [[one.usage, text.said(one.text)], [one.example, text.console.example], ...(one.flags ?? []).map(flag => [flag.text, text.said(flag.detail)] as [string, string])]
    : commands.map(command => [command.usage, text.said(command.text)])
  note({ op: head.value.n, line: asked, help: rows })
}

// edit opens an object in the editor. It returns false for a line that it cannot parse, which then goes to kubectl.
function edit(line: string): boolean {
  const [, first = '', second = '', ns = 'default'] = /^\S+\s+edit\s+([^\s/]+)[\s/]+([\w.-]+)(?:\s+(?:-n|--namespace)[\s=]+(\S+))?$/.exec(line) ?? []
  const named = first.toLowerCase()
  const of = resources.value.find(one => [one.resource, one.kind.toLowerCase(), `${one.resource}.${one.group}`, ...(one.short ?? [])].includes(named))
  if (!of || !second) return false
  resource.value = of.group ? `${of.resource}.${of.group}` : of.resource
  object.value = { resource: resource.value, ns: of.namespaced ? ns : '', name: second }
  mode.value = 'edit'
  tab.value = 'objects'
  note({ op: head.value.n, line, help: [[text.tabs.objects, text.console.edits]] })
  return true
}
