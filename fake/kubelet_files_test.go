package fake_test

import (
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
)

// TestFilesInVolumes checks that files that a container writes into a volume outlive the container: in an emptyDir
// until the pod is removed, in a hostPath until the node is removed.
func TestFilesInVolumes(t *testing.T) {
	onNodes(t, fake.Options{}, func(t *testing.T, is *is.I, c client) {
		pod := func(volume string) string {
			return `"restartPolicy":"OnFailure","volumes":[{"name":"data",` + volume + `}],"containers":[{"name":"c","image":"busybox",` +
				`"volumeMounts":[{"name":"data","mountPath":"/data"}],"command":["sh","-c","if [[ -r /data/a ]]; then exit 0; fi; echo b > /data/a; exit 1"]}]`
		}
		const own, shared = `"emptyDir":{}`, `"hostPath":{"path":"/var/shared"}`
		for _, x := range []struct{ name, volume, want string }{
			{"own", own, "Succeeded c:Completed0,1"}, {"own-2", own, "Succeeded c:Completed0,1"},
			{"shared", shared, "Succeeded c:Completed0,1"}, {"shared-2", shared, "Succeeded c:Completed0"},
		} {
			c.bound(x.name, pod(x.volume))
			is.Equal(state(c.later(5*time.Second, x.name)), x.want)
		}
	})
}

// TestFilesOfInitContainers checks that containers see the files that an init container has written.
func TestFilesOfInitContainers(t *testing.T) {
	onNodes(t, fake.Options{}, func(t *testing.T, is *is.I, c client) {
		const mount = `"volumeMounts":[{"name":"data","mountPath":"/data"}]`
		c.bound("p", `"restartPolicy":"Never","volumes":[{"name":"data","emptyDir":{}}],`+
			`"initContainers":[{"name":"i","image":"busybox",`+mount+`,"command":["sh","-c","hostname | tee /data/name"]}],`+
			`"containers":[{"name":"c","image":"busybox",`+mount+`,"command":["cat","/data/name"]}]`)
		c.later(5*time.Second, "p")
		is.Equal(c.logs("p", ""), "p\n")
	})
}

// TestFilesFromTheAPI checks the files of volumes with data from the API, which are read-only, /etc/resolv.conf, the user's ids and the
// files of a postStart hook.
func TestFilesFromTheAPI(t *testing.T) {
	onNodes(t, fake.Options{}, func(t *testing.T, is *is.I, c client) {
		c.must("POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"config"},"data":{"a":"A\n","b":"B\n"}}`)
		c.bound("p", `"restartPolicy":"Never","serviceAccountName":"default","securityContext":{"runAsUser":1000},"dnsPolicy":"None","dnsConfig":{"nameservers":["1.1.1.1"]},"volumes":[`+
			`{"name":"config","configMap":{"name":"config","items":[{"key":"a","path":"x/a"}]}},`+
			`{"name":"all","projected":{"sources":[{"configMap":{"name":"config"}},{"downwardAPI":{"items":[{"path":"n","fieldRef":{"fieldPath":"metadata.name"}}]}},`+
			`{"serviceAccountToken":{"path":"token"}}]}}],"containers":[{"name":"c","image":"busybox","volumeMounts":[{"name":"config","mountPath":"/config"},`+
			`{"name":"all","mountPath":"/all"},{"name":"all","mountPath":"/b","subPath":"b"}],"lifecycle":{"postStart":{"exec":{"command":["touch","/tmp/hook"]}}},`+
			`"command":["sh","-ec","cat /config/x/a /all/a /b; ls /config /all; cat /all/n; echo; ! touch /config/new; test -f /tmp/hook; id -u; cat /etc/resolv.conf; false; echo no"]}]`)
		is.Equal(state(c.later(5*time.Second, "p")), "Failed c:Error1")
		is.Equal(c.logs("p", ""), "A\nA\nB\nx\na\nb\nn\ntoken\np\ntouch: /config/new: Read-only file system\n1000\nnameserver 1.1.1.1\n")
	})
}

// TestFilesOfWebServers checks that a web server without its files is not ready.
func TestFilesOfWebServers(t *testing.T) {
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Clock: clock.NewManual(clock.Epoch()), Nodes: 1})
	l, err := srv.Listen(fake.ListenOptions{})
	is.NoErr(err)
	c := client{t, srv}
	now := func() string {
		srv.Clock.Advance(2 * time.Second)
		return state(c.must("GET", inPods+"/web", ""))
	}
	run := func(command string) string {
		conn := socket(t, strings.TrimPrefix(l.URL(), "http://"), "/web/exec?stdout=true&command="+strings.ReplaceAll(command, " ", "&command="), "v5.channel.k8s.io")
		text := ""
		for {
			_, data, err := conn.ReadMessage()
			if err != nil {
				return text
			}
			if data[0] == 1 {
				text += string(data[1:])
			}
		}
	}
	c.bound("web", `"containers":[{"name":"c","image":"nginx:1.27","readinessProbe":{"httpGet":{"port":80,"path":"/"},"periodSeconds":1,"failureThreshold":1},"resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"2"}}}]`)
	is.Equal(now(), "Running c:running,ready")
	const index = "/usr/share/nginx/html/index.html"
	is.True(strings.Contains(run("cat "+index), "Welcome to nginx!"))
	is.Equal(run("cat /sys/fs/cgroup/cpu.max"), "200000 100000\n") // the container can read its CPU limit
	is.Equal(run("head -n 1 /sys/fs/cgroup/cpu.weight"), "100\n")
	is.Equal(run("cat /sys/fs/cgroup/memory.max"), "max\n")
	is.Equal(run("cat /proc/1/oom_score_adj"), "969\n")
	run("mv " + index + " /tmp/")
	is.Equal(now(), "Running c:running")
	is.True(strings.Contains(strings.Join(c.told("web"), "\n"), "Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 404"))
	run("mv /tmp/index.html " + index)
	is.Equal(now(), "Running c:running,ready")
}
