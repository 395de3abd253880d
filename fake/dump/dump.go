// Package dump reads objects of real clusters from the files in which other tools save them. It sends nothing over the network.
//
//	file, folder, stdin ─┬─ gzip ─▶ tar ─┐
//	                     ├─ zip ─────────┼─▶ files ─┬─ YAML and JSON, lists and streams       text.go
//	                     └───────────────┘          ├─ output of kubectl cluster-info dump    text.go
//	                                                ├─ records of k8shark                     shark.go
//	                                                └─ snapshots of etcd                      etcd.go, bolt.go
//
// A file of an archive or a folder is read if its name ends in .yaml, .yml, .json, .json.zst or .db, so that logs are skipped. The
// objects of an OpenShift must-gather and of a backup by Velero are such files.
package dump

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/object"
)

// Dump contains the objects of a cluster.
type Dump struct {
	Objects []Object
	Skipped []Problem // contents that are not objects

	newest  time.Time
	nodes   []string
	records []record // of k8shark
	size    int64    // the number of bytes read so far
}

// Object is one object of a Dump.
type Object struct {
	JSON []byte
	File string
	Line int    // of the document in the file, or 0
	Name string // kind, namespace and name
}

// Place returns the location and the name of an object for messages.
func (o *Object) Place() string { return place(o.File, o.Line) + ": " + o.Name }

// Problem is a part of a dump that cannot be imported.
type Problem struct{ Place, Reason string }

// place returns FILE:LINE, or FILE if the line is not known.
func place(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// Newest returns the newest time of the objects (object.Object.Newest) and of the records of k8shark. It returns the zero time if
// there is none.
func (d *Dump) Newest() time.Time { return d.newest }

// NodeNames returns the names of the nodes in the order in which they were read.
func (d *Dump) NodeNames() []string { return d.nodes }

// add adds an object, and updates the names of the nodes and the newest time.
func (d *Dump) add(o Object, obj object.Object) {
	o.Name = obj.Kind() + " " + obj.Name()
	if namespace := obj.Namespace(); namespace != "" {
		o.Name = obj.Kind() + " " + namespace + "/" + obj.Name()
	}
	d.Objects = append(d.Objects, o)
	if obj.Kind() == "Node" && obj.APIVersion() == "v1" && !slices.Contains(d.nodes, obj.Name()) {
		d.nodes = append(d.nodes, obj.Name())
	}
	d.seen(obj.Newest())
}

// seen sets the newest time of the dump to t if t is later.
func (d *Dump) seen(t time.Time) {
	if t.After(d.newest) {
		d.newest = t
	}
}
