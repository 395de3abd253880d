package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/resource"
)

// flags are the flags of kubesim serve.
type flags struct {
	listen, kubeconfig, clock, auth string
	tls                             bool
	seed                            uint64
	tokens                          tokens
}

func parseFlags(args []string) (*flags, error) {
	f := &flags{}
	set := flag.NewFlagSet("kubesim serve", flag.ContinueOnError)
	set.StringVar(&f.listen, "listen", "127.0.0.1:0", "`address` to listen on; port 0 takes any free one")
	set.BoolVar(&f.tls, "tls", false, "serve HTTPS with a certificate of its own (use --kubeconfig for clients to trust it)")
	set.Var(&f.tokens, "token", "bearer `token` of the administrator, or USER=TOKEN; may be repeated. With --auth rbac the default is admintoken (system:masters) and alicetoken (alice, no rights)")
	set.StringVar(&f.kubeconfig, "kubeconfig", "", "write a kubeconfig to this `file`")
	set.Uint64Var(&f.seed, "seed", 1, "seed of uids and generated names")
	set.StringVar(&f.clock, "clock", "system", "system, or manual: time moves by POST /sim/v1/clock/advance only")
	set.StringVar(&f.auth, "auth", "none", "none: every request is cluster-admin; rbac: tokens and RBAC decide")
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	switch {
	case set.NArg() > 0:
		return nil, fmt.Errorf("serve takes flags only, not %q", set.Arg(0))
	case f.clock != "system" && f.clock != "manual":
		return nil, fmt.Errorf("--clock %q: use system or manual", f.clock)
	case f.auth != "none" && f.auth != "rbac":
		return nil, fmt.Errorf("--auth %q: use none or rbac", f.auth)
	}
	return f, nil
}

// tokens is the value of --token.
type tokens []auth.Token

func (t *tokens) String() string { return "" }

// Set adds TOKEN of an administrator or USER=TOKEN.
func (t *tokens) Set(text string) error {
	user, token, named := strings.Cut(text, "=")
	if !named {
		*t = append(*t, auth.Token{Token: text, User: resource.User{Name: "admin", Groups: []string{"system:masters"}}})
		return nil
	}
	if user == "" || token == "" {
		return errors.New("say TOKEN or USER=TOKEN")
	}
	*t = append(*t, auth.Token{Token: token, User: resource.User{Name: user}})
	return nil
}

func (f *flags) options() fake.Options {
	o := fake.Options{Seed: f.seed, Clock: clock.System{}}
	if f.clock == "manual" {
		o.Clock = nil
	}
	if f.auth == "rbac" {
		o.Auth = auth.RBAC
		o.Tokens = f.allTokens()
	}
	return o
}

// allTokens adds the default tokens that are not given: a token on the command line replaces that of the same user.
func (f *flags) allTokens() []auth.Token {
	all := append([]auth.Token(nil), f.tokens...)
	for _, d := range auth.DefaultTokens() {
		given := false
		for _, t := range f.tokens {
			given = given || t.User.Name == d.User.Name || t.Token == d.Token
		}
		if !given {
			all = append(all, d)
		}
	}
	return all
}

func serve(args []string) error {
	f, err := parseFlags(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	srv, err := fake.New(f.options())
	if err != nil {
		return err
	}
	defer srv.Close()
	l, err := srv.Listen(fake.ListenOptions{Address: f.listen, TLS: f.tls})
	if err != nil {
		return err
	}
	token := ""
	if f.auth == "rbac" {
		token = f.allTokens()[0].Token
	}
	if f.kubeconfig != "" {
		if err := os.WriteFile(f.kubeconfig, l.KubeConfig(token), 0o600); err != nil {
			return fmt.Errorf("--kubeconfig: %w", err)
		}
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	fmt.Println("serving", l.URL()) // whoever waits for this line may go on: everything is ready
	fmt.Fprintln(os.Stderr, "try:", f.try(l.URL(), token))
	<-stop
	return nil
}

// try is a line that shows the server at work. kubectl sends tokens over TLS only.
func (f *flags) try(url, token string) string {
	switch {
	case f.kubeconfig != "" && (token == "" || f.tls):
		return "kubectl --kubeconfig " + f.kubeconfig + " get namespaces"
	case token != "" && !f.tls:
		return `curl -H "Authorization: Bearer ` + token + `" ` + url + "/api/v1/namespaces   (kubectl sends tokens over TLS only: add --tls)"
	case f.tls:
		return "kubectl --server " + url + " --insecure-skip-tls-verify" + flagOf("token", token) + " get namespaces"
	}
	return "kubectl --server " + url + " get namespaces"
}

func flagOf(name, value string) string {
	if value == "" {
		return ""
	}
	return " --" + name + " " + value
}
