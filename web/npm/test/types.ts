// This file is compiled and not run. It checks that the types of the package fit both majors of @kubernetes/client-node.
import * as one from 'client-node-1'
import * as two from 'client-node-2'
import { type Options, start } from 'kubesim'
import { inProcess } from 'kubesim/client-node'

const options: Options = { nodes: 3, controllers: 'all', version: '1.36' }
const srv = await start(options)
const core: one.CoreV1Api = inProcess(one, srv).makeApiClient(one.CoreV1Api)
const apps: two.AppsV1Api = inProcess(two, srv).makeApiClient(two.AppsV1Api)
const informer: one.ListWatch<one.V1ConfigMap> = inProcess(one, srv).makeInformer('/api/v1/configmaps', () => core.listConfigMapForAllNamespaces())
await informer.start()
await apps.listDeploymentForAllNamespaces()
const response: Response = await srv.fetch('/version')
const url: string = await srv.listen({ port: 0 })
console.log(response.status, url, srv.clock.now().getTime(), srv.faults.list().length)
// @ts-expect-error there is no such option
await start({ nodez: 3 })
