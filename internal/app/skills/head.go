package skills

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/bb2d0cf4/agent/internal/app/frontmatter"
	"github.com/bb2d0cf4/agent/internal/lazyregexp"
)

// Head is the front matter of a skill. AllowedTools has no effect: a skill never widens a
// permission.
type Head struct {
	Name          string
	Description   string
	License       string
	Compatibility string
	Metadata      map[string]string
	AllowedTools  string
	Manual        bool // the model is not told about it
}

// The limits of the public format, in characters.
const (
	maxName          = 64
	maxDescription   = 1024
	maxCompatibility = 500
)

// kebab is the form of a name. Its length is limited apart.
var kebab = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// parse reads the skill in the folder called name. An error has the remedy.
func (s *Skill) parse(name string, data []byte) error {
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return errors.New("it is not UTF-8 text; save it as UTF-8")
	}
	s.Text = string(data)
	matter, body, err := frontmatter.Split(s.Text)
	switch {
	case errors.Is(err, frontmatter.ErrMissing):
		return fmt.Errorf("%w; begin it with the lines ---, name: …, description: … and ---", err)
	case err != nil:
		return errors.New("the front matter has no end; add a line --- below it")
	}
	if s.Head, err = readHead(matter); err != nil {
		return err
	}
	s.Body = strings.TrimSpace(body)
	return s.check(name)
}

// readHead reads the front matter. Keys of other programs are ignored.
func readHead(matter string) (h Head, err error) {
	var raw struct {
		Name          plain          `yaml:"name"`
		Description   plain          `yaml:"description"`
		License       plain          `yaml:"license"`
		Compatibility plain          `yaml:"compatibility"`
		Metadata      map[string]any `yaml:"metadata"`
		AllowedTools  any            `yaml:"allowed-tools"`
		Manual        bool           `yaml:"disable-model-invocation"`
	}
	if err := yaml.Unmarshal([]byte(frontmatter.Normalize(matter, "name", "description", "license", "compatibility")), &raw); err != nil {
		return h, fmt.Errorf("the front matter is not YAML (%w); put quotes around a value with \": \" in it", err)
	}
	h = Head{
		Name: string(raw.Name), Description: string(raw.Description), License: string(raw.License), Compatibility: string(raw.Compatibility),
		Manual: raw.Manual,
	}
	var ok bool
	if h.AllowedTools, ok = joined(raw.AllowedTools).(string); !ok && raw.AllowedTools != nil {
		return h, errors.New("allowed-tools is not text; put quotes around it")
	}
	for key, value := range raw.Metadata {
		if h.Metadata == nil {
			h.Metadata = map[string]string{}
		}
		h.Metadata[key] = fmt.Sprint(value)
	}
	return h, nil
}

// plain is a value as it is written: a name such as 1.10 is no number.
type plain string

// UnmarshalYAML implements yaml.Unmarshaler.
func (t *plain) UnmarshalYAML(n *yaml.Node) error {
	if n.Tag != "!!null" {
		*t = plain(strings.TrimSpace(n.Value))
	}
	return nil
}

// joined returns a list of texts, which some programs write, as one text.
func joined(v any) any {
	list, ok := v.([]any)
	if !ok {
		return v
	}
	var words []string
	for _, item := range list {
		words = append(words, fmt.Sprint(item))
	}
	return strings.Join(words, " ")
}

// check reports the first rule of the format that the skill in the folder called name
// breaks.
func (s *Skill) check(name string) error {
	switch n := utf8.RuneCountInString; {
	case s.Name == "":
		return fmt.Errorf("its name is missing; add name: %s to the front matter", name)
	case n(s.Name) > maxName:
		return fmt.Errorf("its name has more than %d characters; shorten it, and the folder's", maxName)
	case !kebab.MatchString(s.Name):
		return fmt.Errorf("its name %q may only have a-z, 0-9 and single hyphens between them; rename it, and the folder", s.Name)
	case s.Name != name:
		return fmt.Errorf("its name is %q, but its folder is %q; make them the same", s.Name, name)
	case s.Description == "":
		return errors.New("its description is missing; add description: with what the skill does and when to use it")
	case n(s.Description) > maxDescription:
		return fmt.Errorf("its description has %d characters; shorten it to %d", n(s.Description), maxDescription)
	case n(s.Compatibility) > maxCompatibility:
		return fmt.Errorf("its compatibility has %d characters; shorten it to %d", n(s.Compatibility), maxCompatibility)
	}
	return nil
}
