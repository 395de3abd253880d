package kubectl_test

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/kubectl"
	"github.com/kubesim/kubesim/sim/kubectl/shell"
)

// shop is a Source with a pod and two deployments.
type shop struct{}

func (shop) Resources() []kubectl.Item {
	return []kubectl.Item{{Text: "pods"}, {Text: "deployments.apps"}, {Text: "namespaces"}}
}

func (shop) Objects(resource, namespace string) []kubectl.Item {
	return map[string][]kubectl.Item{"pods default": {{Text: "web"}}, "deploy default": {{Text: "web-a"}, {Text: "web-b"}},
		"pods kube-system": {{Text: "dns"}}, "namespaces ": {{Text: "default"}, {Text: "kube-system"}}}[resource+" "+namespace]
}

func (shop) Files() []kubectl.Item { return []kubectl.Item{{Text: "cm.yaml"}} }

// TestComplete checks the completions of lines, and the common prefix that Tab inserts.
func TestComplete(t *testing.T) {
	is := is.New(t)
	for line, want := range map[string]string{ // order does not matter
		"kub":                              "kubectl",
		"kubectl ge":                       "get",
		"kubectl rollout s":                "status",
		"kubectl create conf":              "configmap",
		"kubectl get p":                    "pods",
		"kubectl get pods ":                "web",
		"kubectl get pods/":                "pods/web",
		"kubectl delete deploy ":           "web-a web-b",
		"kubectl get pods -n ":             "default kube-system",
		"kubectl get pods -n kube-system ": "dns",
		"kubectl apply -f ":                "cm.yaml",
		"kubectl get pods -o w":            "wide",
		"kubectl get --sho":                "--show-kind --show-labels --show-managed-fields",
		"kubectl get pods | gr":            "grep",
		"kubectl get pods | grep x ":       "cm.yaml",
		"kubectl nope ":                    "",
	} {
		from, items := kubectl.Complete(line, shop{})
		var texts []string
		for _, i := range items {
			texts = append(texts, strings.TrimSuffix(i.Text, "="))
			is.True(strings.HasPrefix(i.Text, line[from:])) // it replaces the text after from
		}
		is.Equal(line+": "+strings.Join(texts, " "), line+": "+want) // the completions
	}
	_, items := kubectl.Complete("kubectl delete deploy w", shop{})
	is.Equal(kubectl.CommonPrefix(items), "web-") // the part that a shell can insert immediately
}

// TestPaste checks that Paste turns pasted text into lines and named files.
func TestPaste(t *testing.T) {
	is := is.New(t)
	const doc = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: paint}\n"
	of := func(name string) map[string]string { return map[string]string{name: doc} }
	is.Equal(shell.Paste("kubectl get pods\n\n$ kubectl get \\\n  nodes\n"), []shell.Typed{{Line: "kubectl get pods"}, {Line: "kubectl get nodes"}}) // lines
	for text, want := range map[string]shell.Typed{                                                                                                  // order does not matter
		doc: {Line: "kubectl apply -f configmap-paint.yaml", Files: of("configmap-paint.yaml")}, // a manifest
		"kubectl apply -f - <<EOF\n" + doc + "EOF":                   {Line: "kubectl apply -f configmap-paint.yaml", Files: of("configmap-paint.yaml")},
		"cat <<'EOF' | kubectl apply -f -\n" + doc + "EOF\n":         {Line: "cat configmap-paint.yaml | kubectl apply -f -", Files: of("configmap-paint.yaml")},
		"cat > cm.yaml <<EOF\n" + doc + "EOF":                        {Line: "echo wrote cm.yaml", Files: of("cm.yaml")},
		"cat <<EOF > cm.yaml\n" + doc + "EOF":                        {Line: "echo wrote cm.yaml", Files: of("cm.yaml")},
		"kubectl create --filename=/dev/stdin <<EOF\n" + doc + "EOF": {Line: "kubectl create --filename=/dev/stdin < configmap-paint.yaml", Files: of("configmap-paint.yaml")},
	} {
		is.Equal(shell.Paste(text), []shell.Typed{want}) // one line that refers to the file
	}
}
