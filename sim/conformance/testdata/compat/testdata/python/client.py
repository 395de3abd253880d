"""What programs ask with the Python client."""
import os
import time

from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.rest import ApiException
from kubernetes.stream import stream

config.load_kube_config()
core = client.CoreV1Api()
NAMESPACE = os.environ["NS"]  # that nobody has
core.create_namespace({"metadata": {"name": NAMESPACE}})


def config_map(name, color):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels={"app": "paint"}), data={"color": color})


def fails(code, call, *args, **more):
    try:
        call(*args, **more)
    except ApiException as e:
        assert e.status == code, e
        return
    raise AssertionError("it did not fail with %d" % code)


def until(what, call):
    end = time.time() + 60
    while not call():
        assert time.time() < end, "never: " + what
        time.sleep(0.02)


assert client.VersionApi().get_code().major == "1"

# Create, read, replace, patch; errors.
made = core.create_namespaced_config_map(NAMESPACE, config_map("a", "red"))
assert made.metadata.uid and made.metadata.creation_timestamp
fails(409, core.create_namespaced_config_map, NAMESPACE, config_map("a", "red"))
fails(422, core.create_namespaced_config_map, NAMESPACE, config_map("A", "red"))
fails(404, core.read_namespaced_config_map, "none", NAMESPACE)
made.data = {"color": "blue"}
core.replace_namespaced_config_map("a", NAMESPACE, made)
fails(409, core.replace_namespaced_config_map, "a", NAMESPACE, made)
assert core.patch_namespaced_config_map("a", NAMESPACE, {"data": {"color": "green"}}).data["color"] == "green"

# Lists in pages, a watch from there.
core.create_namespaced_config_map(NAMESPACE, config_map("b", "red"))
page = core.list_namespaced_config_map(NAMESPACE, label_selector="app=paint", limit=1)
rest = core.list_namespaced_config_map(NAMESPACE, label_selector="app=paint", limit=1, _continue=page.metadata._continue)
assert rest.metadata.resource_version == page.metadata.resource_version
core.delete_namespaced_config_map("b", NAMESPACE)
w = watch.Watch()
for event in w.stream(core.list_namespaced_config_map, NAMESPACE, label_selector="app=paint", resource_version=rest.metadata.resource_version, timeout_seconds=60):
    assert (event["type"], event["object"].metadata.name) == ("DELETED", "b")
    w.stop()

# Manifests, and objects of any kind.
utils.create_from_dict(client.ApiClient(), {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
    "selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}}}, namespace=NAMESPACE)
apps = client.AppsV1Api()
assert apps.read_namespaced_deployment("web", NAMESPACE).spec.replicas == 1
apps.patch_namespaced_deployment_scale("web", NAMESPACE, {"spec": {"replicas": 2}})
client.ApiextensionsV1Api().create_custom_resource_definition({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "lamps.example.com"}, "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "lamps", "kind": "Lamp"}, "versions": [
        {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "spec": {"type": "object", "properties": {"watts": {"type": "integer", "default": 9}}}}}}}]}})


def served():
    try:
        client.CustomObjectsApi().list_namespaced_custom_object("example.com", "v1", NAMESPACE, "lamps")
        return True
    except ApiException:
        return False


until("the kind is served", served)
lamps = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version="example.com/v1", kind="Lamp")
desk = lamps.create({"apiVersion": "example.com/v1", "kind": "Lamp", "metadata": {"name": "desk"}, "spec": {}}, namespace=NAMESPACE)
assert desk.spec.watts == 9
assert len(lamps.get(namespace=NAMESPACE).items) == 1

if not os.environ.get("WITHOUT_NODES"):
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "nginx", "command": ["sh", "-c", "echo started; sleep 600"]}]}}
    core.create_namespaced_pod(NAMESPACE, pod)
    until("the pod runs", lambda: core.read_namespaced_pod("p", NAMESPACE).status.phase == "Running")
    until("it has printed", lambda: "started" in core.read_namespaced_pod_log("p", NAMESPACE))
    out = stream(core.connect_get_namespaced_pod_exec, "p", NAMESPACE, command=["echo", "hello"], stdout=True, stderr=True, stdin=False, tty=False)
    assert out == "hello\n", out

client.ApiextensionsV1Api().delete_custom_resource_definition("lamps.example.com")
print("all is well")
