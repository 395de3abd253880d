package kubectl

import (
	"fmt"
)

// errUnsimulated returns the error of a command that this kubectl does not have.
func errUnsimulated(why string) error { return fmt.Errorf("this is not simulated: %s", why) }

func runKustomize(*call) error {
	return errUnsimulated("build with the real kustomize, and apply what it prints")
}

func runProxy(*call) error { return errUnsimulated("there is no port here to listen on") }

func runPlugin(*call) error { return errUnsimulated("there are no plugins here") }

func runCompletion(*call) error { return errUnsimulated("the line that you type is completed already") }

func runCopy(c *call) error {
	if len(c.Args) < 2 {
		return fmt.Errorf("source and destination are required")
	}
	return errUnsimulated("containers have no file systems that could be copied from or to")
}

func runPortForward(c *call) error {
	if len(c.Args) < 2 {
		return c.usage("TYPE/NAME and list of ports are required for port-forward")
	}
	if _, err := c.podNamed(c.Args[0]); err != nil {
		return err
	}
	return errUnsimulated("there is no port here to listen on")
}

func runDebug(c *call) error {
	if !c.Given("image") && !c.Given("copy-to") {
		return fmt.Errorf("you must specify --image when not using --copy-to.")
	}
	return errUnsimulated("no image runs in this cluster: look with kubectl describe, logs and exec")
}
