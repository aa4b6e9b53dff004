// Package notebook reads Jupyter notebooks (nbformat 4) and changes single cells. It
// guarantees that a change leaves each byte outside the changed cell as it was: indentation,
// order of keys, other cells and the end of the file.
package notebook

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Notebook is a parsed notebook.
type Notebook struct {
	Language string // of its code; may be empty
	Cells    []Cell

	text  string
	minor int
	list  span // the array of cells
}

// Cell is one cell.
type Cell struct {
	ID     string // empty before nbformat 4.5
	Type   string // code, markdown or raw
	Source string

	outputs []output
	span
	values map[string]span // of its members
}

// span is a part of the text.
type span struct{ from, to int }

// Parse parses a notebook. The error explains why text is not of nbformat 4.
func Parse(text string) (*Notebook, error) {
	n := &Notebook{text: text}
	top, err := n.object(span{0, len(text)})
	if err != nil {
		return nil, fmt.Errorf("it is not valid JSON: %w", err)
	}
	var head struct {
		Major    int `json:"nbformat"`
		Minor    int `json:"nbformat_minor"`
		Metadata struct {
			Kernel struct {
				Language string `json:"language"`
			} `json:"kernelspec"`
			Language struct {
				Name string `json:"name"`
			} `json:"language_info"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal([]byte(text), &head); err != nil || head.Major != 4 || top["cells"] == (span{}) {
		return nil, errors.New("it is not a notebook of nbformat 4")
	}
	n.minor, n.list, n.Language = head.Minor, top["cells"], head.Metadata.Language.Name
	if n.Language == "" {
		n.Language = head.Metadata.Kernel.Language
	}
	spans, err := n.elements(n.list)
	if err != nil {
		return nil, fmt.Errorf("its cells cannot be read: %w", err)
	}
	for i, s := range spans {
		c, err := n.cell(s)
		if err != nil {
			return nil, fmt.Errorf("cell %d cannot be read: %w", i+1, err)
		}
		n.Cells = append(n.Cells, c)
	}
	return n, nil
}

// multiline is a text that may be stored as a list of lines.
type multiline string

// UnmarshalJSON reads a string or a list of strings.
func (m *multiline) UnmarshalJSON(data []byte) error {
	var lines []string
	if len(data) == 0 || data[0] != '[' {
		return json.Unmarshal(data, (*string)(m))
	}
	err := json.Unmarshal(data, &lines)
	*m = multiline(strings.Join(lines, ""))
	return err
}

// cell reads the cell at s.
func (n *Notebook) cell(s span) (Cell, error) {
	c := Cell{span: s}
	var err error
	if c.values, err = n.object(s); err != nil {
		return c, err
	}
	var in struct {
		ID      string    `json:"id"`
		Type    string    `json:"cell_type"`
		Source  multiline `json:"source"`
		Outputs []output  `json:"outputs"`
	}
	if err := json.Unmarshal([]byte(n.text[s.from:s.to]), &in); err != nil {
		return c, err
	}
	if in.Type == "" || c.values["source"] == (span{}) {
		return c, errors.New("it lacks cell_type or source")
	}
	c.ID, c.Type, c.Source, c.outputs = in.ID, in.Type, string(in.Source), in.Outputs
	return c, nil
}

// object returns the places of the members' values of the object at s.
func (n *Notebook) object(s span) (map[string]span, error) {
	values := map[string]span{}
	var name string
	err := n.walk(s, '{', func(i int, part span) error {
		if i%2 == 1 {
			values[name] = part
			return nil
		}
		return json.Unmarshal([]byte(n.text[part.from:part.to]), &name)
	})
	return values, err
}

// elements returns the places of the elements of the array at s.
func (n *Notebook) elements(s span) (list []span, err error) {
	err = n.walk(s, '[', func(_ int, part span) error {
		list = append(list, part)
		return nil
	})
	return list, err
}

// walk calls visit for each element of the array at s, or for the names and values of the
// object there.
func (n *Notebook) walk(s span, begin jsontext.Kind, visit func(i int, part span) error) error {
	dec := jsontext.NewDecoder(strings.NewReader(n.text[s.from:s.to]))
	if t, err := dec.ReadToken(); err != nil {
		return err
	} else if t.Kind() != begin {
		return fmt.Errorf("it begins with %v, not %v", t.Kind(), begin)
	}
	for i := 0; dec.PeekKind() != ']' && dec.PeekKind() != '}'; i++ {
		v, err := dec.ReadValue()
		if err != nil {
			return err
		}
		to := s.from + int(dec.InputOffset())
		if err := visit(i, span{to - len(v), to}); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// Find returns the index of the cell with an id, or with a number from 1.
func (n *Notebook) Find(name string) (int, error) {
	if i := slices.IndexFunc(n.Cells, func(c Cell) bool { return c.ID != "" && c.ID == name }); i >= 0 {
		return i, nil
	}
	if i, err := strconv.Atoi(name); err == nil && i >= 1 && i <= len(n.Cells) {
		return i - 1, nil
	}
	return 0, fmt.Errorf("there is no cell %q: read the notebook for its %d cells", name, len(n.Cells))
}
