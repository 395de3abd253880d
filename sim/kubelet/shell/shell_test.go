package shell_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/kubelet/shell"
)

// run returns the output of a script, each piece with its time, followed by the result.
func run(script string, w shell.World) string {
	x, err := shell.Parse(script)
	if err != nil {
		return err.Error()
	}
	return text(x.Run(w))
}

func text(r *shell.Result) string {
	var b strings.Builder
	for _, o := range r.Output {
		mark := ""
		if o.Error {
			mark = "!"
		}
		fmt.Fprintf(&b, "%s%v %q, ", mark, o.At, o.Text)
	}
	switch {
	case r.Ended:
		fmt.Fprintf(&b, "ended %v %d", r.At, r.Code)
	case r.Waits:
		fmt.Fprintf(&b, "waits %v", r.At)
	default:
		fmt.Fprintf(&b, "goes on %v", r.At)
	}
	return b.String()
}

func TestScripts(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct{ script, want string }{
		{"echo hi; sleep 5; exit 3", `0s "hi\n", ended 5s 3`},
		{"true && echo a || echo b", `0s "a\n", ended 0s 0`},
		{"false && echo a || echo b", `0s "b\n", ended 0s 0`},
		{"nginx -g 'daemon off;'", `waits 0s`},
		{"echo a\nmyserver\necho never", `0s "a\n", waits 0s`},
		{"i=0; while [ $i -lt 3 ]; do echo \"$i: $(date)\"; i=$((i+1)); sleep 1; done", `0s "0: Thu Jan  1 00:00:00 UTC 2026\n", ` +
			`1s "1: Thu Jan  1 00:00:01 UTC 2026\n", 2s "2: Thu Jan  1 00:00:02 UTC 2026\n", ended 3s 0`},
		{"while true; do sleep 10; done", `goes on 1m0s`},
		{"while true; do :; done", `waits 0s`},
		{"for x in a 'b c' $(echo d e); do echo $x; done", `0s "a\n", 0s "b c\n", 0s "d\n", 0s "e\n", ended 0s 0`},
		{"touch /tmp/healthy; sleep 30; rm -f /tmp/healthy; cat /tmp/healthy", `!30s "cat: can't open '/tmp/healthy': No such file or directory\n", ended 30s 1`},
		{"echo a > /f; echo b >> /f; cat /f; echo c >&2", "0s \"a\\nb\\n\", !0s \"c\\n\", ended 0s 0"},
		{"if test -f /x; then echo y; elif true; then echo z; fi", `0s "z\n", ended 0s 0`},
		{"echo $NAME ${NAME}s '$NAME'", `0s "web webs $NAME\n", ended 0s 0`},
		{"sh -c 'exit 4'; echo $?", `0s "4\n", ended 0s 0`},
		{"sleep 0.5s; sleep 0.9m", `ended 54.5s 0`},
		{"x=a; while true; do x=$x$x; done", `goes on 0s`},
		{"sleep infinity", `waits 0s`},
		{"echo a > /d/a.conf; echo b > /d/b.conf; echo c > /d/c; cp /d/*.conf /e/; cat /e/a.conf /e/b.conf /e/c; cp /d/*.x /e/", `0s "a\n", 0s "b\n", ` +
			"!0s \"cat: can't open '/e/c': No such file or directory\\n\", !0s \"cp: can't stat '/d/*.x': No such file or directory\\n\", ended 0s 1"},
		{"echo a | grep b", `ended 0s 1`},
		{"printf 'b\\na\\nab\\n' | grep a | wc -l", `0s "2\n", ended 0s 0`},
		{"seq 9 | tail -2 | head -n 1; echo x | cat | tee /f; sleep 1; cat /f", `0s "8\n", 0s "x\n", 1s "x\n", ended 1s 0`},
		{"(echo a)", "shell: there is more in it than this shell knows"},
		{"if [[ -r /d ]]; then exit 0; else touch /d; exit 1; fi", `ended 0s 1`},
		{"if [ $(expr 3 % 2) -ne 0 ]; then echo odd; fi; expr 2 + 3; expr 1 '<' 2", `0s "odd\n", 0s "5\n", 0s "1\n", ended 0s 0`},
		{"echo a > /f; mv -v /f /tmp/ || true; mv /f /tmp/ || cat /tmp/f", `0s "'/f' -> '/tmp/f'\n", ` +
			`!0s "mv: can't rename '/f': No such file or directory\n", 0s "a\n", ended 0s 0`},
		{"hostname | dd of=/f; ln -s /f /g; cat /g", `0s "web\n", ended 0s 0`},
		{"echo $(( $RANDOM / 32768 )) $RANDOM $RANDOM", `0s "0 6509 30313\n", ended 0s 0`},
		{"f() { echo $x; }; x=1; f; { x=2; f; }; g(){ g; }; g", `0s "1\n", 0s "2\n", waits 0s`},
		{"server &", "shell: there is more in it than this shell knows"},
		{"set -eu; false || true; if false; then :; fi; ! true || echo no; x=$(exit 3); echo never", `0s "no\n", ended 0s 3`},
		{"set -e; echo a | grep -q b && echo never; ! false; set +e; false; echo c", `0s "c\n", ended 0s 0`},
		{"cd /tmp && echo a > f; pwd; sha256sum f > f.sum; sha256sum -c f.sum; cat /tmp/f; stat -c %a f; ls -a", `0s "/tmp\n", 0s "f: OK\n", 0s "a\n", ` +
			`0s "644\n", 0s ".\n..\n", 0s "f\n", 0s "f.sum\n", ended 0s 0`},
		{"printf 'a+b\\n.\\n' | grep -v '^\\.\\.\\?$'; echo ab | grep -xc a; echo ab | grep -E '^(a|c)b$'", `0s "a+b\n", 0s "0\n", 0s "ab\n", ended 0s 0`},
		{"id -u; id; whoami; test -d /etc && test ! -d /nowhere && ! test -L /etc", `0s "0\n", 0s "uid=0 gid=0 groups=0\n", 0s "root\n", ended 0s 0`},
		{"# nothing\nprintf '%s-%d\\n' a 1", `0s "a-1\n", ended 0s 0`},
	} {
		got := run(test.script, shell.World{Start: start, Env: map[string]string{"NAME": "web", "HOSTNAME": "web"}, Limit: time.Minute})
		if got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.script, got, test.want)
		}
	}
}

// TestTraps checks that a script's handler of SIGTERM takes effect as soon as the script has set it.
func TestTraps(t *testing.T) {
	is := is.New(t)
	for script, want := range map[string]string{
		"_term(){\n\tsleep 5\n\texit $code\n}\ncode=143\ntrap _term SIGTERM\nwhile true; do\n\tsleep 1\ndone": "ended 5s 143",
		"trap 'echo bye; exit' TERM; sleep 60": `0s "bye\n", ended 0s 0`, "trap '' TERM INT; sleep 60": "goes on", "sleep 60; trap exit TERM": "no handler",
		"trap exit INT; sleep 60": "no handler", "trap exit TERM; trap - TERM; sleep 60": "no handler",
	} {
		x, err := shell.Parse(script)
		is.NoErr(err)
		got := "no handler"
		if h := x.Run(shell.World{Limit: 10 * time.Second}).Term; h != nil {
			got = "goes on"
			if r := h.Run(shell.World{}); r.Exited {
				got = text(r)
			}
		}
		is.Equal(got, want)
	}
}

// FuzzShell checks that no script causes a panic or exceeds its limit.
func FuzzShell(f *testing.F) {
	f.Add("while true; do echo $(date); done")
	f.Add("for i in $(seq 9); do echo `echo $i`; done")
	f.Fuzz(func(t *testing.T, script string) {
		x, err := shell.Parse(script)
		if err != nil {
			return
		}
		if r := x.Run(shell.World{Limit: time.Hour, Steps: 1000}); r.At > time.Hour {
			t.Errorf("it ran for %v", r.At)
		}
	})
}

// TestFiles checks that a program can read and remove files that existed before it.
func TestFiles(t *testing.T) {
	is := is.New(t)
	open := func(path string) (string, bool) { return "text", path == "/etc/config/key" }
	x, err := shell.Parse("cat /etc/config/key; rm /etc/config/key; touch /made")
	is.NoErr(err)
	r := x.Run(shell.World{Open: open})
	is.Equal(r.Output, []shell.Output{{Text: "text"}})
	gone, known := r.Files["/etc/config/key"]
	is.True(known && gone == nil)
	is.True(r.Files["/made"] != nil)
	is.Equal(run("cat /made", shell.World{Files: r.Files}), "ended 0s 0")
	volume := shell.World{Open: open, Mounts: map[string]bool{"/etc/config": true, "/data": false}, Names: []string{"/etc/config/key"}}
	is.Equal(run("ls /etc/config; touch /etc/config/key || rm -f /etc/config/key || echo b > /etc/config/b", volume), `0s "key\n", `+
		`!0s "touch: /etc/config/key: Read-only file system\n", !0s "rm: can't remove '/etc/config/key': Read-only file system\n", `+
		`!0s "sh: can't create /etc/config/b: Read-only file system\n", ended 0s 1`)
	owned := shell.World{Mounts: volume.Mounts, Open: open, User: 1000, Group: 3000, FSGroup: 2000}
	is.Equal(run("touch /data/a /b; stat -c '%u %g %s %n' /data/a /b /etc/config/key; stat -c %g /c || stat -c %y /b", owned),
		`0s "1000 2000 0 /data/a\n", 0s "1000 3000 0 /b\n", 0s "0 2000 4 /etc/config/key\n", `+
			`!0s "stat: can't stat '/c': No such file or directory\n", `+
			`!0s "stat: only stat -c FORMAT FILE is simulated, with %a, %g, %n, %s and %u in FORMAT\n", ended 0s 1`)
	is.Equal(run("test -d /data && touch /data/a && ls /data", volume), `0s "a\n", ended 0s 0`)
	is.Equal(run("frob", shell.World{Missing: true}), `!0s "sh: frob: not found\n", ended 0s 127`)
}

// TestTask checks that an unknown command of a task ends successfully after a second, and that clients such as curl do so in any
// program, but are missing in a container in which a command is executed. A task can copy files of its image, which are unknown.
func TestTask(t *testing.T) {
	is := is.New(t)
	is.Equal(run("migrate && echo done; exit 3", shell.World{Task: true}), `1s "done\n", ended 1s 3`)
	is.Equal(run("migrate && echo done; exit 3", shell.World{}), `waits 0s`)
	shared := map[string]bool{"/shared": false}
	is.Equal(run("cp /usr/bin/x /shared/x && rm /shared/x && cp /shared/x /y", shell.World{Task: true, Mounts: shared}),
		`!0s "cp: can't stat '/shared/x': No such file or directory\n", ended 0s 1`)
	is.Equal(run("cp /usr/bin/x /shared/x", shell.World{Mounts: shared}), `!0s "cp: can't stat '/usr/bin/x': No such file or directory\n", ended 0s 1`)
	is.Equal(run("curl -f http://web && echo done", shell.World{}), `1s "done\n", ended 1s 0`)
	is.Equal(run("curl -f http://web", shell.World{Missing: true}), `!0s "sh: curl: not found\n", ended 0s 127`)
}
