module github.com/kubesim/kubesim/sim/conformance/testdata/compat

go 1.26.0
