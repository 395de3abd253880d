// The English texts of the first screen. text.more.en.ts has the others. text.zh-CN.ts has all texts in Chinese, including those of the
// lessons, which are in sim/lesson/data. text.ts has the texts of the chosen language. The output of the server and of commands is English
// in every language.

// many returns a number with a noun in the right form.
export const many = (n: number, one: string, more = `${one}s`) => `${n} ${n === 1 ? one : more}`

export const first = {
  title: 'kubesim',
  page: 'kubesim: the Kubernetes API server, in this page',
  tagline: 'The Kubernetes API server, in this page',
  whole: 'Open in its own page',
  skipToCommand: 'Skip to the command line',

  engine: {
    loading: 'Loading the server',
    recorded: 'A recording plays while the server loads',
    ready: (version: string) => `${version}, in this page`,
    missing: 'This page was built without an engine. Run `make wasm`, then `make web`.',
    stoppedTitle: 'The simulator stopped',
    stopped: 'Your operations are kept. Restart replays all of them.',
    restart: 'Restart and replay',
    restartWithout: 'Restart without the last operation',
    noCEL: (why: string) => `This needs CEL, and the larger engine that has it could not be loaded (${why}). The operation was not executed; the world is unchanged.`,
    noFile: (status: number, file: string) => `${file} could not be loaded: ${status}`,
    broken: (why: string) => `the engine could not be loaded: ${why}`, noUnpacker: 'the worker that unpacks the engine failed',
    noSchema: (minor: string) => `this page has no schema data for Kubernetes ${minor}`,
    lacks: (needs: string) => `the simulator needs ${needs}, and this page does not have it`,
    notYet: 'the simulator is not loaded yet',
    dead: 'the simulator stopped', interrupted: 'stopped; the line had no effect', worker: 'the worker failed', ended: 'the program ended', silent: 'the API server does not answer',
    protocol: (theirs: number, ours: number) => `the engine has protocol version ${theirs}, this page ${ours}: reload the page`,
    mismatch: 'The recording and the live server differ. That is a bug: please report this link.',
  },

  head: {
    lessons: 'Lessons', stories: 'Bugs',
    share: 'Share',
    theme: 'Theme',
    language: 'Language',
    themes: { auto: 'Auto', light: 'Light', dark: 'Dark' },
    keys: 'Keys',
    sandbox: 'Free play',
  },

  opener: {
    what: 'The Kubernetes API server, as a program in this page',
    why: 'See the steps between a request and a watch: revisions, stale caches, conflicts, 410. You can stop at every step, undo it '
      + 'and share it as a link. Bugs of controllers that appear once in weeks are reproduced here in ten seconds.',
    checked: (steps: number, minor: string) => `Compared with a real kube-apiserver v${minor}: ${steps.toLocaleString('en')} recorded steps.`,
    story: 'A controller that creates the same pod twice', wait: 'One moment: the server is loading.',
    captions: {} as Record<string, string>, // keyed by the comments of wasm/opener.txtar, which are the English captions
    begin: 'Start a lesson', source: 'Source', docs: 'Documentation',
  },

  timeline: {
    title: 'Timeline', height: 'Height of the timeline',
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
    forward: 'One frame forward; at the end, outside of lessons, to the next timer',
    end: 'Newest frame',
    speed: 'Speed',
    scrub: 'Frame in view',
    past: (n: number, last: number) => `Frame ${n} of ${last}. Commands run at the newest frame.`,
    fork: 'Fork here',
    undo: 'Undo',
    redo: 'Redo',
    branch: 'Branch',
    knows: (rv: string) => `up to ${rv}`,
    behind: (n: number) => `${n} behind`,
    store: 'store', replica: (name: string) => `server ${name}`,
    watch: (name: string) => `watch ${name}`,
    client: (name: string) => name,
    closed: 'closed',
    expired: 'resume gets 410',
    compacted: (rv: number) => `compacted up to ${rv}`,
    draw: 'Drag to compact the store up to a revision', nothingForgotten: 'nothing is compacted',
    token: (rv: string) => `continue token at ${rv}`,
    tokenExpired: (rv: string) => `continue token at ${rv}: expired, its next page is 410`,
    empty: 'Nothing has happened yet.',
    words: (lane: string) => `Commands for ${lane}`,
    quiet: (n: number) => many(n, 'quiet controller'), fold: 'Hide quiet controllers',
    next: (when: string) => `next timer in ${when}`,
    log: 'As text',
    logHint: 'The timeline as a list, oldest first.',
    now: 'world clock', go: 'Let the clock run', stand: 'Stop the clock', second: 'Let one second pass',
    settled: 'Let time pass until controllers have no work left', untilSettled: 'settle',
    at: 'revision',
  },

  kinds: {
    'http.req': 'request', 'http.res': 'answer',
    'store.commit': 'commit', 'store.compact': 'history compacted',
    'cache.apply': 'cache applied', reconcile: 'reconcile',
    'watch.event': 'event', 'watch.bookmark': 'bookmark', 'watch.close': 'watch ended',
    'clock.tick': 'time passed', fault: 'fault',
    'check.pass': 'step passed', 'check.fail': 'check failed',
  } as Record<string, string>,

  tabs: { console: 'Console', objects: 'Objects', http: 'Raw HTTP', actors: 'Actors', log: 'As text' },

  served: {
    title: 'The served cluster', own: 'Your own world, in this page',
    ready: (version: string, user: string) => (user ? `${version}, served, as ${user}` : `${version}, served`),
    asks: 'This cluster requires a token', another: 'Another token',
    about: 'The page shows all events of the cluster, caused by kubectl, a controller or this page. Its time is real, and operations cannot be undone.',
  },

  console: {
    label: 'Command line',
    placeholder: 'kubectl get pods',
    notKubectl: 'kubectl and curl work here. help lists all commands.',
    run: 'Run',
    enter: 'Enter runs it. Tab completes it, Down chooses a completion, Up goes back in the history.',
    past: 'Commands run at the newest frame; fork to continue from here.',
    waiting: 'waits for its answer', running: 'Running', stop: 'Stop', nodeless: 'This world has no nodes, so no pod runs.', nodes: 'A cluster with nodes', watching: 'Changes appear under later lines. Ctrl+C ends this.', edits: 'opened in the editor',
    due: (things: number, when: string) => `${things === 1 ? 'One thing is' : `${things} things are`} due in ${when}. Time stands still:`,
    empty: 'Type a command, or choose one:',
    here: 'Your commands and their answers appear here.',
    starters: ['kubectl run web --image=nginx', 'kubectl get pods', 'create configmap a', 'watch configmaps --name w', 'help'],
    example: 'for example',
    undone: 'undone', earlier: (n: number) => (n === 1 ? 'Show one earlier line' : `Show ${n} earlier lines`), later: (n: number) => (n === 1 ? 'One later line is not shown.' : `${n} later lines are not shown.`),
    answer: 'Answer',
    request: 'Request', headersOf: 'headers', body: 'body',
    formats: { table: 'Table', json: 'JSON', yaml: 'YAML', protobuf: 'Protobuf', headers: 'Headers' },
    noTable: 'This answer is not a table.',
    owners: 'Owners of fields',
    token: 'Continue token',
    tokenAt: (start: string, rv: string) => `continues after ${start} at revision ${rv}`,
    tokenForgotten: (start: string, rv: string) => `continues after ${start} at revision ${rv}, which the store has compacted: 410`,
    tokenNow: (start: string) => `continues after ${start} at the newest revision, not at the revision of the first page`,
    candidates: (n: number) => many(n, 'completion'), more: (n: number) => `and ${n} more`,
  },

  inspector: {
    title: 'Detail',
    none: 'Choose a mark on the timeline, or a row, to see its details.',
    close: 'Close',
    why: 'Why',
    effects: 'Effects',
    noCause: 'This was not caused by the simulator: it came from outside.',
    waiting: 'No answer yet.',
    noBody: 'No body.',
    goTo: 'Go to this frame',
  },

  // The states of lanes and actors, keyed by the engine's English names.
  states: {} as Record<string, string>,
  // Translations of the engine's sentences: help, completions, errors and reasons.
  said: (sentence: string) => sentence,
  framed: (sentence: string) => sentence,

  lessons: {
    title: 'Lessons', minutes: (n: number) => `${n} min`, steps: (n: number) => many(n, 'step'),
    start: 'Start', done: 'done', close: 'Close',
    step: (i: number, n: number) => `Step ${i} of ${n}`,
    predict: 'Your prediction', commit: 'Submit my answer', right: 'Right.', wrong: 'Not right. Now see why.',
    hint: 'Hint', solve: 'Show me', next: 'Next lesson', finished: 'Lesson finished',
    golf: (yours: number, par: number, solution: number) => `${many(yours, 'request')}${yours <= par ? ': the known minimum'
      : yours < solution ? `, fewer than the lesson's own solution (${solution})` : yours === solution ? ", as in the lesson's own solution"
        : `; the lesson's own solution sends ${solution}`}`,
    before: 'The lesson as it was at the frame in view.',
    arrived: (i: number, n: number, said: string) => `Step ${i} of ${n}. ${said.replaceAll('`', '')}`,
    unasked: 'The step did not require this:',
    broken: (step: number) => `The lesson's own solution no longer works at step ${step}.`,
    assumes: (step: number) => `Assumed by the text of step ${step}:`, since: 'It worked until you ran', otherWay: 'Any other way is fine. The step is passed when:',
    effects: {
      created: (of: string) => `created ${of}`, changed: (of: string) => `changed ${of}`, deleted: (of: string) => `deleted ${of}`,
      watch: (of: string) => `started the watch ${of}`, time: (of: string) => `let time pass: ${of}`, did: () => 'changed the world',
    },
    undo: 'Undo that', undoTo: (n: number) => `Undo the last ${n}`, restartStep: 'Restart this step', restart: 'Restart this lesson',
    free: 'You control servers, clock, clients and faults, and can undo everything.',
    progress: (done: number, all: number) => `${done} of ${all} lessons done`,
    reset: 'Reset progress', reallyReset: 'Really forget all progress?', needsCel: 'larger engine',
    tryIt: 'Put this in the command line', others: 'Other users:',
  },

  share: {
    badLink: 'This link could not be read', refused: 'This world could not be created',
    faults: {
      version: (version: string) => `this page reads links of version v1, and this is "${version}"`,
      damaged: 'the link is incomplete or damaged',
      large: (most: number) => `the link has more than ${many(most, 'byte')}`,
      world: 'the link does not contain a world', log: 'the log of the link is not a list',
      long: (most: number) => `the link has more than ${many(most, 'operation')}`,
      line: (n: number) => `operation ${n} of the link has no line`,
    },
    otherEngine: 'This link was created with another version of the server: it is replayed with this one.',
  },

  offline: 'A new version is available. Reload at any time; the link contains your log.',
}
