package safecmd

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bb2d0cf4/agent/internal/dev/stress"
)

// limit is the processor's time within which any line is judged. It is checked at full load
// only.
const limit = 100 * time.Millisecond

// explain judges a line and describes it to a person, as before a question.
func explain(line string) Judgement {
	j := Classify(line)
	j.CommandParts(false)
	Place{Dir: "/", Roots: []string{"/"}}.Unusual(j)
	return j
}

// check fails if line is not judged and explained in time, if it is safe although a shell
// would refuse it, or if Script says something else.
func check(t *testing.T, line string) Judgement {
	t.Helper()
	var j Judgement
	judge := func() { j = explain(line) }
	if took := stress.Cost(t, judge); took > limit && os.Getenv("AGENT_TEST_FULL") == "1" {
		if took = min(took, stress.Cost(t, judge)); took > limit { // the first may have collected garbage
			t.Errorf("%.80q took %s", line, took)
		}
	}
	if j.Class != Safe {
		return j
	}
	script := j.Script()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(script), "")
	if err != nil {
		t.Fatalf("%q becomes %q: %v", line, script, err)
	}
	var judged, read []string
	for _, s := range j.steps {
		if s.operator == "" {
			judged = append(judged, s.args...)
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok {
			for _, w := range call.Args[1:] {
				word, ok := literal(w)
				if !ok {
					t.Errorf("%q becomes %q, in which %q is no literal word", line, script, source(script, w))
				}
				read = append(read, word)
			}
		}
		return true
	})
	if !strings.Contains(line, "git") && !strings.Contains(line, "rg") && !slices.Equal(judged, read) {
		t.Errorf("%q becomes %q: judged %q, read %q", line, script, judged, read)
	}
	return j
}

func FuzzClassify(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s.line)
	}
	f.Fuzz(func(t *testing.T, line string) { check(t, line) })
}

// pieces are the parts of the lines of TestRandomLines.
var pieces = strings.Fields("ls cat grep -rn git log push --force rm -rf find . -delete -exec {} \\; sort -o out head -n 5 wc a.txt src/main.go .env ~/.ssh $HOME $x ${IFS} ${x:-rm} $(rm -rf x) `ls` <(ls) | || && ; & |& > >> < 2>/dev/null 2>&1 >& <<< 'a b' \"a b\" \"$x\" $'\\x72m' \\ \\rm {a,b} * ? [a] ! ( ) { } if then fi for do done while case esac in function f() # x=rm IFS= sh -c 'rm -rf x' eval env sudo command [[ ]] (( )) $(( )) ~ ' \" \n \r \t \x00 é")

// TestRandomLines: no line of random pieces takes long, and to put a dangerous command
// into one, or to change a line with one in it, does not make it safe.
func TestRandomLines(t *testing.T) {
	n, seed := stress.Size(20_000, 1_000_000), stress.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	all, counts := samples(t), map[Class]int{}
	for range n {
		var words []string
		for range 1 + r.IntN(8) {
			words = append(words, pieces[r.IntN(len(pieces))])
		}
		line := strings.Join(words, []string{" ", " ", "", "\t"}[r.IntN(4)])
		switch r.IntN(8) {
		case 0, 1:
			line = mutate(r, all[r.IntN(len(all))].line)
		case 2: // often too long or deep to be parsed
			line = strings.Repeat(line, 1+r.IntN(200))
		}
		counts[check(t, line).Class]++
		bad := all[r.IntN(len(all))]
		whole := Classify(line).file != nil && !strings.HasSuffix(line, `\`) // else the next line is part of a word
		if joined := line + "\n" + bad.line; whole && (bad.want == "ask" || bad.want == "danger") {
			if Classify(joined).Class == Safe {
				t.Errorf("%q is safe", joined)
			}
		}
	}
	t.Logf("load: %d lines, seed %d: %v", n, seed, counts)
}

// mutate changes a few bytes of a line.
func mutate(r *rand.Rand, line string) string {
	b := []byte(line)
	for range 1 + r.IntN(3) {
		if len(b) == 0 {
			break
		}
		at := r.IntN(len(b))
		switch r.IntN(3) {
		case 0:
			b = slices.Delete(b, at, at+1)
		case 1:
			b = slices.Insert(b, at, []byte(pieces[r.IntN(len(pieces))])...)
		case 2:
			b[at] = byte(r.IntN(256))
		}
	}
	return string(b)
}

// allocated returns the bytes that f allocates: a measure of its work that does not depend
// on how busy the machine is.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestHugeLines: lines that are deeply nested, or grow when they are expanded, take
// little work.
func TestHugeLines(t *testing.T) {
	for _, piece := range []string{"(", "((", "$(", "`", "{ ", "{a,b}", "{1..99999}", "<(", "${a:-", "$((", "\"$(", "a=$a$a;", "[[ ", "f() { ", "if ", "<<a ", "sh -c ", "eval ", "x|", "a;", "\\", "'", "rm ", "env ", "! ", "$[", "@(a|", "case x in ", "ls|", "time ", "bash -c $'\\x28", "f() ", "coproc "} {
		for _, n := range []int{10, 100, 1000, 4000, 20_000, 400_000} {
			for _, line := range []string{strings.Repeat(piece, n), strings.Repeat(piece, n) + " x"} {
				check(t, line)
				if got := allocated(func() { explain(line) }); got > 32<<20 {
					t.Errorf("%.80q, of %d bytes, takes %d MiB", line, len(line), got>>20)
				}
			}
		}
	}
	if Classify(strings.Repeat("ls ", 10_000)).Class != Danger {
		t.Error("a line that nobody reads to its end is not marked")
	}
}

// TestBashSplitsAlike: bash runs the commands of a safe line with the words that were
// judged.
func TestBashSplitsAlike(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	r := rand.New(rand.NewPCG(1, 2))
	words := append(strings.Fields(`ls cat echo -la -n 5 "a b" 'c d' "\"" "\x" "a\\b" 'it' --color=auto a=b %s HEAD~1 x^y @ + | && ; || 2>&1 >/dev/null --`), "'*'", `"?"`, `'$x'`, `"a'b"`, `"#"`, "'a\nb'", "\"a\n\nb\"", "\"a\\\nb\"", "für", "'✓ —'", "Übersicht.md", "日本", "\n", "#", "\\\n")
	tried := 0
	for range 30_000 {
		var line []string
		for range 1 + r.IntN(7) {
			line = append(line, words[r.IntN(len(words))])
		}
		text := strings.Join(line, " ")
		j := Classify(text)
		if j.Class != Safe || strings.Contains(text, "|") || strings.Contains(text, ">") {
			continue
		}
		if tried++; tried > 300 {
			break
		}
		functions := ""
		for _, name := range []string{"ls", "cat", "echo"} {
			functions += name + `() { builtin printf '<%s>' ` + name + ` "$@"; builtin printf '\n'; }; `
		}
		out, err := exec.Command(bash, "--norc", "-c", functions+text).CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v: %s", text, err, out)
		}
		var want strings.Builder
		for _, s := range j.steps {
			if s.operator == "" {
				want.WriteString("<" + strings.Join(append([]string{s.name}, s.args...), "><") + ">\n")
			}
		}
		if string(out) != want.String() {
			t.Errorf("%q: bash runs %q, judged %q", text, out, want.String())
		}
	}
	if tried < 100 {
		t.Errorf("only %d lines", tried)
	}
}
