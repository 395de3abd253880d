package conformance_test

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/conformance"
)

// rewrite changes a random step: it sends the body with another verb, or as another type of patch.
func (v *variation) rewrite() string {
	return v.change(func(s conformance.Step) bool { return s.Body != "" && s.Method != "DELETE" }, func(s *conformance.Step) string {
		was := s.Method + " " + headerOf(*s, "Content-Type")
		path, query, _ := strings.Cut(s.Target, "?")
		if s.Method == "POST" {
			name := s.ObjectName()
			if name == "" || strings.HasSuffix(path, "reviews") {
				return ""
			}
			path += "/" + strings.ReplaceAll(name, "%", "%25")
		}
		s.Method = "PATCH"
		switch v.IntN(4) {
		case 0:
			s.Method = "PUT"
			setHeader(s, "Content-Type", "application/json")
		case 1:
			setHeader(s, "Content-Type", conformance.MergePatch)
		case 2:
			setHeader(s, "Content-Type", conformance.StrategicPatch)
		case 3:
			setHeader(s, "Content-Type", conformance.ApplyPatch)
			if !strings.Contains(query, "fieldManager=") {
				query = strings.TrimPrefix(query+"&fieldManager=", "&") + pick(v.Rand, managers)
			}
		}
		s.Target = join(path, query)
		return s.Name + " as " + s.Method + " " + headerOf(*s, "Content-Type") + ", not " + was
	})
}

// subresource adds, replaces or removes the subresource of a random step.
func (v *variation) subresource() string {
	return v.change(func(s conformance.Step) bool {
		return s.Method == "PUT" || s.Method == "PATCH" || s.Method == "GET" && s.Watch == nil
	}, func(s *conformance.Step) string {
		path, query, _ := strings.Cut(s.Target, "?")
		head, last := path[:strings.LastIndex(path, "/")+1], path[strings.LastIndex(path, "/")+1:]
		if slices.Contains([]string{"status", "scale"}, last) {
			path = strings.TrimSuffix(head, "/")
		} else {
			path += "/" + pick(v.Rand, []string{"status", "status", "scale"})
		}
		s.Target = join(path, query)
		return s.Name + " to " + path
	})
}

var (
	managers   = []string{"kubectl", "kubectl-client-side-apply", "argocd-controller", "helm", "m1", "m2"}
	writeQuery = []string{
		"dryRun=All", "fieldValidation=Strict", "fieldValidation=Ignore", "fieldManager=m1", "fieldManager=helm", "force=true",
		"fieldManager=kubectl-client-side-apply", "pretty=true", "timeout=5s",
	}
	deleteQuery = []string{
		"propagationPolicy=Foreground", "propagationPolicy=Orphan", "propagationPolicy=Background", "gracePeriodSeconds=0",
		"gracePeriodSeconds=5", "dryRun=All", "orphanDependents=true", "labelSelector=a%3Db", "limit=1",
	}
	readQuery = []string{
		"limit=1", "limit=500", "resourceVersion=0", "resourceVersion=0&resourceVersionMatch=NotOlderThan", "labelSelector=app",
		"labelSelector=app!%3Dx", "fieldSelector=metadata.name%3Da", "fieldSelector=status.phase%3DRunning", "includeObject=Object",
		"resourceVersionMatch=Exact&resourceVersion=0", "labelSelector=a%20in%20(b,c)", "continue=x", "timeoutSeconds=5",
	}
)

// query adds a parameter that fits the verb of a random step, or removes its existing parameters.
func (v *variation) query() string {
	return v.change(func(s conformance.Step) bool { return s.Watch == nil }, func(s *conformance.Step) string {
		path, query, _ := strings.Cut(s.Target, "?")
		choices := writeQuery
		switch s.Method {
		case "GET":
			choices = readQuery
		case "DELETE":
			choices = deleteQuery
		}
		more := pick(v.Rand, choices)
		name, _, _ := strings.Cut(more, "=")
		kept := slices.DeleteFunc(strings.Split(query, "&"), func(p string) bool { return p == "" || strings.HasPrefix(p, name+"=") })
		if v.IntN(6) > 0 || len(kept) == 0 {
			kept = append(kept, more)
		} else {
			more, kept = "no parameters", nil
		}
		s.Target = join(path, strings.Join(kept, "&"))
		return s.Name + " with " + more
	})
}

// header sets Accept, Impersonate-User or User-Agent in a random step.
func (v *variation) header() string {
	return v.change(func(s conformance.Step) bool { return s.Watch == nil }, func(s *conformance.Step) string {
		name, value := "Accept", pick(v.Rand, accepts)
		switch v.IntN(6) {
		case 0:
			name, value = "User-Agent", pick(v.Rand, []string{"kubectl/v1.36.3 (linux/amd64) kubernetes/abc", "Helm/4.0.0", "argocd-controller/v3", "x"})
		case 1:
			name, value = "Impersonate-User", pick(v.Rand, []string{"alice", "system:serviceaccount:{{ns}}:default", "bob"})
		}
		if name == "Accept" && hides(*s) {
			return ""
		}
		setHeader(s, name, value)
		return s.Name + " with " + name + ": " + value
	})
}

// hides reports whether the step excludes parts of the response from the comparison. The excluded paths apply only to
// JSON, so the step must not request another format.
func hides(s conformance.Step) bool {
	return len(s.Mask) > 0 || slices.ContainsFunc(s.Ignore, func(path string) bool { return !strings.HasPrefix(path, "metadata") })
}

// headerOf returns the value of a step's header, or "".
func headerOf(s conformance.Step, name string) string {
	for _, h := range s.Headers {
		if strings.EqualFold(h.Name, name) {
			return h.Value
		}
	}
	return ""
}

// setHeader replaces or adds a header. It copies the list of headers first.
func setHeader(s *conformance.Step, name, value string) {
	s.Headers = slices.DeleteFunc(slices.Clone(s.Headers), func(h conformance.Header) bool { return strings.EqualFold(h.Name, name) })
	s.Headers = append(s.Headers, conformance.Header{Name: name, Value: value})
}

func join(path, query string) string {
	if query == "" {
		return path
	}
	return path + "?" + query
}
