package check

import "testing"

// FuzzRead checks that any file can be read, and that each field of its objects has a position in the file.
func FuzzRead(f *testing.F) {
	f.Add("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\n[", "metadata.name")
	f.Add("{\"apiVersion\": \"v1\",\n\t\"kind\": \"List\", \"items\": [{\"kind\": \"A\", \"apiVersion\": \"b\"}]}", ".spec.a[0][b.c]")
	f.Add("a: &x [1]\nkind: A\napiVersion: *x", "a[0]")
	f.Fuzz(func(t *testing.T, text, field string) {
		s := &Sources{}
		s.data("x.yaml", []byte(text), true)
		for _, o := range s.Objects {
			if line, column := o.position(field, false); line < 1 || column < 1 {
				t.Fatalf("%q is at %d:%d", field, line, column)
			}
			o.findings(&Verdict{Code: 422, Message: text, Warnings: []string{field}})
		}
	})
}
