// Command release builds and checks the files of a kubesim release. make release and make release-check call it.
//
//	release build -version v0.1.0    build everything into dist/v0.1.0
//	release check -version v0.1.0    build it twice, compare, and run the results
//
// Two builds of the same commit with the same Go version are identical byte for byte: all times are the commit's, archive entries
// are sorted and belong to user 0, and programs contain neither local paths nor git tags.
//
//	release ─┬─ commit   version, clean tree, CHANGELOG.md, requirements of the modules, tags that are free
//	         ├─ program  one for each platform: go build ─▶ archive (.tar.gz, .zip), licenses, SBOM (CycloneDX)
//	         ├─ image    the programs for linux ─▶ one OCI archive for all of them
//	         ├─ page     make web-dist ─▶ archive
//	         ├─ npm      make npm-pack ─▶ tarball, if the Makefile has this target
//	         └─ SHA256SUMS
//
// It is a separate module, so that users of kubesim do not depend on its requirements.
package main
