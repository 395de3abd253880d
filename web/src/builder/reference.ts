// The reference of conditions, and the templates, beside the editor of lessons. Both languages are here because only the editor loads them.
// A test runs each condition in the engine and solves each template.
import { example } from './example'

/** conditions are examples of conditions, each with its meaning in English and in Chinese. */
export const conditions: [form: string, english: string, chinese: string][] = [
  ['status 409 Conflict', 'the last answer: its code, or its code and reason', '最后一个应答：状态码，或状态码和原因'],
  ['.metadata.name == lamp', 'a field of the last answer; also !=, <, >, contains', '最后一个应答里的字段；还有 !=、<、>、contains'],
  ['len .items == 2', 'the length of a list in the last answer', '最后一个应答里列表的长度'],
  ['configmaps/lamp exists', 'an object is stored; the opposite is absent', '对象已存储；反过来是 absent'],
  ['configmaps/lamp .data.color == blue', 'a field of a stored object', '已存储对象的字段'],
  ['count configmaps == 1', 'the number of stored objects; also -l app=web, -n NAMESPACE', '已存储对象的个数；还可加 -l app=web、-n 命名空间'],
  ['every pods .status.phase == Running', 'all objects of a resource', '一种资源的所有对象'],
  ['watch/w saw DELETED lamp', 'a watch has received an event', '一个 watch 收到了某个事件'],
  ['watch/w open', 'a watch is open; also closed, error 410', '一个 watch 是打开的；还有 closed、error 410'],
  ['informer/cache sees configmaps/lamp', 'an object is in the cache of an informer', '对象在 informer 的缓存里'],
  ['seen http.res 409 by alice', 'such a frame has been there since the beginning', '从开始到现在出现过这样的帧'],
  ['seen store.commit DELETED >= 1', 'the number of such frames', '这样的帧的个数'],
  ['revision > 4005', 'the newest revision of the store', '存储的最新修订版本'],
  ['not configmaps/lamp exists and revision > 1', 'conditions are combined with not, and, or and parentheses', '条件用 not、and、or 和括号组合'],
]

const conflict = `id: mine
title: Two writers
about: Who writes second with an old revision is refused.
setup:
- create configmap lamp --from-literal color=red --as alice
steps:
- say: conflict
  text: |
    You have read the lamp at revision {{cm/lamp.rv}}. Alice paints it meanwhile. Write with the revision that you know:

    \`patch configmap lamp --rv=4005 -p '{"data":{"color":"blue"}}'\`
  do:
  - patch configmap lamp -p '{"data":{"color":"green"}}' --as alice
  predict:
    ask: What does the server answer?
    options:
    - say: "409: the object has changed"
      if: status 409
    - say: "200: the last write wins"
      if: status 200
      why: A write that names a revision is refused when the object has another one.
  check:
  - seen http.res 409 by you
  hint:
  - --rv names the revision that you have read.
  - patch configmap lamp --rv=4005 -p '{"data":{"color":"blue"}}'
  solution:
  - patch configmap lamp --rv=4005 -p '{"data":{"color":"blue"}}'
- say: end
  text: |
    Read again, and write with the revision {{cm/lamp.rv}}.
`

const cluster = `id: mine
title: A Deployment heals
about: A controller replaces a pod that is deleted.
controllers: ["*"]
nodes: 2
setup:
- kubectl create deployment web --image=nginx --replicas=2
- tick settled
steps:
- say: heal
  text: |
    Two pods run. Delete both, and let the controllers work:

    \`kubectl delete pods -l app=web --wait=false\`

    \`tick settled\`
  needs:
  - count pods -l app=web == 2
  check:
  - seen store.commit DELETED >= 2 and count pods -l app=web == 2
  hint:
  - The label of the pods is app=web.
  - kubectl delete pods -l app=web --wait=false
  solution:
  - kubectl delete pods -l app=web --wait=false
  - tick settled
- say: end
  text: |
    {{count pods}} pods run again: the ReplicaSet counts them.
`

/** templates are lessons to start from, each with its name in English and in Chinese. */
export const templates: [english: string, chinese: string, lesson: string][] = [
  ['One object', '一个对象', example], ['A conflict', '一次冲突', conflict], ['A cluster with controllers', '带控制器的集群', cluster],
]

/** inWords are the labels of the reference and the templates, by language. */
export const inWords = {
  en: { conditions: 'Conditions', insert: 'A click puts one at the cursor.', templates: 'Template', suggestions: 'Completions at the cursor' },
  'zh-CN': { conditions: '条件', insert: '点击一个，把它放到光标处。', templates: '模板', suggestions: '光标处的补全' },
}
