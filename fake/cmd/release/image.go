package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// imageName is the name of the image after its archive is loaded. It is not in any registry.
const imageName = "localhost/kubesim"

// imagePath is the directory of the command in the image. It is in PATH, because a Job of kubesim sweep --job starts the command by
// name.
const imagePath = "/usr/local/bin"

// imageCommand is the default command of the image. Because a container is reachable from the network, requests must be
// authenticated: kubesim generates a token for the administrator, and prints it in an example command. TLS is needed because
// kubectl sends tokens only over TLS.
var imageCommand = []string{"serve", "--listen", "0.0.0.0:6443", "--tls", "--auth", "rbac"}

// imageFiles returns the files of the image: the command, its licenses, and a directory for temporary files.
func imageFiles(program []entry) []entry {
	files := []entry{{name: "tmp/", mode: 0o777 | os.ModeSticky}}
	for _, folder := range []string{"usr", "usr/local", "usr/local/bin", "usr/share", "usr/share/doc", "usr/share/doc/kubesim"} {
		files = append(files, directory(folder))
	}
	for _, f := range program {
		switch f.name {
		case "kubesim":
			f.name = imagePath[1:] + "/kubesim"
		case "README.md":
			continue
		default:
			f.name = "usr/share/doc/kubesim/" + f.name
		}
		files = append(files, f)
	}
	return files
}

// imageFor returns the image for a platform: one layer on an empty base.
func (r *release) imageFor(p platform, program []entry) (v1.Image, error) {
	var files bytes.Buffer
	if err := writeTar(&files, imageFiles(program), r.time); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files.Bytes())), nil }
	layer, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer),
		tarball.WithCompressionLevel(gzip.BestCompression), tarball.WithCompressedCaching)
	if err != nil {
		return nil, err
	}
	created := v1.Time{Time: r.time}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.Append(base, mutate.Addendum{Layer: layer, History: v1.History{Created: created, CreatedBy: "make release VERSION=" + r.version}})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = p.os, p.arch, created
	config.Config = v1.Config{
		Entrypoint:   []string{imagePath + "/kubesim"},
		Cmd:          imageCommand,
		Env:          []string{"PATH=" + imagePath, "HOME=/tmp"},
		User:         fmt.Sprintf("%d:%[1]d", imageUser), // numeric, so that Kubernetes can check runAsNonRoot
		WorkingDir:   "/",
		ExposedPorts: map[string]struct{}{"6443/tcp": {}},
		Labels: map[string]string{
			"org.opencontainers.image.title":    "kubesim",
			"org.opencontainers.image.version":  r.version,
			"org.opencontainers.image.revision": r.commit,
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return mutate.ConfigFile(image, config)
}

// image writes an OCI archive with the images for all Linux platforms.
func (r *release) image(programs map[platform][]entry) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	found := false
	for _, p := range r.platforms {
		if p.os != "linux" {
			continue
		}
		image, err := r.imageFor(p, programs[p])
		if err != nil {
			return err
		}
		found = true
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.os, Architecture: p.arch}}})
	}
	if !found {
		return nil
	}
	r.logf("writing the image")
	folder, err := os.MkdirTemp("", "kubesim-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	path, err := layout.Write(folder, mutate.IndexMediaType(empty.Index, types.OCIImageIndex))
	if err != nil {
		return err
	}
	// Skopeo uses the first name, and containerd and podman use the second one.
	names := map[string]string{"org.opencontainers.image.ref.name": r.version, "io.containerd.image.name": imageName + ":" + r.version}
	if err := path.AppendIndex(index, layout.WithAnnotations(names)); err != nil {
		return err
	}
	files, err := readFolder(folder)
	if err != nil {
		return err
	}
	return writeFile(r.file("image.oci.tar"), files, r.time, writeTar)
}
