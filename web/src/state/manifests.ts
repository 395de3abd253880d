// The manifests of the page: named texts, like the files of a scenario. An operation carries the manifests that its line names with -f.
import { signal } from '@preact/signals'

export const manifests = signal<Record<string, string>>({
  'configmap.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  color: green\n',
  'deployment.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: web
        image: nginx:1.29
`,
  'widget-crd.yaml': `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, minimum: 1, default: 3}
`,
  'rules.yaml': `# every ConfigMap that is labelled app gets a Secret of its name; settle lets the controller work
watch: [configmaps, secrets]
rules:
- name: secret
  for: configmaps
  when:
  - .metadata.labels.app exists
  - count secrets -l app={{name}} == 0
  do:
  - create -f secret.yaml
`,
  'secret.yaml': `apiVersion: v1
kind: Secret
metadata:
  name: "{{name}}-token"
  labels: {app: "{{name}}"}
`,
})

/** filesOf returns the manifests that a line names with -f or --filename, and the manifests that these name, because a controller's rules
 * contain lines. */
export function filesOf(line: string): Record<string, string> {
  const named: Record<string, string> = {}
  const todo = [line]
  for (let read = todo.pop(); read !== undefined; read = todo.pop()) {
    for (const match of read.matchAll(/(?:^|\s)(?:-f|--filename)[\s=]+("[^"]+"|'[^']+'|\S+)/g)) {
      const name = (match[1] ?? '').replace(/^["']|["']$/g, '')
      const content = manifests.value[name]
      if (content === undefined || name in named) continue
      named[name] = content
      todo.push(content)
    }
  }
  return named
}

export function putManifest(name: string, content: string): void {
  manifests.value = { ...manifests.value, [name]: content }
}
