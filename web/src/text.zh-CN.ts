// All texts of the page in Chinese, and those of the lessons: a chunk that is loaded when Chinese is chosen.
import type { Text } from './text.more.en'
import { translator } from './text.shapes'
import { said } from './text.zh-CN.engine'

// Translations of the engine's words in the texts of frames. Verbs, resources, reasons and output of the server are not translated.
const framed: [RegExp, string][] = [
  [/^replica (\d+) knows revision (\d+)$/, '服务器 $1 知道修订版本 $2'], [/^revisions before (\d+) are forgotten$/, '修订版本 $1 之前的历史已被忘记'],
  [/ reads (.+) at (\d+), /, '：读取位于 $2 的 $1，'], [/writes nothing$/, '没有写入'], [/writes (\d+)$/, '写入 $1 次'], [/fails: /, '失败：'],
  [/^(\d\d\d [\w ]+), watch (\S+)$/, '$1，监视 $2'], [/, (\d+) items?: /, '，$1 个对象：'], [/, 0 items/, '，0 个对象'], [/, (\d+) bytes of /, '，$1 字节 '],
  [/ \(with a token to go on with\)$/, '（附有继续的令牌）'], [/^an event of (\d+) bytes$/, '一个 $1 字节的事件'], [/; (\d*) ?more to come$/, '；后面还有 $1'],
  [/^left behind$/, '被留下'], [/^ended by the server$/, '被服务器结束'], [/^the connection broke$/, '连接断了'], [/^stopped by its client$/, '被客户端停止'],
]

const files = import.meta.glob<string>('../../sim/lesson/data/*/lesson.zh-CN.yaml', { query: '?raw', import: 'default', eager: true })

/** lessons are the texts of the lessons by id. */
export const lessons: Record<string, string> = Object.fromEntries(
  Object.entries(files).map(([path, content]) => [path.split('/').at(-2) ?? '', content]),
)

export const words: Text = {
  title: 'kubesim',
  page: 'kubesim：网页里的 Kubernetes API 服务器',
  tagline: '就在这个网页里运行的 Kubernetes API 服务器',
  whole: '在单独的网页里打开',
  skipToCommand: '跳到命令行',

  engine: {
    loading: '正在加载服务器',
    recorded: '服务器加载期间，正在播放一段录像',
    ready: version => `${version}，就在这个网页里`,
    missing: '这个网页构建时没有带上引擎。请先运行 `make wasm`，再运行 `make web`。',
    stoppedTitle: '模拟器停止了',
    stopped: '你的操作都保留着。重新启动会把它们重放到你刚才的位置。',
    restart: '重新启动并重放',
    restartWithout: '去掉最后一步操作再启动',
    noCEL: why => `这一步需要 CEL，而带有 CEL 的大引擎没能加载（${why}）。操作没有执行，世界没有改变。`,
    noFile: (status, file) => `无法加载 ${file}：${status}`,
    broken: why => `引擎无法加载：${why}`, noUnpacker: '负责解包引擎的 worker 失败了',
    noSchema: minor => `这个网页没有 Kubernetes ${minor} 的模式数据`,
    lacks: needs => `模拟器需要 ${needs}，而这个网页没有`,
    notYet: '模拟器还没有加载完',
    interrupted: '已停止；这一行没有任何效果', dead: '模拟器停止了', worker: 'worker 失败了', ended: '程序结束了', silent: 'API 服务器没有应答',
    protocol: (theirs, ours) => `引擎使用的协议版本是 ${theirs}，网页使用的是 ${ours}：请重新加载网页`,
    mismatch: '录像与实际运行的服务器不一致。这是一个缺陷：请带上这个链接反馈给我们。',
  },

  head: {
    lessons: '课程', stories: '缺陷',
    share: '分享',
    theme: '主题',
    language: '语言',
    themes: { auto: '自动', light: '浅色', dark: '深色' },
    keys: '快捷键',
    sandbox: '自由练习',
  },

  opener: {
    what: '作为一个程序在这个网页里运行的 Kubernetes API 服务器',
    why: '看清一个请求和一个 watch 之间发生的事：修订版本、滞后的缓存、冲突、410。每一步都可以停下、撤回，也可以作为链接分享；'
      + '控制器里要等上几个星期才会出现的缺陷，在这里十秒钟就能重现。',
    checked: (steps, minor) => `与真实的 kube-apiserver v${minor} 逐一比对：共 ${steps.toLocaleString('zh-CN')} 步录制的请求。`,
    story: '一个把同一个 Pod 创建了两次的控制器', wait: '请稍候：正在加载服务器。',
    captions: {
      'A controller has one rule: an app gets one pod. Like every controller it reads its cache, not the store.':
        '一个控制器只有一条规则：每个应用有一个 Pod。和所有控制器一样，它看的是自己的缓存，而不是存储。',
      'The server\'s cache of pods lags. No client notices.':
        '服务器的 Pod 缓存滞后了。没有客户端注意到。',
      'Alice creates the app shop. The controller sees no pod, and creates one.':
        'Alice 创建了应用 shop。控制器没看到 Pod，于是创建了一个。',
      'Alice changes shop. The controller reconciles again, and still sees no pod: it creates another one.':
        'Alice 修改了 shop。控制器又看了一次，还是没看到 Pod：它又创建了一个。',
      'Only now the cache has both pods. The rule was right, all requests were right, but shop has two pods.':
        '直到这时，缓存才得知这两个 Pod。规则没有错，每个请求也都没有错，可 shop 有了两个 Pod。',
    },
    begin: '开始学习', source: '源代码', docs: '文档',
  },

  story: {
    title: '真实发生过的缺陷', gallery: '每一个都有人在真实的控制器或服务器上报告过。点一下就连同解说重放；可以停下、撤销、改动。',
    patterns: '避免它们的模式', aboutPatterns: '每个控制器在仓库里都有一个带错误的版本、一个不带的版本，以及找出区别的测试。',
    seen: '真实发生过的缺陷', untitled: '一个剧本', mend: '你会怎样修好它？', think: lesson => `先想一想，再试试课程《${lesson}》`,
    before: '上一段', after: '下一段', part: (n, all) => `第 ${n} 段，共 ${all} 段`,
    pause: '暂停', tell: '继续', again: '再来一遍',
    ask: '怎样才能避免第二个 Pod？',
    options: ['更快的缓存', '由应用得出 Pod 的名称', '创建之前再读一次 Pod'],
    right: '对：不管缓存多旧，第二次创建都会被 409 拒绝。',
    wrong: ['那只会让它少发生一些。写入与它的事件之间总有一段时间。', '在那次读取与创建之间，还可能有别的修改。'],
    lesson: '在课程《把事情做了两遍的控制器》里试试',
  },

  timeline: {
    title: '时间线', height: '时间线的高度',
    interesting: '下一个值得看的帧',
    axis: '坐标轴',
    revision: '修订版本',
    time: '时间',
    summary: (lanes, marks, rv) => `${lanes} 条泳道，${marks} 个标记，存储位于修订版本 ${rv}。用方向键在标记之间移动，按 Enter 打开。`,
    start: '第一帧',
    back: '后退一帧',
    play: '播放',
    pause: '暂停',
    forward: '前进一帧；到了末尾且不在课程里时，前进到下一件会发生的事',
    end: '最新一帧',
    speed: '速度',
    scrub: '正在查看的帧',
    past: (n, last) => `第 ${n} 帧，共 ${last} 帧。命令会在最新一帧运行。`,
    fork: '从这里分叉',
    undo: '撤销',
    redo: '重做',
    branch: '分支',
    knows: rv => `已知到 ${rv}`,
    behind: n => `落后 ${n} 个修订版本`,
    store: '存储', replica: name => `服务器 ${name}`,
    watch: name => `watch ${name}`,
    client: name => name,
    closed: '已关闭',
    expired: '续接会得到 410',
    compacted: rv => `${rv} 及以前的历史已被压缩`,
    draw: '拖动它，把存储压缩到某个修订版本', nothingForgotten: '什么都没有被压缩',
    token: rv => `位于 ${rv} 的 continue 令牌`,
    tokenExpired: rv => `位于 ${rv} 的 continue 令牌：已过期，下一页会得到 410`,
    empty: '还什么都没有发生。',
    words: lane => `用于 ${lane} 的命令`,
    quiet: n => `${n} 个空闲的控制器`, fold: '收起空闲的控制器',
    next: when => `下一个定时器：${when} 后`,
    log: '文字形式',
    logHint: '以列表形式呈现的时间线，最早的在最前面。',
    now: '世界时钟', go: '让时钟走动', stand: '停住时钟', second: '过去一秒', settled: '让时间流逝，直到控制器没有事可做', untilSettled: '到稳定',
    at: '修订版本',
  },

  kinds: {
    'http.req': '请求', 'http.res': '应答',
    'store.commit': '提交', 'store.compact': '历史被压缩',
    'cache.apply': '缓存已更新', reconcile: '协调',
    'watch.event': '事件', 'watch.bookmark': '书签', 'watch.close': 'watch 结束',
    'clock.tick': '时间流逝', fault: '故障',
    'check.pass': '步骤通过', 'check.fail': '检查未通过',
  },

  tabs: { console: '控制台', objects: '对象', http: '原始 HTTP', actors: '参与者', log: '文字形式' },

  served: {
    title: '正在提供服务的集群', own: '你自己的世界，就在这个网页里',
    ready: (version, user) => (user ? `${version}，正在提供服务，身份是 ${user}` : `${version}，正在提供服务`),
    asks: '这个集群需要令牌', another: '换一个令牌',
    about: '无论谁发来请求——kubectl、控制器还是这个网页——集群里发生的事都会立刻显示出来。它的时间是真实的，什么都不能撤回。',
  },

  console: {
    label: '命令行',
    placeholder: 'kubectl get pods',
    notKubectl: '可用 kubectl 和 curl；help 列出所有命令。',
    run: '运行',
    enter: 'Enter 运行。Tab 补全，向下键选择，向上键翻看历史。',
    past: '命令会在末尾运行；想从这里开始，请先分叉。',
    waiting: '正在等待应答', running: '正在运行', stop: '停止', nodeless: '这里没有节点，pod 不会运行。', nodes: '有节点的集群', watching: '以后的变化出现在后面各行之下。Ctrl+C 结束它。', edits: '已在编辑器中打开',
    due: (things, when) => `${when} 后有 ${things} 件事要发生。时间停着：`,
    empty: '输入一条命令，或者从下面选一条：',
    here: '你运行的命令和它的结果会写在这里。',
    starters: ['kubectl run web --image=nginx', 'kubectl get pods', 'create configmap a', 'watch configmaps --name w', 'help'],
    example: '例如',
    undone: '已撤销', earlier: n => `再显示前面的 ${n} 行`, later: n => `后面有 ${n} 行没有显示。`,
    answer: '应答',
    request: '请求', headersOf: '头部', body: '正文',
    formats: { table: '表格', json: 'JSON', yaml: 'YAML', protobuf: 'Protobuf', headers: '头部' },
    noTable: '这个应答不是表格。',
    owners: '哪个字段归谁管理',
    token: 'continue 令牌',
    tokenAt: (start, rv) => `在修订版本 ${rv} 上，从 ${start} 之后接着走`,
    tokenForgotten: (start, rv) => `在修订版本 ${rv} 上，从 ${start} 之后接着走，而存储已经压缩了这个修订版本：410`,
    tokenNow: start => `在最新的修订版本上，从 ${start} 之后接着走，而不是在第一页的修订版本上`,
    candidates: n => `${n} 个补全`, more: n => `还有 ${n} 个`,
  },

  changed: {
    more: n => `还有 ${n} 个字段`,
    lost: '更新丢失。', unread: (path, value, by) => `${by} 把 ${path} 设成了 ${value}，而这次修改的写入者没有读到过它。`,
    based: (base, now) => `基于修订版本 ${base}。对象当时位于修订版本 ${now}。`,
    legend: '时间线上的标记', mark: '更新丢失',
    by: name => `由 ${name}`, sentTo: server => `发往 ${server}`, answeredBy: server => `由 ${server} 应答`,
  },

  shell: { inside: '容器里的 shell。每一行都是单独的 shell：文件会留下，变量不会。用 exit 离开。', outside: 'shell 已经结束。' },

  sharing: {
    title: '保存或分享这个世界',
    about: '链接里装着种子和每一步操作；谁打开它，看到的都是一模一样的字节。',
    copy: '复制链接',
    copied: '已复制',
    size: n => `${n} 个字符`,
    long: '这个链接很长，有些程序会把它截断。用文件更稳妥。',
    embed: '用于文章：一个会运行最后一行命令的 iframe',
    file: '保存为情景文件（.txtar）',
    load: '打开情景文件，或集群的转储（kubectl get -A -o json、must-gather、Velero、etcd 等）',
    noLink: '这个世界太大，放不进链接：它包含导入的集群。',
    reading: name => `正在读取 ${name} …`,
    servedImport: '所服务的集群不导入文件：用 kubesim serve --import FILE 启动它，或用 ?own 打开页面',
    hash: '所有帧的哈希值，在每台机器上都相同：',
    badFile: '这个文件无法打开',
    tooLarge: (bytes, most) => `有 ${bytes} 个字节，最多允许 ${most} 个`,
    goTest: '这个文件也可以用  kubesim run  和在 go test 里运行。',
  },

  course: {
    title: '课程组', next: '课程组的下一课', make: '组一套课程', check: '核对学员的完成码',
    about: '课程组是按顺序排列的课程。学员打开链接，进度保存在其浏览器里。最后得到完成码，里面是学员运行过的命令行。',
    name1: '标题', add: '加一课', up: '上移', open: '打开课程组文件', save: '存为文件', link: '这套课程的链接', copy: '复制', take: '开始学',
    progress: (done, all) => `${all} 课中完成了 ${done} 课`, leave: '退出这套课程',
    finished: '全部完成了。写上你的名字，把完成码交给老师。', name: '你的名字', code: '完成码',
    paste: '把完成码粘贴到这里。其中的命令行会在这个网页里重新运行，不询问任何服务器。', noCode: '这不是课程组的完成码。',
    checking: '正在重新运行这些课程', solved: (done, all) => `${all} 课中解出了 ${done} 课`, unsolved: '没有解出',
    took: (requests, right, questions) => `已解出，${requests} 个请求，预测：${questions} 个中对了 ${right} 个`,
  },

  http: {
    method: '方法', path: '路径', headers: '头部，每行一个', body: '正文', send: '发送',
    accept: '希望得到', client: '以哪个客户端', replica: '经由哪台服务器',
    formats: { json: 'JSON', yaml: 'YAML', protobuf: 'Protobuf', table: '表格' },
  },

  inspector: {
    title: '详情',
    none: '选择时间线上的一个标记，或者一行，在这里查看全部内容。',
    close: '关闭',
    why: '原因',
    effects: '它引起了什么',
    noCause: '模拟器里没有什么引起它：它来自外部。',
    waiting: '还没有应答。',
    noBody: '没有正文。',
    goTo: '看看这一刻',
  },

  objects: {
    resource: '资源', namespace: '名字空间', all: '所有名字空间',
    none: what => `这个修订版本上没有 ${what}。`,
    edit: '编辑', owners: '字段管理者', diff: '比较', wire: 'Protobuf', skew: '各服务器',
    oneServer: '只有一台服务器。请在“参与者”里再加一台，以便查看每台服务器各有什么。', alike: '两台服务器的内容相同。',
    notServed: '不提供它', absent: '没有它', view: '查看方式',
    newObject: '新建', from: '从修订版本', to: '到修订版本',
    same: '这两个修订版本的文本相同。',
    at: rv => `修订版本 ${rv} 时的样子`,
    create: '创建', replace: '替换', apply: '应用', check: '检查',
    checked: '服务器会接受它。', sent: '服务器接受了它。', refused: '这被拒绝了。',
    changed: (from, to) => `你的草稿基于修订版本 ${from}；对象现在是 ${to}。`,
    discard: '丢弃草稿',
    first: (shown, all) => `共 ${all} 个，这里是前 ${shown} 个。`,
    remove: '删除',
    editor: '清单',
    escape: '先按 Esc 再按 Tab 可离开编辑器。Ctrl+Enter 发送。',
    manager: '管理者', operation: '方式', fields: '字段', time: '时间',
    force: '遇到冲突有三条出路：夺取字段（--force）、从你的清单里去掉它，或者采用对方的值。',
    offset: '偏移', field: '字段', wireType: '线路类型', value: '值',
  },

  actors: {
    before: '这是所查看的那一帧的情形。你在这里做的事会在末尾执行。',
    replicas: 'API 服务器', clients: '客户端', faults: '故障', situations: '情境',
    situationsHint: '每个情境一个键。它们运行的是普通命令，可以撤销。',
    version: '版本', applied: '已知到', state: '状态', behind: n => `落后 ${n} 个`,
    lag: '使滞后', cut: '切断', resume: '恢复', restart: '重启', add: '增加一台服务器', rebuilt: '这个世界带着同样的历史重建了，并多了一台服务器。撤销可回到之前的世界。',
    fine: '已跟上', isCut: '已切断', lags: '滞后',
    addInformer: 'Informer', addPager: '分页读取者', addController: '控制器',
    name: '名称', start: '启动', rules: '规则', noClients: '还没有客户端发来请求。',
    noFaults: '没有故障。用 Go API 的写法添加一个。',
    faultLine: '新故障', addFault: '添加', clear: '全部清除',
    holds: n => `持有 ${n} 个`, requests: n => `${n} 个请求`,
    controllers: '控制平面的控制器', stepped: '让它们等待：一次只做一件事',
    stepOne: '走一步', settle: '直到全部空闲',
    due: (key, when) => (when ? `${when} 后 ${key}` : key), about: '即将做', idle: '没有事可做',
    idleOnes: n => `${n} 个没有事可做`, noControllers: '这个世界里没有控制器在运行。自由练习一开始就有全部控制器。',
    hold: '拦住', release: '放行', held: '被拦住', crash: '崩溃', next: '下一页',
  },

  said: translator(said, '：'),
  framed: sentence => framed.reduce((said, [shape, words]) => said.replace(shape, words), sentence),

  states: {
    cut: '已切断', lagging: '滞后', held: '被拦住', closed: '已关闭',
    stopped: '已停止', slow: '变慢',
    'waits for events': '等待事件', crashed: '已崩溃', 'fills its caches': '正在填充缓存', 'waits for an answer': '等待应答',
    'has work to do': '有事要做', 'waits to try again': '等待重试', 'has not begun': '还没有开始', lists: '正在列表',
    watches: '正在监视', 'reads the state from a watch': '正在从 watch 读取状态', 'has read %d': '已读取 %d 个', 'failed with %d': '失败：%d',
    'lost its pages and reads everything at once': '丢失了分页，正在一次读取全部',
  },

  situations: {
    c: ['冲突', 'Alice 写入之后，Bob 又写入他之前读到的内容：409。'],
    g: ['历史没了', '一个 watch 重新连接时，它的修订版本已被压缩：410。'],
    p: ['分页', '存储压缩了一个读取者的 continue 令牌的修订版本。'],
    l: ['滞后', '两台服务器，其中一台滞后：同一个请求有两个应答。'],
    o: ['字段管理者', '两方都想应用同一个字段：后来的被拒绝，并得知字段归谁。'],
    a: ['丢失的应答', '创建已经存储，应答却丢了，重试又创建了第二个对象。'],
    s: ['旧的读取，然后写入', '客户端从滞后的服务器读取，它的写入被拒绝：409。'],
    b: ['书签', '一个空闲的 watch 得到了更新的修订版本，而没有收到对象。'],
  },

  levels: {
    start: '用 kubectl 起步', basics: '基础', reading: '读取与监视', deleting: '删除与属主', errors: '错误', writing: '写入',
    extending: '扩展', versions: '版本', operating: '运维', controllers: '控制器',
  },

  map: {
    title: '课程地图',
    of: (done, all) => `已完成 ${done}／${all}`,
    solved: '已完成', open: '可以开始', later: '它所依赖的课程还没有完成',
    buildsOn: titles => `建立在${titles.map(title => `《${title}》`).join('、')}之上`,
    leadsTo: titles => `通向${titles.map(title => `《${title}》`).join('、')}`,
    write: '写一门课程',
  },

  builder: {
    title: '写一门课程',
    about: '一门课程就是一个 YAML 文件。你一边写，引擎一边读取它，用它自己的解答走一遍，并指出哪一行有什么问题。',
    guide: '怎样写课程', manifest: '课程的 YAML', preview: '学习者看到的样子', loading: '请稍候',
    wrong: (line, what) => (line ? `第 ${line} 行：${what}` : what),
    solvable: steps => `可以完成：它自己的解答通过了全部 ${steps} 步。`,
    stuck: (step, why) => `它自己的解答通不过第 ${step} 步：${why}`,
    right: '正确', solution: '解答', hints: '提示',
    take: '试做一遍', copy: '复制链接', link: '这门课程的链接', example: '重新从示例开始',
    stranger: '这门课程来自一个链接。它的作者不属于 kubesim，内容没有经过任何人检查。',
    yours: '这是你正在写的课程。', edit: '编辑', look: '看看它是怎样写成的',
  },

  lessons: {
    title: '课程', minutes: n => `${n} 分钟`, steps: n => `${n} 步`,
    start: '开始', done: '已完成', close: '关闭',
    step: (i, n) => `第 ${i} 步，共 ${n} 步`,
    predict: '你的预测', commit: '这是我的答案', right: '对。', wrong: '不对。现在来看看为什么。',
    hint: '提示', solve: '演示给我看', next: '下一课', finished: '课程完成',
    golf: (yours, par, solution) => `用了 ${yours} 个请求${yours <= par ? '：没有更短的做法了' : yours < solution ? `，比课程自带的解法（${solution} 个）还少`
      : yours === solution ? '，与课程自带的解法相同' : `；课程自带的解法用 ${solution} 个`}`,
    before: '课程在所查看的那一帧时的样子。',
    arrived: (i, n, said) => `第 ${i} 步，共 ${n} 步。${said.replaceAll('`', '')}`,
    unasked: '这一步没有要求这样做：',
    broken: step => `课程自带的解法在第 ${step} 步已经行不通了。`,
    assumes: (step: number) => `第 ${step} 步的文字假定：`, since: '在你运行这一行之前它还行得通：', otherWay: '别的做法也可以。满足下列条件即通过这一步：',
    effects: {
      created: of => `创建了 ${of}`, changed: of => `修改了 ${of}`, deleted: of => `删除了 ${of}`,
      watch: of => `开始了 watch ${of}`, time: of => `让时间过去：${of}`, did: () => '改变了世界',
    },
    undo: '撤销它', undoTo: n => `撤销最后 ${n} 步操作`, restartStep: '重做这一步', restart: '重做这一课',
    free: '服务器、时钟、客户端、故障都由你控制。每一步操作都可以撤销。',
    progress: (done, all) => `已完成 ${done} 课，共 ${all} 课`,
    reset: '清除进度', reallyReset: '真的要忘掉全部进度吗？', needsCel: '需要大引擎',
    tryIt: '把它放进命令行', others: '其他人的动作：',
  },

  share: {
    badLink: '这个链接无法读取', refused: '这个世界无法建立',
    faults: {
      version: version => `这个网页读取 v1 版的链接，而这个是“${version}”`,
      damaged: '链接被截断或损坏了',
      large: most => `链接的内容超过了 ${most} 个字节`,
      world: '链接里装的不是一个世界', log: '链接里的日志不是列表',
      long: most => `链接里的操作超过了 ${most} 个`,
      line: n => `链接里的第 ${n} 个操作没有命令行`,
    },
    otherEngine: '这个链接是用另一个版本的服务器做成的：现在用这个版本重放它。',
  },

  keys: {
    title: '快捷键',
    single: '启用单键快捷键',
    list: [
      ['Space  k', '播放或暂停'], [',  .', '后退、前进一帧'], ['Home  End', '第一帧、最新一帧'],
      ['Shift .', '下一个值得看的帧'], ['方向键', '在标记之间移动'], ['Enter', '打开标记'],
      ['Ctrl Z', '撤销一步操作'], ['Ctrl Shift Z', '重做'], ['f', '从正在查看的帧分叉'],
      ['/  :', '命令行'], ['t', '文字形式的时间线'], ['x', '坐标轴用修订版本或时间'],
      ['g c o h a', '控制台、对象、HTTP、参与者（先按 g）'], ['s', '情境'],
      ['Esc', '关闭，或离开输入框'], ['?', '这份列表'],
    ],
    close: '关闭',
  },

  offline: '有新版本了。方便时请重新加载；链接会保留你的操作日志。',
}
