package written

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// prose makes ordinary answers from the files of this repository.
type prose struct {
	r      *rand.Rand
	files  map[string][]string // by extension
	others []string            // the extensions except .md
}

func newProse(t *testing.T) *prose {
	t.Helper()
	p := &prose{files: map[string][]string{}}
	root := filepath.Join("..", "..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git" || d.Name() == "written"):
			return filepath.SkipDir
		case d.IsDir() || !slices.Contains([]string{".go", ".md", ".ts", ".json", ".yml", ".txtar", ".svg"}, filepath.Ext(path)):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if len(text) < 200_000 {
			p.files[filepath.Ext(path)] = append(p.files[filepath.Ext(path)], string(text))
		}
		return nil
	})
	if err != nil || len(p.files[".go"]) < 100 || len(p.files[".md"]) < 10 || len(p.files[".json"]) < 3 {
		t.Fatalf("%d kinds of files, %v", len(p.files), err)
	}
	for ext := range p.files {
		if ext != ".md" {
			p.others = append(p.others, ext)
		}
	}
	slices.Sort(p.others)
	return p
}

func (p *prose) pick(from ...string) string { return from[p.r.IntN(len(from))] }

// lines returns some lines of a file, with the end of a code block that they begin.
func (p *prose) lines(ext string) string {
	all := strings.SplitAfter(p.pick(p.files[ext]...), "\n")
	from := p.r.IntN(len(all))
	some, open := strings.Join(all[from:min(len(all), from+1+p.r.IntN(30))], ""), ""
	for line := range strings.Lines(some) {
		if f, _ := fenceOf(line); f != "" && open == "" {
			open = f
		} else if f != "" && f == open && strings.TrimSpace(line) == open {
			open = ""
		}
	}
	return some + "\n" + open
}

// example returns a written call, as an answer about agents may show one.
func (p *prose) example() string { return reads[p.r.IntN(len(reads))].text }

// document returns JSON or XML in the vocabulary of calls.
func (p *prose) document() string {
	name := p.pick("read_file", "execute_command", "agent", "main", "todo")
	return p.pick(
		`{"name":"`+name+`","version":"1.0.0","scripts":{"test":"vitest"}}`,
		`{"type":"function","function":{"name":"`+name+`","description":"does it","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}`,
		`[{"name":"`+name+`","parameters":{"type":"object","required":["path"]}},{"name":"list_files","parameters":{}}]`,
		"{\n  \"tools\": [{\"name\": \""+name+"\"}],\n  \"arguments\": {\"path\": \"a\"}\n}",
		`{"name":"`+name+`","arguments":["-v","./..."]}`,
		`<project name="`+name+`"><parameter name="path">a</parameter><function name="f"/></project>`,
		"<tool>\n  <name>"+name+"</name>\n  <arguments>{\"path\":\"a\"}</arguments>\n</tool>",
		"<function name=\""+name+"\">\n<parameter name=\"path\">a</parameter>\n</function>",
		`["`+name+`", "list_files"]`, `[`+name+`]`, name+`(path="a.go")`, `print([`+name+`(p) for p in ["a", "b"]])`,
		`[INST] `+name+` [/INST]`, `| [TOOLS] | [ARGS] |`, "<|user|>\n"+name,
	)
}

// block returns a paragraph, a code block, a quotation or a document.
func (p *prose) block() string {
	switch p.r.IntN(9) {
	case 0, 1:
		return p.lines(".md")
	case 2, 3:
		return "````" + p.pick("", "go", "json", "xml") + "\n" + p.lines(p.pick(p.others...)) + "\n````"
	case 4:
		return "````\n" + p.example() + "\n````"
	case 5:
		return "The model writes `" + strings.ReplaceAll(strings.ReplaceAll(p.example(), "\n", " "), "`", "'") + "`" + p.pick(".", "", " then.")
	case 6:
		return "> " + strings.ReplaceAll(p.example(), "\n", "\n> ")
	case 7:
		return p.document()
	}
	return p.lines(p.pick(p.others...))
}

// TestOrdinaryAnswers reads 10,000 answers with code, JSON, XML and examples of calls. In
// none is a call.
func TestOrdinaryAnswers(t *testing.T) {
	p := newProse(t)
	const answers = 10_000
	for seed := range uint64(answers) {
		p.r = rand.New(rand.NewPCG(seed, 4))
		var blocks []string
		for range 1 + p.r.IntN(4) {
			blocks = append(blocks, p.block())
		}
		text := strings.Join(blocks, "\n\n")
		end := complete(llm.End{Stop: llm.StopEnd}, text, specs)
		if len(end.Calls) > 0 || end.Written > 0 || end.Fault != "" || end.Quoted {
			t.Errorf("answer %d: %v %s in\n%s", seed, end.Calls, end.Fault, text)
			if t.Failed() && seed > 200 {
				return
			}
		}
	}
	t.Logf("%d answers", answers)
}
