//go:build !js || !nocel

package kubectl

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

func runCertificateApprove(c *call) error { return c.decide("Approved", "Denied") }
func runCertificateDeny(c *call) error    { return c.decide("Denied", "Approved") }

// decide adds a condition to certificate signing requests, and prints them as they were before. It returns an error for each one that
// has the opposite condition (kubectl/pkg/cmd/certificates.CertificateOptions).
func (c *call) decide(condition, opposite string) error {
	if len(c.Args) == 0 && !c.Given("filename") && !c.Given("kustomize") {
		return errors.New("one or more CSRs must be specified as <name> or -f <filename>")
	}
	args := make([]string, len(c.Args))
	for i, name := range c.Args {
		args[i] = name
		if !strings.Contains(name, "/") {
			args[i] = "certificatesigningrequests/" + name
		}
	}
	found := 0
	err := c.visit(args, client.Selection{}, func(info *client.Info) error {
		found++
		if m := info.Mapping; m.Kind != "CertificateSigningRequest" {
			return fmt.Errorf("can only handle CertificateSigningRequest.certificates.k8s.io objects, got %s", client.JoinGroup(m.Kind, m.Group))
		}
		if err := c.decideOne(info, condition, opposite); err != nil {
			return err
		}
		return c.printObj(info, strings.ToLower(condition))
	})
	if found == 0 && err == nil {
		c.Printf("No resources found\n")
	}
	return err
}

// decideOne adds the condition to one request that lacks it. With --force it also updates a request that has it.
func (c *call) decideOne(info *client.Info, condition, opposite string) error {
	done := false
	for _, one := range info.Object.Objects("status", "conditions") {
		switch one.String("type") {
		case opposite:
			return fmt.Errorf("certificate signing request %q is already %s", info.Name, opposite)
		case condition:
			done = true
		}
	}
	if done && !c.On("force") {
		return nil
	}
	csr := info.Object.Copy()
	if !done {
		verb := c.verb.name
		csr.Set(append(csr.List("status", "conditions"), map[string]any{"type": condition, "status": "True",
			"reason": "Kubectl" + strings.ToUpper(verb[:1]) + verb[1:], "lastUpdateTime": object.Time(c.Now()),
			"message": fmt.Sprintf("This CSR was %s by kubectl certificate %s.", strings.ToLower(condition), verb),
		}), "status", "conditions")
	}
	_, err := c.Ask(c.Request(wire.MethodPut, info.Path()+"/approval", nil, "application/json", json(csr)))
	return err
}
