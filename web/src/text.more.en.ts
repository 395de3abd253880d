// The English texts that are not on the first screen: those of panels, dialogs and the builder. They are a chunk that is loaded after it.
import { first, many } from './text.en'

export const more = {
  story: {
    title: 'Bugs that really happened', gallery: 'Each of them was reported for a real controller or server. One click plays it here, with captions; you can stop it, take it back and change it.',
    patterns: 'Patterns that avoid them', aboutPatterns: 'For each of these controllers the repository has a version with the mistake, a version without it, and the test that finds the difference.',
    seen: 'A bug that really happened', untitled: 'A scenario', mend: 'How would you mend it?', think: (lesson: string) => `Think first, then try the lesson “${lesson}”`,
    before: 'The part before', after: 'The next part', part: (n: number, all: number) => `${n} of ${all}`,
    pause: 'Pause', tell: 'Go on', again: 'Again',
    ask: 'How would you prevent the second pod?',
    options: ['A faster cache', 'A pod name derived from the app', 'Read the pods again before the create'],
    right: 'Yes: the second create is refused with 409, however old the cache is.',
    wrong: ['That makes it rarer. There is always some time between a write and its event.', 'Another change can come between that read and the create.'],
    lesson: 'Try it in the lesson “The controller that acted twice”',
  },

  changed: {
    more: (n: number) => `and ${many(n, 'other field')}`,
    lost: 'Lost update.', unread: (path: string, value: string, by: string) => `${by} had set ${path} to ${value}, and the writer of this change had not read that.`,
    based: (base: string, now: string) => `Based on revision ${base}. The object was at revision ${now}.`,
    legend: 'Marks of the timeline', mark: 'lost update',
    by: (name: string) => `by ${name}`, sentTo: (server: string) => `sent to ${server}`, answeredBy: (server: string) => `answered by ${server}`,
  },

  shell: { inside: 'A shell in the container. Each line is a shell of its own: files stay, variables do not. exit leaves it.', outside: 'The shell has ended.' },

  sharing: {
    title: 'Save or share this world',
    about: 'The link contains the seed and every operation. It shows the same bytes to every reader.',
    copy: 'Copy link', copied: 'Copied', size: (n: number) => many(n, 'character'),
    long: 'This link is long, and some programs truncate it. A file is safer.',
    embed: 'For an article: an iframe with the last line to run',
    file: 'Save as scenario (.txtar)', load: 'Open a scenario, or a dump of a cluster (kubectl get -A -o json, must-gather, Velero, etcd, …)', goTest: 'The file also runs with kubesim run and in go test.',
    hash: 'Hash of all frames, the same on every machine:',
    noLink: 'This world is too large for a link: it contains an imported cluster.', reading: (name: string) => `Reading ${name} …`,
    servedImport: 'a served cluster does not import files: start it with kubesim serve --import FILE, or open the page with ?own',
    badFile: 'This file could not be opened', tooLarge: (bytes: number, most: number) => `${many(bytes, 'byte')}, and the maximum is ${most}`,
  },

  course: {
    title: 'Courses', next: 'Next lesson of the course', make: 'Make a course', check: 'Check the code of a learner',
    about: 'A course is a list of lessons in an order. Learners open its link; their progress stays in their browser. At the end they get a code, which contains the lines that they ran.',
    name1: 'Title', add: 'Add a lesson', up: 'Move up', open: 'Open a course file', save: 'Save as file', link: 'Link to this course', copy: 'Copy', take: 'Take this course',
    progress: (done: number, all: number) => `${done} of ${many(all, 'lesson')} done`, leave: 'Leave this course',
    finished: 'All lessons are done. Write your name, and give this code to your teacher.', name: 'Your name', code: 'Code',
    paste: 'Paste the code here. Its lines are run again in this page; no server is asked.', noCode: 'This is not the code of a course.',
    checking: 'The lessons are run again', solved: (done: number, all: number) => `${done} of ${many(all, 'lesson')} solved`, unsolved: 'not solved',
    took: (requests: number, right: number, questions: number) => `solved, ${many(requests, 'request')}, ${right} of ${questions} predictions were true`,
  },

  http: {
    method: 'Method', path: 'Path', headers: 'Headers, one per line', body: 'Body', send: 'Send',
    accept: 'Accept', client: 'As client', replica: 'Through server',
    formats: { json: 'JSON', yaml: 'YAML', protobuf: 'Protobuf', table: 'Table' },
  },

  objects: {
    resource: 'Resource', namespace: 'Namespace', all: 'All namespaces',
    none: (what: string) => `No ${what} at this revision.`,
    edit: 'Edit', owners: 'Owners', diff: 'Compare', wire: 'Protobuf', skew: 'Servers',
    oneServer: 'There is one server. Add another under Actors to compare their caches.', alike: 'Both servers have the same object.',
    notServed: 'does not serve it', absent: 'does not have it', view: 'View',
    newObject: 'New', from: 'From revision', to: 'To revision',
    same: 'The two revisions have the same text.',
    at: (rv: string) => `as of revision ${rv}`,
    create: 'Create', replace: 'Replace', apply: 'Apply', check: 'Check',
    checked: 'The server would accept this.', sent: 'The server accepted it.', refused: 'This was refused.',
    changed: (from: string, to: string) => `Your draft is based on revision ${from}; the object is at ${to} now.`,
    discard: 'Discard the draft',
    first: (shown: number, all: number) => `The first ${shown} of ${all}.`,
    remove: 'Delete',
    editor: 'Manifest',
    escape: 'Esc, then Tab, leaves the editor. Ctrl+Enter sends it.',
    manager: 'Manager', operation: 'How', fields: 'Fields', time: 'When',
    force: 'There are three ways to resolve a conflict: take over the field (--force), remove it from your manifest, or use the other value.',
    offset: 'Offset', field: 'Field', wireType: 'Wire', value: 'Value',
  },

  actors: {
    before: 'The state at the frame in view. Commands run at the newest frame.',
    replicas: 'API servers', clients: 'Clients', faults: 'Faults', situations: 'Situations',
    situationsHint: 'Each has a key. They run ordinary commands, which you can undo.',
    version: 'Version', applied: 'Revision', state: 'State', behind: (n: number) => `${n} behind`,
    lag: 'Lag', cut: 'Cut', resume: 'Resume', restart: 'Restart', add: 'Add a server', rebuilt: 'The world was made again with another server and the same history. Undo goes back to the world before.',
    fine: 'up to date', isCut: 'cut off', lags: 'lags',
    addInformer: 'Informer', addPager: 'Paging reader', addController: 'Controller',
    name: 'Name', start: 'Start', rules: 'Rules', noClients: 'No clients have sent requests yet.',
    noFaults: 'No faults. Add one in the syntax of the Go API.',
    faultLine: 'New fault', addFault: 'Add', clear: 'Clear all',
    holds: (n: number) => `holds ${n}`, requests: (n: number) => many(n, 'request'),
    controllers: 'Controllers of the control plane', stepped: 'Stepped: one reconcile at a time',
    stepOne: 'Step', settle: 'Until they have settled',
    due: (key: string, when: string) => (when ? `${key} in ${when}` : key), about: 'Next work', idle: 'has no work',
    idleOnes: (n: number) => `${n} without work`, noControllers: 'None run in this world. Free play starts with all of them.',
    hold: 'Hold', release: 'Release', held: 'held', crash: 'Crash', next: 'Next page',
  },

  // Keyed as in actors/situations.ts.
  situations: {
    c: ['Conflict', 'Bob updates an object that Alice has changed since his read: 409.'],
    g: ['Gone', 'A watch reconnects after its revision has been compacted: 410.'],
    p: ['Pages', 'The store compacts the revision of a reader\'s continue token.'],
    l: ['Lag', 'Two servers, one of them lags: the same request has two answers.'],
    o: ['Owners', 'Two appliers want one field: the second is refused, and the error names the owner.'],
    a: ['Lost answer', 'A create is stored, its answer is lost, and the retry creates a second object.'],
    s: ['Stale read, then a write', 'A client reads from a server that lags, and its write is refused: 409.'],
    b: ['Bookmark', 'An idle watch gets a newer revision without an object.'],
  } as Record<string, [string, string]>,

  // Keyed by the levels of sim/lesson.Levels.
  levels: {
    start: 'First steps with kubectl', basics: 'Basics', reading: 'Reading and watching', deleting: 'Deleting and owning', errors: 'Errors', writing: 'Writing',
    extending: 'Extending', versions: 'Versions', operating: 'Operating', controllers: 'Controllers',
  } as Record<string, string>,

  map: {
    title: 'Map of the lessons',
    of: (done: number, all: number) => `${done} of ${all}`,
    solved: 'solved', open: 'available', later: 'a lesson that it builds on is not solved yet',
    buildsOn: (titles: string[]) => `builds on ${titles.map(title => `“${title}”`).join(', ')}`,
    leadsTo: (titles: string[]) => `leads to ${titles.map(title => `“${title}”`).join(', ')}`,
    write: 'Write a lesson',
  },

  builder: {
    title: 'Write a lesson',
    about: 'A lesson is one YAML file. While you type, the engine parses it, runs it with its own solutions, and reports errors with their lines.',
    guide: 'How to write one', manifest: 'The lesson, as YAML', preview: 'Preview', loading: 'One moment',
    wrong: (line: number, what: string) => (line ? `Line ${line}: ${what}` : what),
    solvable: (steps: number) => `It can be solved: its own solutions pass all of its ${many(steps, 'step')}.`,
    stuck: (step: number, why: string) => `Its own solution does not pass step ${step}: ${why}`,
    right: 'right', solution: 'Solution', hints: 'Hints',
    take: 'Take it', copy: 'Copy link', link: 'Link to this lesson', example: 'Start again with the example',
    stranger: 'This lesson came with a link. It is not part of kubesim, and its content has not been checked.',
    yours: 'This is the lesson that you are writing.', edit: 'Edit it', look: 'View its source',
  },

  keys: {
    title: 'Keys',
    single: 'Single-key shortcuts',
    list: [
      ['Space  k', 'play or pause'], [',  .', 'one frame back, forward'], ['Home  End', 'first, newest frame'],
      ['Shift .', 'next interesting frame'], ['Arrow keys', 'move between marks'], ['Enter', 'open a mark'],
      ['Ctrl Z', 'undo one operation'], ['Ctrl Shift Z', 'redo'], ['f', 'fork at the frame in view'],
      ['/  :', 'command line'], ['t', 'timeline as text'], ['x', 'revision or time on the axis'],
      ['g c o h a', 'console, objects, HTTP, actors (g first)'], ['s', 'situations'],
      ['Esc', 'close, or leave a field'], ['?', 'this list'],
    ] as [string, string][],
    close: 'Close',
  },
}

/** english are all texts of the page. */
export const english = { ...first, ...more }

/** Text is the type of all texts of a language. */
export type Text = typeof english
