module github.com/kubesim/kubesim/sim/conformance/testdata/suites

go 1.26.0
