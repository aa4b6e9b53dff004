package safecmd

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/shellline"
)

// rewrites are other ways to write a line that does the same, or contains it.
var rewrites = map[string]func(line string) string{
	"split by quotes":   first(func(w string) string { return w[:1] + "''" + w[1:] }),
	"double quotes":     first(func(w string) string { return w[:1] + `"` + w[1:] + `"` }),
	"backslash":         first(func(w string) string { return w[:len(w)-1] + `\` + w[len(w)-1:] }),
	"first backslash":   first(func(w string) string { return `\` + w }),
	"ANSI-C":            first(ansiQuoted),
	"ANSI-C everywhere": each(ansiQuoted),
	"quotes everywhere": each(func(w string) string { return w[:len(w)/2] + `""` + w[len(w)/2:] }),
	"escapes everywhere": each(func(w string) string {
		return w[:len(w)/2] + `\` + w[len(w)/2:]
	}),
	"continued": each(func(w string) string { return w[:len(w)/2] + "\\\n" + w[len(w)/2:] }),
	"braces": func(line string) string {
		if words := strings.Split(line, " "); len(words) > 1 && simple(line) {
			return "{" + strings.Join(words, ",") + "}"
		}
		return line
	},
	"brace word": first(func(w string) string { return w[:1] + "{" + w[1:] + ",}" }),
	"variable": func(line string) string {
		word, rest, _ := strings.Cut(line, " ")
		if strings.HasPrefix(word, "(") || strings.Contains(word, "\t") {
			return line // it would begin an array, which runs nothing, or be more than one word
		}
		return "x=" + word + "; $x " + rest
	},
	"IFS": func(line string) string {
		return each(func(w string) string { return w })(strings.ReplaceAll(line, " ", "${IFS}"))
	},
	"newline":         func(line string) string { return "true\n" + line },
	"blank line":      func(line string) string { return "\n\n" + line + "\n" },
	"tabs":            func(line string) string { return strings.ReplaceAll(line, " ", "\t") },
	"blanks":          func(line string) string { return "   " + strings.ReplaceAll(line, " ", "   ") + "  " },
	"command":         func(line string) string { return "command " + line },
	"path":            func(line string) string { return "/usr/bin/" + line },
	"env":             func(line string) string { return "env " + line },
	"env -i":          func(line string) string { return "env -i A=b " + line },
	"busybox":         func(line string) string { return "busybox " + line },
	"nohup timeout":   func(line string) string { return "nohup timeout 5 " + line },
	"exec":            func(line string) string { return "exec " + line },
	"time":            func(line string) string { return "time " + line },
	"not":             func(line string) string { return "! " + line },
	"assignment":      func(line string) string { return "A=b " + line },
	"subshell":        func(line string) string { return "(" + line + "\n)" },
	"block":           func(line string) string { return "{ " + line + "\n}" },
	"condition":       func(line string) string { return "if true; then " + line + "\nfi" },
	"loop":            func(line string) string { return "for i in 1; do " + line + "\ndone" },
	"function":        func(line string) string { return "f() { " + line + "\n}; f" },
	"substitution":    func(line string) string { return "echo $(" + line + "\n)" },
	"quoted":          func(line string) string { return `echo "$(` + line + "\n)\"" },
	"process":         func(line string) string { return "cat <(" + line + "\n)" },
	"default":         func(line string) string { return "echo ${x:-$(" + line + "\n)}" },
	"arithmetic":      func(line string) string { return "echo $((a[$(" + line + "\n)]))" },
	"here-string":     func(line string) string { return "bash <<< " + shellline.Quote(line) },
	"here-document":   func(line string) string { return "sh <<'EOF'\n" + line + "\nEOF" },
	"sh -c":           func(line string) string { return "sh -c " + shellline.Quote(line) },
	"bash -lc":        func(line string) string { return "/bin/bash -lc " + shellline.Quote(line) },
	"eval":            func(line string) string { return "eval " + shellline.Quote(line) },
	"echo | sh":       func(line string) string { return "echo " + shellline.Quote(line) + " | sh" },
	"trap":            func(line string) string { return "trap " + shellline.Quote(line) + " EXIT" },
	"after and":       func(line string) string { return "true && " + line },
	"after or":        func(line string) string { return "false || " + line },
	"after semicolon": func(line string) string { return "ls; " + line },
	"after pipe":      func(line string) string { return "ls | " + line },
	"background":      func(line string) string { return "ls & " + line },
	"comment":         func(line string) string { return "# harmless\n" + line },
	"carriage return": func(line string) string { return "ls # harmless\r\n" + line },
}

// simple reports whether a backslash or a quote put anywhere in the line, except at its blanks,
// changes nothing. A tab counts against it: the rewrites know words by their blanks only.
func simple(line string) bool {
	return !strings.ContainsAny(line, "'\"\\$`;|&<>(){}[]*?#~!\t\n\r,=")
}

// first returns a rewrite of the first word.
func first(change func(string) string) func(string) string {
	return func(line string) string {
		word, rest, _ := strings.Cut(line, " ")
		if !simple(word) || len(word) < 2 {
			return line
		}
		return change(word) + " " + rest
	}
}

// each returns a rewrite of all plain words of a plain line.
func each(change func(string) string) func(string) string {
	return func(line string) string {
		if !simple(line) {
			return line
		}
		words := strings.Split(line, " ")
		for i, w := range words {
			if w != "" {
				words[i] = change(w)
			}
		}
		return strings.Join(words, " ")
	}
}

// ansiQuoted writes a word in hexadecimal.
func ansiQuoted(w string) string {
	var b strings.Builder
	for _, c := range []byte(w) {
		fmt.Fprintf(&b, `\x%02x`, c)
	}
	return "$'" + b.String() + "'"
}

// TestRewrites: no other way to write a line gets a lower class.
func TestRewrites(t *testing.T) {
	tried := 0
	for _, s := range samples(t) {
		was := Classify(s.line).Class
		if was == Safe {
			continue
		}
		tried += len(rewrites)
		for name, rewrite := range rewrites {
			if line := rewrite(s.line); Classify(line).Class < was {
				t.Errorf("%s: %q is %s, %q is %s", name, line, Classify(line).Class, s.line, was)
			}
		}
	}
	t.Logf("load: %d rewrites", tried)
}

// TestDeepRewrites combines three of them.
func TestDeepRewrites(t *testing.T) {
	n, seed := stress.Size(3000, 100_000), stress.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	all, names := samples(t), sortedNames()
	for range n {
		s := all[r.IntN(len(all))]
		was := Classify(s.line).Class
		line := s.line
		for range 3 {
			line = rewrites[names[r.IntN(len(names))]](line)
		}
		if got := Classify(line).Class; got < was && was > Safe {
			t.Errorf("%q is %s, %q is %s", line, got, s.line, was)
		}
	}
	t.Logf("load: %d rewrites, seed %d", n, seed)
}

// TestPathOfNot: a path before a reserved word hides nothing behind it.
func TestPathOfNot(t *testing.T) {
	for _, line := range []string{`nohup timeout 5 /usr/bin/! $'t\x6fuch' P`, `timeout 5 /usr/bin/! $'t\x6fuch' P`, `nohup ! $'t\x6fuch' P`} {
		if got := Classify(line).Class; got != Danger {
			t.Errorf("%q is %s", line, got)
		}
	}
}

func sortedNames() []string { return slices.Sorted(maps.Keys(rewrites)) }
