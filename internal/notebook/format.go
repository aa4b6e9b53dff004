package notebook

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// Bounds of the text of a cell, in bytes.
const (
	maxSource  = 20_000
	maxOutputs = 4_000 // of all outputs of a cell
)

// output is a result of a cell.
type output struct {
	Type  string                    `json:"output_type"`
	Name  string                    `json:"name"` // of a stream
	Text  multiline                 `json:"text"`
	Data  map[string]jsontext.Value `json:"data"`
	Error string                    `json:"ename"`
	Value string                    `json:"evalue"`
	Trace []string                  `json:"traceback"`
}

// Format returns a cell as text: its number, id and type, its source, and its outputs
// shortened.
func (n *Notebook) Format(i int) string {
	c := n.Cells[i]
	var b strings.Builder
	fmt.Fprintf(&b, "--- cell %d", i+1)
	if c.ID != "" {
		fmt.Fprintf(&b, ", id %s", c.ID)
	}
	fmt.Fprintf(&b, ", %s\n%s\n", c.Type, strings.TrimSuffix(shorten(c.Source, maxSource), "\n"))
	var outputs strings.Builder
	for _, o := range c.outputs {
		outputs.WriteString(strings.TrimSuffix(sanitize.Plain(o.String()), "\n") + "\n")
	}
	if outputs.Len() > 0 {
		fmt.Fprintf(&b, "--- outputs of cell %d\n%s", i+1, shorten(outputs.String(), maxOutputs))
	}
	return b.String()
}

// String returns the text of an output, and names data of other kinds.
func (o output) String() string {
	if o.Type == "error" {
		return o.Error + ": " + o.Value + "\n" + strings.Join(o.Trace, "\n")
	}
	text := string(o.Text)
	for _, kind := range slices.Sorted(maps.Keys(o.Data)) {
		var data multiline
		err := json.Unmarshal(o.Data[kind], &data)
		if kind == "text/plain" && err == nil {
			text += string(data) + "\n"
			continue
		}
		text += fmt.Sprintf("[%s, %d bytes]\n", kind, len(o.Data[kind]))
	}
	return text
}

// shorten leaves out the middle of a long text.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head, tail := strings.ToValidUTF8(text[:limit*3/4], ""), strings.ToValidUTF8(text[len(text)-limit/4:], "")
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", head, len(text)-len(head)-len(tail), tail)
}
