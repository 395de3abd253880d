// Every text of the page in English. text.zh-CN.ts has the same in Chinese, and the texts of the lessons, which are in
// sim/lesson/data; text.ts is the language that was chosen. What the server and commands answer is English everywhere.

// many is a number of things.
const many = (n: number, one: string, more = `${one}s`) => `${n} ${n === 1 ? one : more}`

export const english = {
  title: 'kubesim',
  page: 'kubesim: the Kubernetes API server, in this page',
  tagline: 'The Kubernetes API server, in this page',
  whole: 'Open in a page of its own',
  skipToCommand: 'Skip to the command line',

  engine: {
    loading: 'Loading the server',
    recorded: 'A recording plays while the server loads',
    ready: (version: string) => `${version}, in this page`,
    missing: 'This page was built without an engine. Run `make wasm`, then `make web`.',
    stoppedTitle: 'The simulator stopped',
    stopped: 'Your operations are kept. Restart replays them to where you were.',
    restart: 'Restart and replay',
    restartWithout: 'Restart without the last operation',
    noCEL: (why: string) => `This needs CEL, and the larger engine that has it could not be loaded (${why}). Nothing was done; the world goes on.`,
    none: 'this page was built without an engine: run `make wasm`, then build again',
    noFile: (status: number, file: string) => `${file} could not be loaded: ${status}`,
    broken: (why: string) => `the engine could not be loaded: ${why}`, noUnpacker: 'the worker that unpacks the engine failed',
    noSchema: (minor: string) => `this page has no schema data for Kubernetes ${minor}`,
    lacks: (needs: string) => `the simulator needs ${needs}, and this page does not have it`,
    notYet: 'the simulator is not loaded yet',
    dead: 'the simulator stopped',
    protocol: (theirs: number, ours: number) => `the engine speaks protocol ${theirs}, this page ${ours}: reload the page`,
    mismatch: 'The recording and the live server differ. That is a bug: please report this link.',
  },

  head: {
    lessons: 'Lessons',
    share: 'Share',
    theme: 'Theme',
    language: 'Language',
    themes: { auto: 'Auto', light: 'Light', dark: 'Dark' },
    keys: 'Keys',
    sandbox: 'Free play',
  },

  opener: {
    what: 'The Kubernetes API server, as a program in this page',
    why: 'See what happens between a request and a watch: revisions, late caches, conflicts, 410. Every step can be stopped, '
      + 'taken back and shared as a link, so that bugs of controllers that take weeks to show up happen here in ten seconds.',
    checked: (steps: number) => `Compared with a real kube-apiserver v1.36: ${steps.toLocaleString('en')} recorded steps.`,
    story: 'A controller that makes the same pod twice', wait: 'One moment: the server is on its way.',
    captions: {} as Record<string, string>, // by the comments of wasm/opener.txtar, which are English themselves
    begin: 'Start a lesson', source: 'Source', docs: 'Documentation',
  },

  timeline: {
    title: 'Timeline',
    interesting: 'Next interesting frame',
    axis: 'Axis',
    revision: 'Revision',
    time: 'Time',
    summary: (lanes: number, marks: number, rv: string) =>
      `${many(lanes, 'lane')}, ${many(marks, 'mark')}, store at revision ${rv}. Arrow keys move between marks, Enter opens one.`,
    start: 'First frame',
    back: 'One frame back',
    play: 'Play',
    pause: 'Pause',
    forward: 'One frame forward; at the end, outside of lessons, to the next thing that happens',
    end: 'Newest frame',
    speed: 'Speed',
    scrub: 'Frame in view',
    past: (n: number, last: number) => `Frame ${n} of ${last}. The world itself stands at the end.`,
    fork: 'Fork here',
    undo: 'Undo',
    redo: 'Redo',
    branch: 'Branch',
    knows: (rv: string) => `up to ${rv}`,
    behind: (n: number) => `${n} behind`,
    replica: (name: string) => `server ${name}`,
    watch: (name: string) => `watch ${name}`,
    client: (name: string) => name,
    closed: 'closed',
    expired: 'resume gets 410',
    compacted: (rv: number) => `forgotten up to ${rv}`,
    draw: 'Draw the curtain: the store forgets what is behind it', nothingForgotten: 'nothing is forgotten',
    token: (rv: string) => `continue token at ${rv}`,
    tokenExpired: (rv: string) => `continue token at ${rv}: expired, its next page is 410`,
    empty: 'Nothing has happened yet.',
    words: (lane: string) => `What can be done to ${lane}`,
    quiet: (n: number) => many(n, 'quiet controller'), fold: 'Fold quiet controllers away',
    next: (when: string) => `next timer in ${when}`,
    log: 'As text',
    logHint: 'The timeline as a list, oldest first.',
    now: 'world clock',
    at: 'revision',
  },

  kinds: {
    'http.req': 'request', 'http.res': 'answer',
    'store.commit': 'commit', 'store.compact': 'history forgotten',
    'cache.apply': 'cache applied', reconcile: 'reconcile',
    'watch.event': 'event', 'watch.bookmark': 'bookmark', 'watch.close': 'watch ended',
    'clock.tick': 'time passed', fault: 'fault',
    'check.pass': 'step passed', 'check.fail': 'check failed',
  } as Record<string, string>,

  tabs: { console: 'Console', objects: 'Objects', http: 'Raw HTTP', actors: 'Actors', log: 'As text' },

  served: {
    title: 'The cluster that is served', ready: (version: string) => `${version}, served`, own: 'A world of your own, in this page',
    about: 'What happens in it is shown as it happens, whoever asks: kubectl, a controller, this page. Its time is real, and nothing can be taken back.',
  },

  console: {
    label: 'Command line',
    placeholder: 'get configmaps',
    notKubectl: 'Words you know from kubectl, but not kubectl: each line shows the HTTP it sends.',
    run: 'Run',
    enter: 'Enter runs it. Tab goes as far as is certain, Down chooses a completion, Up goes back in the history.',
    past: 'You are looking at the past. A command runs at the end; fork to act from here.',
    waiting: 'waits for its answer',
    empty: 'Type a command, or choose one:',
    here: 'What you run, and what comes of it, is written here.',
    starters: ['create configmap a', 'get configmaps', 'watch configmaps --name w', 'help'],
    example: 'for example',
    undone: 'undone', earlier: (n: number) => (n === 1 ? 'Show one earlier line' : `Show ${n} earlier lines`), later: (n: number) => (n === 1 ? 'One later line is not shown.' : `${n} later lines are not shown.`),
    answer: 'Answer',
    request: 'Request', headersOf: 'headers', body: 'body',
    formats: { table: 'Table', json: 'JSON', yaml: 'YAML', protobuf: 'Protobuf', headers: 'Headers' },
    noTable: 'This answer is not a table.',
    owners: 'Who owns which field',
    token: 'Continue token',
    tokenAt: (start: string, rv: string) => `goes on after ${start} at revision ${rv}`,
    tokenForgotten: (start: string, rv: string) => `goes on after ${start} at revision ${rv}, which the store has forgotten: 410`,
    tokenNow: (start: string) => `goes on after ${start} at the newest revision: no longer the moment that the list began with`,
    candidates: (n: number) => many(n, 'completion'),
  },

  http: {
    method: 'Method', path: 'Path', headers: 'Headers, one per line', body: 'Body', send: 'Send',
    accept: 'Ask for', client: 'As client', replica: 'Through server',
    formats: { json: 'JSON', yaml: 'YAML', protobuf: 'Protobuf', table: 'Table' },
  },

  inspector: {
    title: 'Detail',
    none: 'Choose a mark on the timeline, or a row, to see it in full.',
    close: 'Close',
    why: 'Why',
    effects: 'What it caused',
    noCause: 'Nothing in the simulator caused this: it came from outside.',
    waiting: 'No answer yet.',
    noBody: 'No body.',
    goTo: 'Look at this moment',
  },

  objects: {
    resource: 'Resource', namespace: 'Namespace', all: 'All namespaces',
    none: (what: string) => `No ${what} at this revision.`,
    edit: 'Edit', owners: 'Owners', diff: 'Compare', wire: 'Protobuf', skew: 'Servers',
    oneServer: 'There is one server. Add another under Actors to see what each of them has.', alike: 'Both servers have the same.',
    notServed: 'does not serve it', absent: 'does not have it', view: 'View',
    newObject: 'New', from: 'From revision', to: 'To revision',
    same: 'The two revisions hold the same text.',
    at: (rv: string) => `as of revision ${rv}`,
    create: 'Create', replace: 'Replace', apply: 'Apply', check: 'Check',
    checked: 'The server would accept this.', sent: 'The server took it.', refused: 'This was refused.',
    changed: (from: string, to: string) => `Your draft is based on revision ${from}; the object is at ${to} now.`,
    discard: 'Discard the draft',
    first: (shown: number, all: number) => `The first ${shown} of ${all}.`,
    remove: 'Delete',
    editor: 'Manifest',
    escape: 'Esc, then Tab, leaves the editor. Ctrl+Enter sends it.',
    manager: 'Manager', operation: 'How', fields: 'Fields', time: 'When',
    force: 'A conflict has three ways out: take the field (--force), drop it from your manifest, or use their value.',
    offset: 'Offset', field: 'Field', wireType: 'Wire', value: 'Value',
  },

  actors: {
    before: 'As things were at the frame in view. What you do here is done at the end.',
    replicas: 'API servers', clients: 'Clients', faults: 'Faults', situations: 'Situations',
    situationsHint: 'One key each. They run ordinary commands, which you can undo.',
    version: 'Version', applied: 'Knows', state: 'State', behind: (n: number) => `${n} behind`,
    lag: 'Lag', cut: 'Cut', resume: 'Resume', restart: 'Restart', add: 'Add a server',
    fine: 'up to date', isCut: 'cut off', lags: 'lags',
    addInformer: 'Informer', addPager: 'Paging reader', addController: 'Controller',
    name: 'Name', start: 'Start', rules: 'Rules', noClients: 'No clients have called yet.',
    noFaults: 'No faults. Add one in the words the Go API uses.',
    faultLine: 'New fault', addFault: 'Add', clear: 'Clear all',
    holds: (n: number) => `holds ${n}`, requests: (n: number) => many(n, 'request'),
    controllers: 'Controllers of the control plane', stepped: 'They wait: one thing at a time',
    stepOne: 'Step', settle: 'Until they have settled',
    due: (key: string, when: string) => (when ? `${key} in ${when}` : key), more: (n: number) => `and ${n} more`, about: 'Is about to do', idle: 'has nothing to do',
    idleOnes: (n: number) => `${n} with nothing to do`, noControllers: 'None run in this world. Free play begins with all of them.',
    hold: 'Hold', release: 'Release', held: 'held', crash: 'Crash', next: 'Next page',
  },

  // What the engine says that lanes and actors are doing; in English, its own words.
  states: {} as Record<string, string>,

  // By their keys: actors/situations.ts.
  situations: {
    c: ['Conflict', 'Bob writes what he read before Alice wrote: 409.'],
    g: ['Gone', 'A watch comes back after the history it needs is forgotten: 410.'],
    p: ['Pages', 'A reader holds a continue token while the store forgets its revision.'],
    l: ['Lag', 'Two servers, one of them behind: the same question has two answers.'],
    o: ['Owners', 'Two appliers want one field: the second is refused, and told who owns it.'],
    b: ['Bookmark', 'An idle watch learns how far history went without getting an object.'],
  } as Record<string, [string, string]>,

  // By their ids: sim/lesson.Levels.
  levels: {
    basics: 'Basics', reading: 'Reading and watching', deleting: 'Deleting and owning', errors: 'Errors', writing: 'Writing',
    extending: 'Extending', versions: 'Versions', operating: 'Operating', controllers: 'Controllers',
  } as Record<string, string>,

  map: {
    title: 'Map of the lessons',
    of: (done: number, all: number) => `${done} of ${all}`,
    solved: 'solved', open: 'open to you', later: 'something that it builds on is not solved yet',
    buildsOn: (titles: string[]) => `builds on ${titles.map(title => `“${title}”`).join(', ')}`,
    leadsTo: (titles: string[]) => `leads to ${titles.map(title => `“${title}”`).join(', ')}`,
    write: 'Write a lesson',
  },

  builder: {
    title: 'Write a lesson',
    about: 'A lesson is one YAML file. While you type, the engine reads it, takes it with its own solutions, and says what is wrong in which line.',
    guide: 'How to write one', manifest: 'The lesson, as YAML', preview: 'What a learner sees', loading: 'One moment',
    wrong: (line: number, what: string) => (line ? `Line ${line}: ${what}` : what),
    solvable: (steps: number) => `It can be solved: its own solutions pass all of its ${many(steps, 'step')}.`,
    stuck: (step: number, why: string) => `Its own solution does not pass step ${step}: ${why}`,
    right: 'right', solution: 'Solution', hints: 'Hints',
    take: 'Take it', copy: 'Copy link', link: 'Link to this lesson', example: 'Begin with the example again',
    stranger: 'This lesson came with a link. Somebody wrote it who is not of kubesim, and nobody has checked what it says.',
    yours: 'This is the lesson that you are writing.', edit: 'Edit it', look: 'Look at how it is made',
  },

  lessons: {
    title: 'Lessons', minutes: (n: number) => `${n} min`, steps: (n: number) => many(n, 'step'),
    start: 'Start', done: 'done', close: 'Close',
    step: (i: number, n: number) => `Step ${i} of ${n}`,
    predict: 'Before you run it', commit: 'That is my answer', right: 'Right.', wrong: 'Not so. Now see why.',
    hint: 'Hint', solve: 'Show me', next: 'Next lesson', finished: 'Lesson finished',
    golf: (yours: number, par: number) => (yours <= par ? `${many(yours, 'request')}: no shorter way is known` : `${many(yours, 'request')}; it can be done with ${par}`),
    before: 'The lesson as it was at the frame in view.',
    arrived: (i: number, n: number, said: string) => `Step ${i} of ${n}. ${said.replaceAll('`', '')}`,
    unasked: 'This was not asked for:',
    broken: 'The lesson cannot be finished from here.',
    inTheWay: (step: number) => `is in the way of step ${step}:`,
    effects: {
      created: (of: string) => `created ${of}`, changed: (of: string) => `changed ${of}`, deleted: (of: string) => `deleted ${of}`,
      watch: (of: string) => `began the watch ${of}`, time: (of: string) => `let time pass: ${of}`, did: () => 'changed the world',
    },
    undo: 'Undo that', undoTo: (n: number) => `Undo the last ${n}`, restartStep: 'Restart this step', restart: 'Restart this lesson',
    free: 'Everything is yours: servers, clock, clients, faults. Nothing you do here can break anything.',
    progress: (done: number, all: number) => `${done} of ${all} lessons done`,
    reset: 'Forget progress', needsCel: 'larger engine',
    tryIt: 'Put this in the command line', others: 'Others act:',
  },

  share: {
    title: 'Keep or share this world',
    about: 'The link holds the seed and every operation; whoever opens it sees the same bytes.',
    copy: 'Copy link', copied: 'Copied', size: (n: number) => many(n, 'character'),
    long: 'This link is long; some programs cut it. A file is safer.',
    embed: 'For an article: an iframe with the last line to run',
    file: 'Save as scenario (.txtar)', load: 'Open a scenario', badLink: 'This link could not be read', refused: 'This world could not be made',
    hash: 'Hash of everything that happened, the same on every machine:',
    badFile: 'This file could not be run', tooLarge: (bytes: number, most: number) => `${many(bytes, 'byte')}, and ${most} are the most`,
    faults: {
      version: (version: string) => `this page reads links of version v1, and this is "${version}"`,
      damaged: 'the link is cut or damaged',
      large: (most: number) => `the link holds more than ${many(most, 'byte')}`,
      world: 'the link does not hold a world', log: 'the log of the link is not a list',
      long: (most: number) => `the link holds more than ${many(most, 'operation')}`,
      line: (n: number) => `operation ${n} of the link has no line`,
    },
    otherEngine: 'This link was made with another version of the server: it is replayed with this one.', goTest: 'The file also runs with `kubesim run` and in go test.',
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

  offline: 'A new version is here. Reload when you like; the link keeps your log.',
}

/** Text is what another language has to have. */
export type Text = typeof english
