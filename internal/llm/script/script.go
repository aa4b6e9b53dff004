// Package script implements llm.Model with a file of turns: the text, the tool calls
// and the failures of the model, and the requests that it expects. It guarantees that a
// conversation that departs from the script ends in an error that names the turn, its
// line and the actual request, never in a made-up answer.
package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"go.yaml.in/yaml/v3"

	"github.com/bb2d0cf4/agent/internal/llm"
)

// file is a decoded script; docs/scripted-model.md describes the format.
type file struct {
	ContextWindow int64  `yaml:"context_window"`
	Loop          bool   `yaml:"loop"`
	Chunk         int    `yaml:"chunk"` // runes
	Pace          int    `yaml:"pace"`  // milliseconds
	Turns         []turn `yaml:"turns"`

	// Recording is for agent replay; the model ignores it.
	Recording yaml.Node `yaml:"recording"`
}

type turn struct {
	When   condition   `yaml:"when"`
	Expect []condition `yaml:"expect"`

	Delay     int     `yaml:"delay"` // milliseconds
	Reasoning string  `yaml:"reasoning"`
	Text      string  `yaml:"text"`
	Calls     []call  `yaml:"calls"`
	Stop      string  `yaml:"stop"`
	Usage     *usage  `yaml:"usage"`
	Error     *failed `yaml:"error"`
	Chunk     int     `yaml:"chunk"`
	Pace      int     `yaml:"pace"`

	at place
}

// place is the position of a turn and of its expectations in the file.
type place struct {
	number, line int
	expect       []int // lines
}

type call struct {
	Tool string `yaml:"tool"`
	Args any    `yaml:"args"`
	Raw  string `yaml:"raw"` // arguments as text, valid or not

	args string // encoded
}

type usage struct {
	Input   int64   `yaml:"input"`
	Output  int64   `yaml:"output"`
	Cached  int64   `yaml:"cached"`
	CostUSD float64 `yaml:"cost_usd"`
}

type failed struct {
	Status  int    `yaml:"status"`
	Kind    string `yaml:"kind"`
	Message string `yaml:"message"`
}

// Load reads the script in the named file. Errors name the file and the line.
func Load(name string) (*Model, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("the script of the model: %w", err)
	}
	return Parse(name, data)
}

// Parse reads a script. name appears in errors and, after "script:", as the model's
// name.
func Parse(name string, data []byte) (*Model, error) {
	var f file
	var root yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := yaml.Unmarshal(data, &root); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(f.Turns) == 0 {
		return nil, fmt.Errorf("%s: the script has no turns", name)
	}
	nodes := turnNodes(&root)
	for i := range f.Turns {
		t := &f.Turns[i]
		t.at = placeOf(i, nodes)
		if err := t.prepare(f); err != nil {
			return nil, fmt.Errorf("%s:%d: turn %d: %w", name, t.at.line, t.at.number, err)
		}
	}
	return &Model{name: name, script: f}, nil
}

// turnNodes returns the nodes of the turns, for their lines.
func turnNodes(root *yaml.Node) []*yaml.Node {
	if len(root.Content) == 0 {
		return nil
	}
	if turns := member(root.Content[0], "turns"); turns != nil {
		return turns.Content
	}
	return nil
}

// member returns the value of key in a mapping; nil if it has none.
func member(node *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(node.Content) && node.Kind == yaml.MappingNode; i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	return nil
}

func placeOf(i int, nodes []*yaml.Node) place {
	p := place{number: i + 1}
	if i >= len(nodes) {
		return p
	}
	p.line = nodes[i].Line
	if expect := member(nodes[i], "expect"); expect != nil {
		for _, e := range expect.Content {
			p.expect = append(p.expect, e.Line)
		}
	}
	return p
}

// prepare checks t, copies the defaults of f to it, and encodes its calls.
func (t *turn) prepare(f file) error {
	if t.Chunk == 0 {
		t.Chunk = f.Chunk
	}
	if t.Chunk <= 0 {
		t.Chunk = defaultChunk
	}
	if t.Pace == 0 {
		t.Pace = f.Pace
	}
	if err := t.validate(); err != nil {
		return err
	}
	for i := range t.Calls {
		if err := t.Calls[i].prepare(); err != nil {
			return fmt.Errorf("call %d: %w", i+1, err)
		}
	}
	if err := t.When.prepare(); err != nil {
		return err
	}
	for i := range t.Expect {
		if err := t.Expect[i].prepare(); err != nil {
			return err
		}
	}
	return nil
}

func (t *turn) validate() error {
	if t.Reasoning == "" && t.Text == "" && len(t.Calls) == 0 && t.Error == nil && t.Stop == "" {
		return errors.New("the turn is empty: give it a text, calls or an error")
	}
	if _, ok := stops[t.Stop]; !ok {
		return fmt.Errorf("stop %q is not one of end, tools, length, filter", t.Stop)
	}
	if t.Error == nil {
		return nil
	}
	if _, ok := kinds[t.Error.Kind]; !ok {
		return fmt.Errorf("error kind %q is not one of temporary, unauthorized, not_found, too_long, refused, unreachable, truncated, idle, quota", t.Error.Kind)
	}
	return nil
}

func (c *call) prepare() error {
	switch {
	case c.Tool == "":
		return errors.New("it names no tool")
	case c.Raw != "" && c.Args != nil:
		return errors.New("it has both args and raw")
	case c.Raw != "":
		c.args = c.Raw
		return nil
	case c.Args == nil:
		c.args = "{}"
		return nil
	}
	if _, ok := c.Args.(map[string]any); !ok {
		return errors.New("args is not a mapping with names for keys")
	}
	args, err := json.Marshal(c.Args)
	if err != nil {
		return fmt.Errorf("args: %w", err)
	}
	c.args = string(args)
	return nil
}

var stops = map[string]llm.StopReason{
	"": "", "end": llm.StopEnd, "tools": llm.StopTools, "length": llm.StopLength, "filter": llm.StopFilter,
}

var kinds = map[string]llm.ErrorKind{
	"": llm.Temporary, "temporary": llm.Temporary, "unauthorized": llm.Unauthorized, "not_found": llm.NotFound,
	"too_long": llm.TooLong, "refused": llm.Refused, "unreachable": llm.Unreachable, "truncated": llm.Truncated,
	"idle": llm.Idle, "quota": llm.QuotaExceeded,
}
