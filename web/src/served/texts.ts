// The texts about a served cluster, in both languages, because only the page of a served cluster loads them.
import { many } from '../text.en'

const english = {
  takes: (word: string) => `${word}: a served cluster accepts get, create, replace, apply, delete, request, compact, expire, tick, fault, `
    + 'and the commands for servers and controllers',
  noResource: (name: string) => `there is no resource ${name}`, noKind: (kind: string, version: string) => `there is no ${kind} in ${version}`,
  noManifest: (verb: string) => `a manifest is missing here: ${verb} -f FILE`,
  noWayBack: (word: string) => `${word}: a served cluster cannot go back; with kubesim serve --clock manual you control its time`,
  noView: (view: string) => `${view}: the page does not have this view for a served cluster`,
  yaml: 'a served cluster shows its objects as YAML', ended: 'the server has ended', items: (n: number) => many(n, 'item'),
  token: 'Token', attach: 'Attach', which: 'kubesim serve prints a link with a token. Any other token of the server also works; it is kept for this tab only.',
}

const chinese: typeof english = {
  takes: word => `${word}：所服务的集群接受 get、create、replace、apply、delete、request、compact、expire、tick、fault，以及关于服务器和控制器的词`,
  noResource: name => `没有资源 ${name}`, noKind: (kind, version) => `${version} 里没有 ${kind}`,
  noManifest: verb => `这里缺清单：${verb} -f FILE`,
  noWayBack: word => `${word}：所服务的集群不能退回；用 kubesim serve --clock manual 可以拨动它的时间`,
  noView: view => `${view}：网页不知道所服务集群的这一项`,
  yaml: '所服务的集群以 YAML 显示对象', ended: '服务器结束了', items: n => `${n} 项`,
  token: '令牌', attach: '连接', which: 'kubesim serve 打印的链接里带有令牌。服务器的其他令牌也可以；它只为这个标签页保留。',
}

/** inBoth are the texts by language. */
export const inBoth = { en: english, 'zh-CN': chinese }

/** says returns the texts in the language of the page. */
export const says = () => (typeof document === 'object' && document.documentElement.lang === 'zh-CN' ? chinese : english)
