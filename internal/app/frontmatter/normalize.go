package frontmatter

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// Normalize returns front matter as YAML. People write descriptions as plain text, with colons,
// quotes or brackets that have a meaning in YAML, and other programs take them: a value that is no
// YAML, or no text although its key is one of texts, becomes the text that is written there. Of a
// key that is there twice, the first counts.
func Normalize(matter string, texts ...string) string {
	if good(matter, texts) {
		return matter
	}
	var b strings.Builder
	seen := map[string]bool{}
	for _, e := range entries(matter) {
		switch {
		case seen[e.key]:
			continue
		case good(e.text(), texts):
			b.WriteString(e.text())
		default:
			data, err := yaml.Marshal(map[string]string{e.key: e.value()})
			if err != nil {
				continue // impossible: texts can be written
			}
			b.Write(data)
		}
		seen[e.key] = true
	}
	return b.String()
}

// good reports whether matter is YAML whose keys in texts have texts.
func good(matter string, texts []string) bool {
	var all map[string]yaml.Node
	if yaml.Unmarshal([]byte(matter), &all) != nil {
		return false
	}
	for key, node := range all {
		if slices.Contains(texts, key) && (node.Kind != yaml.ScalarNode && node.Kind != yaml.AliasNode || !strings.HasPrefix(node.Tag, "!!")) {
			return false
		}
	}
	return true
}

// entry is a key with the lines of its value.
type entry struct {
	key   string
	lines []string // the first one with the key
}

var keyLine = lazyregexp.New(`^([A-Za-z_][A-Za-z0-9_.-]*):(?:[ \t]|$)`)

// entries returns the keys that begin a line. Lines before the first one are lost.
func entries(matter string) (all []entry) {
	for line := range strings.Lines(matter) {
		line = strings.TrimRight(line, "\n")
		switch m := keyLine.FindStringSubmatch(line); {
		case m != nil:
			all = append(all, entry{m[1], []string{line}})
		case len(all) > 0 && !strings.HasPrefix(line, "#"):
			last := &all[len(all)-1]
			last.lines = append(last.lines, line)
		}
	}
	return all
}

func (e entry) text() string { return strings.Join(e.lines, "\n") + "\n" }

var block = lazyregexp.New(`^[|>][-+0-9]*$`)

// value returns the value as plain text in one line.
func (e entry) value() string {
	lines := slices.Clone(e.lines)
	lines[0] = strings.TrimSpace(strings.TrimPrefix(lines[0], e.key+":"))
	if block.MatchString(lines[0]) {
		lines = lines[1:]
	}
	text := clip.Line(strings.Join(lines, " "))
	for _, quote := range []string{`"`, "'"} {
		inner, ok := strings.CutPrefix(text, quote)
		if inner, closed := strings.CutSuffix(inner, quote); ok && closed && (strings.Count(inner, quote) == 0 || strings.Count(inner, quote)%2 == 1) {
			return string(bytes.ReplaceAll([]byte(inner), []byte(`\`+quote), []byte(quote)))
		}
	}
	return text
}
