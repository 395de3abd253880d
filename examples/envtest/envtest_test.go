package envtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/matryer/is"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubectl/pkg/cmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// TestMain creates the assets directory for all tests. Its kubectl is this program, started under that name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "kubectl" {
		if cmd.NewDefaultKubectlCommand().Execute() != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	dir, err := os.MkdirTemp("", "kubesim-envtest-")
	if err != nil {
		panic(err)
	}
	assets, err := build(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kubesim cannot be built:", err)
		os.Exit(1)
	}
	log.SetLogger(logr.Discard())
	os.Setenv("KUBEBUILDER_ASSETS", assets)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// build builds kubesim and returns the assets directory that it creates.
func build(dir string) (string, error) {
	program := filepath.Join(dir, "kubesim")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/kubesim/kubesim/fake/cmd/kubesim").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if err := os.Symlink(self, filepath.Join(dir, "kubectl")); err != nil {
		return "", err
	}
	envtest := exec.Command(program, "envtest", "--dir", dir)
	envtest.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := envtest.Output()
	return strings.TrimSpace(string(out)), err
}

// start starts an environment that ends with the test.
func start(t *testing.T, env *envtest.Environment) *rest.Config {
	t.Helper()
	config, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	})
	return config
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

// An environment starts, is used and stops. Its administrator may do everything, and other users what they are allowed to do.
func TestUsers(t *testing.T) {
	is := is.New(t)
	env := &envtest.Environment{}
	admin := kubernetes.NewForConfigOrDie(start(t, env))
	_, err := admin.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("a"), metav1.CreateOptions{})
	is.NoErr(err)

	user, err := env.AddUser(envtest.User{Name: "jane", Groups: []string{"dev"}}, nil)
	is.NoErr(err)
	jane := kubernetes.NewForConfigOrDie(user.Config())
	_, err = jane.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	is.True(apierrors.IsForbidden(err))
	_, err = admin.RbacV1().RoleBindings("default").Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "dev"},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:kube-scheduler"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "dev"}}}, metav1.CreateOptions{})
	is.NoErr(err)
	_, err = jane.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	is.NoErr(err)
}

// The directory contains a kubectl if one is installed, and kubectl can use each user's credentials.
func TestKubectl(t *testing.T) {
	is := is.New(t)
	env := &envtest.Environment{}
	start(t, env)
	user, err := env.AddUser(envtest.User{Name: "jane"}, nil)
	is.NoErr(err)
	kubectl, err := user.Kubectl()
	is.NoErr(err)
	stdout, _, err := kubectl.Run("auth", "whoami")
	is.NoErr(err)
	text := new(strings.Builder)
	_, err = fmt.Fprint(text, stdout)
	is.NoErr(err)
	is.True(strings.Contains(text.String(), "jane"))
}

// Stored objects still exist when the API server is restarted with the same etcd, more than once.
func TestRestart(t *testing.T) {
	is := is.New(t)
	env := &envtest.Environment{}
	c, err := client.New(start(t, env), client.Options{})
	is.NoErr(err)
	is.NoErr(c.Create(t.Context(), configMap("a")))
	server := env.ControlPlane.GetAPIServer()
	for range 2 {
		before := configMap("a")
		is.NoErr(c.Get(t.Context(), client.ObjectKeyFromObject(before), before))
		is.NoErr(server.Stop())
		is.NoErr(server.Start())
		user, err := env.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}}, nil)
		is.NoErr(err)
		c, err = client.New(user.Config(), client.Options{})
		is.NoErr(err)
		after := configMap("a")
		is.NoErr(c.Get(t.Context(), client.ObjectKeyFromObject(after), after))
		is.Equal(before.ResourceVersion, after.ResourceVersion)
		is.Equal(before.UID, after.UID)
	}
}

// The programs may be specified individually.
func TestNamedOneByOne(t *testing.T) {
	is := is.New(t)
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	t.Setenv("KUBEBUILDER_ASSETS", t.TempDir())
	t.Setenv("TEST_ASSET_ETCD", filepath.Join(assets, "etcd"))
	t.Setenv("TEST_ASSET_KUBE_APISERVER", filepath.Join(assets, "kube-apiserver"))
	c, err := client.New(start(t, &envtest.Environment{}), client.Options{})
	is.NoErr(err)
	is.NoErr(c.Create(t.Context(), configMap("a")))
}

// Stored objects survive if the API server is killed.
func TestKilled(t *testing.T) {
	is := is.New(t)
	server, config := pair(t)
	for range 3 {
		created, err := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default").Create(t.Context(),
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "a-"}}, metav1.CreateOptions{})
		is.NoErr(err)
		is.NoErr(server.Process.Kill())
		is.True(server.Wait() != nil) // killed
		server = begin(t, server.Path, server.Args[1:]...)
		well(t, config.Host+"/healthz")
		found, err := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default").Get(t.Context(), created.Name, metav1.GetOptions{})
		is.NoErr(err)
		is.Equal(found.UID, created.UID)
	}
}

// An environment starts quickly. Most of the measured time is envtest's, because it generates certificates and polls every 100 ms.
func TestSoon(t *testing.T) {
	began := time.Now()
	start(t, &envtest.Environment{})
	t.Logf("the environment was up after %v", time.Since(began).Round(time.Millisecond))
}
