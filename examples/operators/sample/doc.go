// Command sample is the sample-controller of Kubernetes under fake.Explore. Its controller.go is package main and cannot be imported:
// make operators copies it here.
package main

func main() {}
