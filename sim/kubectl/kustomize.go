package kubectl

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/printer"
	"github.com/kubesim/kubesim/sim/object"
)

// runKustomize prints the objects of the kustomization in a folder, or writes them into a file (kustomize/commands/build).
func runKustomize(c *call) error {
	if len(c.Args) > 1 {
		return fmt.Errorf("specify one path to kustomization.yaml")
	}
	list, err := c.Kustomized(cmp.Or(strings.Join(c.Args, ""), "."))
	if err != nil {
		return err
	}
	docs := make([]string, len(list))
	for i, obj := range list {
		docs[i] = printer.YAML(object.JSON(map[string]any(obj)))
	}
	text := strings.Join(docs, "---\n")
	if file := c.Text("output"); file != "" {
		return c.Process.Files.WriteFile(file, []byte(text))
	}
	c.Printf("%s", text)
	return nil
}
