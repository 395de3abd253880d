// Command sample is the sample-controller of Kubernetes, as its developers have written it, under fake.Explore with all oracles:
// make sample puts its controller.go, which is package main and cannot be imported, beside the test.
package main

func main() {}
