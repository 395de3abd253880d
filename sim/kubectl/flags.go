package kubectl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// flagKind is how the value of a flag is read.
type flagKind byte

const (
	textFlag     flagKind = 0   // any text
	boolFlag     flagKind = '?' // true or false, true when nothing is said
	numberFlag   flagKind = '#'
	durationFlag flagKind = '@'
	arrayFlag    flagKind = '*' // may be there several times
	listFlag     flagKind = ',' // the same, and a comma joins several
	choiceFlag   flagKind = '~' // a text only after =; without it: the text unchanged
)

// flag is one flag.
type flag struct {
	name, short string
	kind        flagKind
	required    bool
}

// flagsOf reads a list of flags: output|o all? replicas#! from-literal* is -o/--output TEXT, --all, --replicas N, which
// has to be there, and --from-literal TEXT as often as one likes.
func flagsOf(spec string) []flag {
	var out []flag
	for _, word := range strings.Fields(spec) {
		f := flag{required: strings.HasSuffix(word, "!")}
		word = strings.TrimSuffix(word, "!")
		if last := flagKind(word[len(word)-1]); strings.IndexByte("?#@*,~", byte(last)) >= 0 {
			f.kind, word = last, word[:len(word)-1]
		}
		f.name, f.short, _ = strings.Cut(word, "|")
		out = append(out, f)
	}
	return out
}

// Flags that many commands have.
const (
	everywhere = "namespace|n as as-group* as-uid context cluster user kubeconfig server|s token request-timeout help|h? v|v# " +
		"certificate-authority client-certificate client-key insecure-skip-tls-verify? tls-server-name cache-dir " +
		"disable-compression? match-server-version? warnings-as-errors? profile profile-output log-flush-frequency@ vmodule kuberc as-user-extra*"
	printed   = " output|o template allow-missing-template-keys? show-managed-fields?"
	ofFiles   = " filename|f, kustomize|k recursive|R?"
	selecting = " selector|l field-selector all?"
	dry       = " dry-run~ field-manager"
)

// named is how pflag names a flag in an error.
func (f *flag) named() string {
	if f.short != "" {
		return "-" + f.short + ", --" + f.name
	}
	return "--" + f.name
}

// set reads a value.
func (c *call) set(f *flag, value string) error {
	var err error
	switch f.kind {
	case boolFlag:
		_, err = strconv.ParseBool(value)
	case numberFlag:
		_, err = strconv.ParseInt(value, 0, 64)
	case durationFlag:
		if _, err = time.ParseDuration(value); err != nil {
			if n, e := strconv.Atoi(value); e == nil && f.name == "request-timeout" {
				value, err = strconv.Itoa(n)+"s", nil
			}
		}
	case listFlag:
		c.flags[f.name] = append(c.flags[f.name], splitList(value)...)
		return nil
	case arrayFlag:
		c.flags[f.name] = append(c.flags[f.name], value)
		return nil
	}
	if err != nil {
		return fmt.Errorf("invalid argument %q for %q flag: %w", value, f.named(), err)
	}
	c.flags[f.name] = []string{value}
	return nil
}

// splitList splits at commas that are not in quotes.
func splitList(text string) []string {
	if !strings.Contains(text, `"`) {
		return strings.Split(text, ",")
	}
	var out []string
	quoted, from := false, 0
	for i := 0; i <= len(text); i++ {
		switch {
		case i == len(text) || text[i] == ',' && !quoted:
			out = append(out, strings.Trim(text[from:i], `"`))
			from = i + 1
		case text[i] == '"':
			quoted = !quoted
		}
	}
	return out
}

// parseFlags reads flags and arguments, which may stand in any order up to a double dash (pflag).
func (c *call) parseFlags(args []string) error {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			c.dash = len(c.args)
			c.args = append(c.args, args[i+1:]...)
			return nil
		case strings.HasPrefix(a, "--"):
			name, value, given := strings.Cut(a[2:], "=")
			f := c.flagNamed(name, "")
			switch {
			case f == nil:
				return fmt.Errorf("unknown flag: --%s", name)
			case given:
			case f.kind == boolFlag:
				value = "true"
			case f.kind == choiceFlag:
				value = unchanged
			case i+1 == len(args):
				return fmt.Errorf("flag needs an argument: --%s", name)
			default:
				i++
				value = args[i]
			}
			if err := c.set(f, value); err != nil {
				return err
			}
		case strings.HasPrefix(a, "-") && len(a) > 1:
			used, err := c.shortFlags(a[1:], args[i+1:])
			if err != nil {
				return err
			}
			i += used
		default:
			c.args = append(c.args, a)
		}
	}
	return nil
}

// unchanged is the value of a choiceFlag of which nothing but its name is said.
const unchanged = "unchanged"

// shortFlags reads flags of one letter and returns how many of the next words are values of them.
func (c *call) shortFlags(text string, next []string) (used int, err error) {
	for n := 0; n < len(text); n++ {
		f := c.flagNamed("", text[n:n+1])
		if f == nil {
			return 0, fmt.Errorf("unknown shorthand flag: %q in -%s", text[n], text)
		}
		rest := text[n+1:]
		switch {
		case f.kind == boolFlag && strings.HasPrefix(rest, "="):
			return 0, c.set(f, rest[1:])
		case f.kind == boolFlag:
			if err := c.set(f, "true"); err != nil {
				return 0, err
			}
			continue
		case rest != "":
			return 0, c.set(f, strings.TrimPrefix(rest, "="))
		case len(next) == 0:
			return 0, fmt.Errorf("flag needs an argument: %q in -%s", text[n], text)
		}
		return 1, c.set(f, next[0])
	}
	return 0, nil
}

func (c *call) flagNamed(name, short string) *flag {
	for i := range c.known {
		if f := &c.known[i]; name != "" && f.name == name || short != "" && f.short == short {
			return f
		}
	}
	return nil
}

// missingFlags returns the flags that have to be there and are not, quoted.
func (c *call) missingFlags() string {
	var out []string
	for _, f := range c.known {
		if _, ok := c.flags[f.name]; f.required && !ok {
			out = append(out, strconv.Quote(f.name))
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// text returns the value of a flag, "" without it.
func (c *call) text(name string) string {
	if list := c.flags[name]; len(list) > 0 {
		return list[len(list)-1]
	}
	return ""
}

// list returns the values of a flag.
func (c *call) list(name string) []string { return c.flags[name] }

// given reports whether a flag is there.
func (c *call) given(name string) bool { return len(c.flags[name]) > 0 }

// on reports whether a boolFlag is true.
func (c *call) on(name string) bool {
	on, _ := strconv.ParseBool(c.text(name))
	return on
}

// off reports whether a boolFlag was set to false.
func (c *call) off(name string) bool { return c.given(name) && !c.on(name) }

// number returns the value of a numberFlag, or otherwise.
func (c *call) number(name string, otherwise int64) int64 {
	if n, err := strconv.ParseInt(c.text(name), 0, 64); err == nil {
		return n
	}
	return otherwise
}

// duration returns the value of a durationFlag, or otherwise.
func (c *call) duration(name string, otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(c.text(name)); err == nil {
		return d
	}
	return otherwise
}
