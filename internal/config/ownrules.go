package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/bb2d0cf4/agent/internal/statefile"
)

// ownProject is the form of the file in which the user keeps rules for one project. It
// lies in Home, out of the project's reach.
var ownProject = &schema{kind: group, fields: []*schema{{name: "folder", kind: text}, {name: "permissions", kind: group, fields: ruleLists}}}

// ruleLists are the lists of rules below permissions.
var ruleLists = []*schema{{name: "allow", kind: rules}, {name: "ask", kind: rules}, {name: "deny", kind: rules}}

// OwnProjectFile returns the path of the user's own file about the project in dir, which
// is absolute and resolved. The file may be missing.
func OwnProjectFile(home, dir string) string {
	return filepath.Join(home, "projects", statefile.FolderName(dir)+".yaml")
}

// OwnProjectRules returns the rules in OwnProjectFile. A missing file has none.
func OwnProjectRules(home, dir string) ([]Rule, error) {
	file := OwnProjectFile(home, dir)
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the rules for this project: %w", err)
	}
	return parseOwnRules(file, data, dir)
}

func parseOwnRules(file string, data []byte, dir string) ([]Rule, error) {
	top, err := decode(file, data)
	if err != nil || top == nil {
		return nil, err
	}
	doc := document{file: file, lines: map[string]int{}}
	if err := doc.walk(ownProject, top, ""); err != nil {
		return nil, err
	}
	if folder := find(top, []string{"folder"}); folder == nil || folder.Value != dir {
		return nil, fmt.Errorf("%s: folder: want %s, because the file's name belongs to that folder", file, dir)
	}
	return doc.rules, nil
}

// AddOwnRule returns the content of OwnProjectFile with one more rule. data is the present
// content, nil for a missing file; comments stay.
func AddOwnRule(home, dir string, data []byte, r Rule) ([]byte, error) {
	return editOwnRules(home, dir, data, r, func(list *yaml.Node) {
		item := &yaml.Node{}
		item.SetString(r.Text)
		list.Content = append(list.Content, item)
	})
}

// RemoveOwnRule is AddOwnRule for a rule that is to go. A missing rule is no error.
func RemoveOwnRule(home, dir string, data []byte, r Rule) ([]byte, error) {
	return editOwnRules(home, dir, data, r, func(*yaml.Node) {})
}

// editOwnRules removes r, and lets add change the list that it was in.
func editOwnRules(home, dir string, data []byte, r Rule, add func(list *yaml.Node)) ([]byte, error) {
	file := OwnProjectFile(home, dir)
	if _, err := parseOwnRules(file, data, dir); err != nil {
		return nil, err
	}
	doc, err := editable(file, data)
	if err != nil {
		return nil, err
	}
	top, path := doc.Content[0], []string{"permissions", r.Effect}
	if find(top, []string{"folder"}) == nil {
		folder := &yaml.Node{}
		folder.SetString(dir)
		put(top, []string{"folder"}, folder)
	}
	list := find(top, path)
	if list == nil || list.Kind != yaml.SequenceNode {
		list = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		put(top, path, list)
	}
	list.Content = slices.DeleteFunc(list.Content, func(n *yaml.Node) bool {
		var have Rule
		return have.read(n) == nil && have.Text == r.Text
	})
	add(list)
	out := encode(doc)
	_, err = parseOwnRules(file, out, dir)
	return out, err
}
