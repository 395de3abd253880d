package fake

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/fake/dump"
)

// Import stores the objects of a real cluster as they are: with their uid, status, owners, finalizers, managed fields,
// times, generation, deletionTimestamp and resourceVersion. Each path is a file, a folder, or "-" for standard input:
//
//   - the output of kubectl get -A -o yaml or json, of kubectl cluster-info dump, and of kwokctl snapshot export
//   - a must-gather of OpenShift, a backup by Velero, a capture by k8shark, packed or not
//   - a snapshot of etcd, by etcdctl snapshot save
//
// The objects may be in any order. They are validated like an update that changes nothing, so that every object that a
// server may have stored can be imported. Fields with defaults that are missing are set, as by a server that reads such
// an object. Admission plugins and webhooks are not called. Missing namespaces are created. Objects that cannot be
// imported are in Imported.Refused, with the reason. If a file is damaged, the error names its line, and nothing is
// imported.
//
// The API servers and controllers restart over the objects, as if etcd had been restored from a backup: open watches
// end. Other objects of the server stay unless an imported one has the same name. A manual clock that is behind the
// newest time in the files advances to it. In a test that began with RunT, an error ends the test.
func (s *Server) Import(paths ...string) (*Imported, error) {
	d, err := dump.Read(paths...)
	if err != nil {
		err = fmt.Errorf("kubesim: import: %w", err)
		if s.test != nil {
			s.test.Fatalf("%v", err)
		}
		return nil, err
	}
	return s.ImportDump(d)
}

// Imported is the result of an import.
type Imported struct {
	Objects    int            // the number of imported objects
	Refused    []dump.Problem // objects that cannot be imported, and other contents of the files
	Namespaces []string       // namespaces that were created because imported objects are in them
}

// String describes the result in a few lines.
func (x *Imported) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "imported %d objects\n", x.Objects)
	if len(x.Namespaces) > 0 {
		fmt.Fprintf(&b, "created the missing namespaces %s\n", strings.Join(x.Namespaces, ", "))
	}
	for _, p := range x.Refused {
		fmt.Fprintf(&b, "not imported: %s: %s\n", p.Place, p.Reason)
	}
	return b.String()
}

// ImportDump is like Import, for objects that were read before. It does not fail a test.
func (s *Server) ImportDump(d *dump.Dump) (*Imported, error) {
	texts := make([][]byte, len(d.Objects))
	for i, o := range d.Objects {
		texts[i] = o.JSON
	}
	done, err := s.cluster.Import(texts, d.Newest())
	if err == nil {
		err = s.journal.rewrite(s.cluster)
	}
	if err != nil {
		return nil, err
	}
	all := &Imported{Objects: done.Objects, Namespaces: done.Namespaces}
	for _, r := range done.Refused {
		all.Refused = append(all.Refused, dump.Problem{Place: d.Objects[r.Index].Place(), Reason: r.Reason.Error()})
	}
	all.Refused = append(all.Refused, d.Skipped...)
	return all, nil
}
