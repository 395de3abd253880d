package shell

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// commands maps the names of the shell's commands to their implementations, which return the exit code.
var commands = map[string]func(p *process, args []string) int{
	":": nothing, "true": nothing, "set": set, "cd": cd, "sync": nothing, "wait": nothing, "chmod": nothing, "chown": nothing,
	"mkdir": nothing, "false": func(*process, []string) int { return 1 }, "export": export,
	"echo": echo, "printf": printf, "sleep": sleep, "exit": exit, "cat": cat, "touch": touch, "rm": remove, "date": date,
	"hostname": hostname, "env": environment, "printenv": environment, "seq": sequence, "test": test, "[": test, "pwd": pwd,
	"trap": trap, "mount": mount, "ls": ls, "whoami": whoami, "[[": test, "expr": expr, "mv": mv, "cp": cp, "ln": cp, "dd": dd, "find": find,
	"grep": grep, "wc": wc, "tee": tee, "head": head, "tail": tail, "id": id, "stat": stat, "sha256sum": sha256sum,
}

func nothing(*process, []string) int { return 0 }

// shells lists the programs that run a script given with -c.
var shells = []string{"sh", "bash", "ash", "dash"}

// oneLiners maps interpreters that run a script in their arguments to the flag that precedes it. Their output is unknown.
var oneLiners = map[string]string{"perl": "-", "python": "-c", "python3": "-c", "node": "-e", "ruby": "-e", "awk": ""}

// clients lists programs that send requests and end. There is no network between pods, so the requests are assumed to succeed, and
// nothing is printed. Pods of "helm test" run them.
var clients = []string{"curl", "wget", "nc", "grpc_health_probe"}

// call runs a command with its arguments: a function of the script, a command of this package, or a nested script.
func (p *process) call(args []string) {
	name := args[0][strings.LastIndexByte(args[0], '/')+1:]
	if name == "exec" && len(args) > 1 {
		p.call(args[1:])
		if !p.stopped {
			p.exit(p.code)
		}
		return
	}
	if body, ok := p.functions[args[0]]; ok {
		p.enter(body)
		return
	}
	if IsShell(name) {
		p.script(args[1:])
		return
	}
	if f := commands[name]; f != nil {
		p.code = f(p, args[1:])
		return
	}
	if flag, ok := oneLiners[name]; ok && len(args) > 2 && strings.HasPrefix(args[1], flag) {
		p.succeed()
		return
	}
	if p.world.Missing {
		p.complain("sh: " + args[0] + ": not found")
		p.code = 127
		return
	}
	if slices.Contains(clients, name) {
		p.succeed()
		return
	}
	p.serve()
}

// Known reports whether the shell can simulate the named command.
func Known(name string) bool {
	return IsShell(name) || commands[name] != nil
}

// IsShell reports whether a command is a shell, given its name or path.
func IsShell(name string) bool {
	return slices.Contains(shells, name[strings.LastIndexByte(name, '/')+1:])
}

// serve makes the process wait forever, as a server does. In a task the command succeeds instead.
func (p *process) serve() {
	if p.world.Task {
		p.succeed()
		return
	}
	p.waits, p.server, p.stopped = true, true, true
}

// succeed simulates a command with an unknown effect that takes a second and does not fail.
func (p *process) succeed() {
	p.sleep(time.Second)
	p.code = 0
}

// script runs the script that follows the flag -c.
func (p *process) script(args []string) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if strings.HasSuffix(args[0], "c") && len(args) > 1 {
			if x, err := Parse(args[1]); err == nil {
				strict := p.strict
				p.strict = strings.Contains(args[0], "e")
				p.within(x.list)
				p.strict = strict
				return
			}
			break
		}
		args = args[1:]
	}
	if len(args) == 0 { // a shell without a script reads its input, which is empty
		p.code = 0
		return
	}
	if p.world.Missing {
		p.complain("sh: syntax error: kubesim's shell does not know this")
		p.code = 2
		return
	}
	p.serve()
}

func number(n int) string { return strconv.Itoa(n) }

func echo(p *process, args []string) int {
	end, escapes := "\n", false
	for len(args) > 0 && (args[0] == "-n" || args[0] == "-e" || args[0] == "-ne" || args[0] == "-en") {
		if strings.Contains(args[0], "n") {
			end = ""
		}
		escapes = escapes || strings.Contains(args[0], "e")
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if escapes {
		text = unescape(text)
	}
	p.print(text + end)
	return 0
}

func unescape(text string) string {
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`, `\r`, "\r").Replace(text)
}

// printf supports only the verbs %s, %d and %%.
func printf(p *process, args []string) int {
	if len(args) == 0 {
		return 2
	}
	format, args := unescape(args[0]), args[1:]
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		switch i++; format[i] {
		case '%':
			b.WriteByte('%')
		default:
			if len(args) > 0 {
				b.WriteString(args[0])
				args = args[1:]
			}
		}
	}
	p.print(b.String())
	return 0
}

func sleep(p *process, args []string) int {
	var all time.Duration
	for _, text := range args {
		if text == "infinity" || text == "inf" {
			p.waits, p.stopped = true, true
			return 0
		}
		unit, factor := text, time.Second
		if n := len(text); n > 0 {
			switch text[n-1] {
			case 's':
				unit = text[:n-1]
			case 'm':
				unit, factor = text[:n-1], time.Minute
			case 'h':
				unit, factor = text[:n-1], time.Hour
			case 'd':
				unit, factor = text[:n-1], 24*time.Hour
			}
		}
		f, err := strconv.ParseFloat(unit, 64)
		if err != nil || f < 0 || f*float64(factor) > math.MaxInt64/4 {
			p.complain("sleep: invalid number '" + text + "'")
			return 1
		}
		all += time.Duration(f * float64(factor))
	}
	p.sleep(all)
	return 0
}

func exit(p *process, args []string) int {
	code := p.code
	if len(args) > 0 {
		n, err := strconv.Atoi(args[0])
		if code = n & 255; err != nil {
			code = 2
		}
	}
	p.exit(code)
	return code
}

func date(p *process, args []string) int {
	at := p.world.Start.Add(p.now).UTC()
	if len(args) == 1 && args[0] == "+%s" {
		p.print(strconv.FormatInt(at.Unix(), 10) + "\n")
		return 0
	}
	p.print(at.Format(time.UnixDate) + "\n")
	return 0
}

func export(p *process, args []string) int {
	for _, text := range args {
		if name, value, ok := strings.Cut(text, "="); ok {
			p.vars[name] = value
		}
	}
	return 0
}

func environment(p *process, args []string) int {
	if len(args) == 1 {
		value, ok := p.vars[args[0]]
		if !ok {
			return 1
		}
		p.print(value + "\n")
		return 0
	}
	var names []string
	for name := range p.vars { // sorted below
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		p.print(name + "=" + p.vars[name] + "\n")
	}
	return 0
}

func sequence(p *process, args []string) int {
	from, to := 1, 0
	switch len(args) {
	case 1:
		to, _ = strconv.Atoi(args[0])
	case 2:
		from, _ = strconv.Atoi(args[0])
		to, _ = strconv.Atoi(args[1])
	}
	var b strings.Builder
	for n := from; n <= min(to, from+sequenceMax); n++ {
		b.WriteString(number(n) + "\n")
	}
	p.print(b.String())
	return 0
}

// sequenceMax limits how far seq counts.
const sequenceMax = 100_000

// trap sets signal handlers. Only a handler of SIGTERM is kept.
func trap(p *process, args []string) int {
	p.handles = true
	if len(args) < 2 || !slices.ContainsFunc(args[1:], func(s string) bool { return s == "TERM" || s == "SIGTERM" || s == "15" }) {
		return 0
	}
	x, err := Parse(args[0])
	p.term, p.trapped = nil, err == nil && args[0] != "-"
	if p.trapped {
		p.term = x.list
	}
	return 0
}

// test supports -f, -d, -e, -L, -z, -n, =, !=, -eq, -ne, -lt, -le, -gt, -ge and !.
func test(p *process, args []string) int {
	if n := len(args); n > 0 && (args[n-1] == "]" || args[n-1] == "]]") {
		args = args[:n-1]
	}
	not := len(args) > 0 && args[0] == "!"
	if not {
		args = args[1:]
	}
	if holds(p, args) != not {
		return 0
	}
	return 1
}

func holds(p *process, args []string) bool {
	switch len(args) {
	case 1:
		return args[0] != ""
	case 2:
		switch args[0] {
		case "-z":
			return args[1] == ""
		case "-n":
			return args[1] != ""
		}
		_, ok := p.read(args[1])
		switch args[0] {
		case "-f", "-s":
			return ok
		case "-d":
			return !ok && p.isFolder(args[1])
		case "-L", "-h": // no file is a symbolic link
			return false
		}
		return ok || p.isFolder(args[1])
	case 3:
		a, _ := strconv.Atoi(args[0])
		b, _ := strconv.Atoi(args[2])
		return map[string]bool{"=": args[0] == args[2], "==": args[0] == args[2], "!=": args[0] != args[2], "-eq": a == b, "-ne": a != b,
			"-lt": a < b, "-le": a <= b, "-gt": a > b, "-ge": a >= b}[args[1]]
	}
	return false
}

// arithmetic evaluates sums and products of numbers and variables from left to right, without precedence.
func (p *process) arithmetic(text string) int {
	total, op := 0, byte('+')
	for i := 0; i < len(text); {
		c := text[i]
		if strings.IndexByte("+-*/%", c) >= 0 {
			op = c
			i++
			continue
		}
		end := i
		for end < len(text) && strings.IndexByte("+-*/% \t", text[end]) < 0 {
			end++
		}
		if end == i {
			i++
			continue
		}
		total = apply(total, op, p.operand(text[i:end]))
		i = end
	}
	return total
}

func (p *process) operand(text string) int {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	n, _ := strconv.Atoi(p.value(piece{kind: variable, text: strings.TrimPrefix(text, "$")}))
	return n
}

func apply(total int, op byte, n int) int {
	switch op {
	case '-':
		return total - n
	case '*':
		return total * n
	case '/':
		if n != 0 {
			return total / n
		}
		return 0
	case '%':
		if n != 0 {
			return total % n
		}
		return 0
	}
	return total + n
}
