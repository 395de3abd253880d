// Copies of the manifests that the commands in the Kubernetes documentation refer to by address, so that these commands work in a page that
// fetches nothing. They were written for this page: names, labels and images are those of the documentation, the rest may differ.

const container = (name: string, image: string, more = '') => `containers: [{name: ${name}, image: ${image}${more}}]`
const meta = (name: string, labels = '') => `metadata: {name: ${name}${labels && `, labels: {${labels}}`}}`
const web = (name: string, labels: string, spec: string, kind = 'Deployment', more = '') => `apiVersion: apps/v1
kind: ${kind}
${meta(name, labels)}
spec:
  selector: {matchLabels: {${labels}}}
  template:
    metadata: {labels: {${labels}}}
    spec: {${spec}}
${more}`
const nginx = (version: string) => container('nginx', `"nginx:${version}"`, ', ports: [{containerPort: 80}]')

const examples: Record<string, string> = {
  'pods/simple-pod': `apiVersion: v1\nkind: Pod\n${meta('nginx')}\nspec: {${nginx('1.14.2')}}\n`,
  'application/deployment': web('nginx-deployment', 'app: nginx', nginx('1.14.2'), 'Deployment', '  replicas: 2\n'),
  'application/deployment-update': web('nginx-deployment', 'app: nginx', nginx('1.16.1'), 'Deployment', '  replicas: 2\n'),
  'application/deployment-scale': web('nginx-deployment', 'app: nginx', nginx('1.16.1'), 'Deployment', '  replicas: 4\n'),
  'controllers/nginx-deployment': web('nginx-deployment', 'app: nginx', nginx('1.14.2'), 'Deployment', '  replicas: 3\n'),
  'controllers/frontend': web('frontend', 'tier: frontend', container('php-redis', 'us-docker.pkg.dev/google-samples/containers/gke/gb-frontend:v5'), 'ReplicaSet', '  replicas: 3\n'),
  'controllers/daemonset': web('fluentd-elasticsearch', 'name: fluentd-elasticsearch', container('fluentd-elasticsearch', 'quay.io/fluentd_elasticsearch/fluentd:v5.0.1'), 'DaemonSet'),
  'controllers/job': `apiVersion: batch/v1
kind: Job
${meta('pi')}
spec:
  backoffLimit: 4
  template:
    spec: {restartPolicy: Never, ${container('pi', '"perl:5.34.0"', ', command: ["perl", "-Mbignum=bpi", "-wle", "print bpi(2000)"]')}}
`,
  'application/job/cronjob': `apiVersion: batch/v1
kind: CronJob
${meta('hello')}
spec:
  schedule: "* * * * *"
  jobTemplate:
    spec:
      template:
        spec: {restartPolicy: OnFailure, ${container('hello', '"busybox:1.28"', ', command: ["/bin/sh", "-c", "date; echo Hello from the Kubernetes cluster"]')}}
`,
  'service/networking/run-my-nginx': web('my-nginx', 'run: my-nginx', container('my-nginx', 'nginx', ', ports: [{containerPort: 80}]'), 'Deployment', '  replicas: 2\n'),
  'service/networking/nginx-svc': `apiVersion: v1\nkind: Service\n${meta('my-nginx', 'run: my-nginx')}\nspec: {ports: [{port: 80, protocol: TCP}], selector: {run: my-nginx}}\n`,
}

const address = /https:\/\/(?:(?:kubernetes|k8s)\.io|raw\.githubusercontent\.com\/kubernetes\/website\/[\w.-]+\/content\/en)\/examples\/([\w/-]+)\.ya?ml/g

/** examplesOf returns the copies of the manifests whose addresses a line contains, by address. */
export function examplesOf(line: string): Record<string, string> {
  const found = [...line.matchAll(address)].map(([url, path = '']) => [url, examples[path]] as const)
  return Object.fromEntries(found.filter((one): one is [string, string] => one[1] !== undefined))
}
