module github.com/kubesim/kubesim/sim/conformance/testdata/integration

go 1.26.0

require github.com/kubesim/kubesim/sim/conformance/testdata/suites v0.0.0

replace github.com/kubesim/kubesim/sim/conformance/testdata/suites => ../suites
