//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// step is one answer of the scripted model: text, or a call of a tool.
type step struct {
	text string
	tool string
	args map[string]any
	slow bool // as scenario.paced, for this answer only
}

// scenario is the model's part in one run, and its speed.
type scenario struct {
	name  string
	steps []step
	paced bool // 800 characters a second instead of full speed
}

const counterFile = "pkg00/file0000.go"

func noop() scenario { return scenario{name: "noop", steps: []step{{text: "ok"}}} }

// edits alternates reading a file and editing it, n rounds in all.
func edits(n int) scenario {
	s := scenario{name: fmt.Sprintf("edit-%d", n)}
	for i := range n {
		st := step{tool: "read_file", args: map[string]any{"path": counterFile}}
		if i%2 == 1 {
			st = step{tool: "edit_file", args: map[string]any{
				"path":       counterFile,
				"old_string": fmt.Sprintf("const Counter = %d", i/2),
				"new_string": fmt.Sprintf("const Counter = %d", i/2+1),
			}}
		}
		s.steps = append(s.steps, st)
	}
	s.steps = append(s.steps, step{text: "ok"})
	return s
}

func shells(n int) scenario {
	s := scenario{name: fmt.Sprintf("shell-%d", n)}
	for i := range n {
		// true ignores its argument; it keeps the calls apart
		s.steps = append(s.steps, step{tool: "execute_command", args: map[string]any{"command": fmt.Sprintf("true %d", i)}})
	}
	s.steps = append(s.steps, step{text: "ok"})
	return s
}

func greps(n int) scenario {
	s := scenario{name: fmt.Sprintf("grep-%d", n)}
	for i := range n {
		s.steps = append(s.steps, step{tool: "search_files", args: map[string]any{"regex": fmt.Sprintf("needle%02d", i)}})
	}
	s.steps = append(s.steps, step{text: "ok"})
	return s
}

func stream(n int) scenario {
	return scenario{name: fmt.Sprintf("stream-%dk", n/1000), steps: []step{{text: prose(n)}}}
}

func paced(n int) scenario {
	s := stream(n)
	s.name, s.paced = fmt.Sprintf("paced-%dk", n/1000), true
	return s
}

// long is a conversation of n turns, each a read of a file and a paragraph as the
// answer; the measured ones are slow.
func long(n int, measured func(turn int) bool) scenario {
	s := scenario{name: fmt.Sprintf("long-%d", n)}
	for turn := 1; turn <= n; turn++ {
		answer := fmt.Sprintf("begin%04d\n\n", turn) + strings.TrimSuffix(prose(2000), "\n\nthis is "+endMark+"\n") + fmt.Sprintf("\n\nend%04d\n", turn)
		s.steps = append(s.steps,
			step{tool: "read_file", args: map[string]any{"path": fmt.Sprintf("pkg%02d/file%04d.go", turn%40, turn%40*40), "limit": 20}},
			step{text: answer, slow: measured(turn)})
	}
	return s
}

// endMark closes prose.
const endMark = "ENDMARK"

// prose is about n characters of Markdown: headings, paragraphs, lists and code.
func prose(n int) string {
	words := strings.Fields("a reader of tokens walks the buffer once and keeps small nodes in one arena so that a later pass may " +
		"visit them in order without a copy while the memory stays flat until the whole tree is dropped at the end")
	next := 0
	sentence := func(k int) string {
		picked := make([]string, k)
		for i := range picked {
			picked[i] = words[next%len(words)]
			next += 5
		}
		return strings.Join(picked, " ")
	}
	var b strings.Builder
	for part := 1; b.Len() < n-1200; part++ {
		fmt.Fprintf(&b, "## part %d\n\n%s.\n\n%s.\n\n", part, sentence(55), sentence(50))
		for range 4 {
			fmt.Fprintf(&b, "- %s\n", sentence(9))
		}
		b.WriteString("\n```go\n")
		for i := range 6 {
			fmt.Fprintf(&b, "func f%d(x int) int { return x + %d }\n", part*10+i, i)
		}
		b.WriteString("```\n\n")
	}
	for b.Len() < n-40 {
		b.WriteString(sentence(5) + "\n")
	}
	return b.String() + "\n\nthis is " + endMark + "\n"
}

// makeTree writes n small Go files, 40 a folder; each needleNN is in 1 % of them.
func makeTree(dir string, n int) error {
	for i := range n {
		sub := filepath.Join(dir, fmt.Sprintf("pkg%02d", i/40))
		if err := os.MkdirAll(sub, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("file%04d.go", i)), []byte(source(i)), 0o644); err != nil {
			return err
		}
	}
	return nil // without go.mod: a model that ends without a build would be asked for one
}

func source(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package pkg%02d\n\n", i/40)
	if i == 0 {
		b.WriteString("const Counter = 0\n\n")
	}
	for f := range 20 {
		fmt.Fprintf(&b, "// Add%d_%d returns the sum of x and %d.\nfunc Add%d_%d(x int) int {\n\treturn x + %d\n}\n\n", i, f, f, i, f, f)
	}
	if i%100 < 10 {
		fmt.Fprintf(&b, "// needle%02d marks this file.\n", i%100)
	}
	return b.String()
}
