package frontmatter

import (
	"errors"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestSplit(t *testing.T) {
	for text, want := range map[string]struct {
		matter, body string
		err          error
	}{
		"---\na: b\n---\ntext\n":               {"\na: b", "text\n", nil},
		"\ufeff---\r\na: b\r\n---\r\ntext\r\n": {"\na: b", "text\n", nil},
		"---\na: b\n---":                       {"\na: b", "", nil},
		"---\n---\ntext":                       {"", "text", nil},
		"---\na: b\n---\n---\ntext":            {"\na: b", "---\ntext", nil},
		"---\na: b\ntext":                      {"", "", ErrOpen},
		"text\n---\n":                          {"", "", ErrMissing},
		"":                                     {"", "", ErrMissing},
	} {
		if matter, body, err := Split(text); matter != want.matter || body != want.body || !errors.Is(err, want.err) {
			t.Errorf("%q: %q, %q, %v", text, matter, body, err)
		}
	}
}

// TestNormalize has descriptions as people write them, most of which are no YAML.
func TestNormalize(t *testing.T) {
	for in, want := range map[string]string{
		"Fills in forms.":                      "Fills in forms.",
		"Use it: always":                       "Use it: always",
		"Use when: a) the user asks, b) never": "Use when: a) the user asks, b) never",
		"Later: this: and that":                "Later: this: and that",
		`"Quoted" words and "more"`:            `"Quoted" words and "more"`,
		`"quoted: whole"`:                      "quoted: whole",
		`'it's fine'`:                          "it's fine",
		`'single'`:                             "single",
		"[PDF] forms":                          "[PDF] forms",
		"[a, b]":                               "[a, b]",
		"{braces} too":                         "{braces} too",
		"{a: b}":                               "{a: b}",
		"`code` first":                         "`code` first",
		"@mention first":                       "@mention first",
		"%percent":                             "%percent",
		"* star":                               "* star",
		"*star":                                "*star",
		"& and":                                "& and",
		"!important: yes":                      "!important: yes",
		"- a dash":                             "- a dash",
		"? a question":                         "? a question",
		"| a bar: x":                           "| a bar: x",
		"> 3 files: x":                         "> 3 files: x",
		"first line\n  second: line":           "first line second: line",
		"first line: x\nsecond line":           "first line: x second line",
		">\n  folded: yes\n  and more":         "folded: yes and more\n",
		"|\n  literal\n  lines":                "literal\nlines\n",
		"\n  on the next: line":                "on the next: line",
		"12":                                   "12",
		"1.10":                                 "1.10",
		"true":                                 "true",
		"2024-01-01":                           "2024-01-01",
		"Übersetzt: Dateien — „alle“":          "Übersetzt: Dateien — „alle“",
		`C:\path\new`:                          `C:\path\new`,
		`"C:\path"`:                            `C:\path`,
		"see https://a.example/b: it":          "see https://a.example/b: it",
		"trailing colon:":                      "trailing colon:",
		"tab\there: x":                         "tab here: x",
	} {
		matter := Normalize("name: x\ndescription: "+in+"\ndescription: again\n# note\nother: [1, 2]\n", "name", "description")
		if in == "true" || in == "12" || in == "1.10" || in == "2024-01-01" || in == "Fills in forms." {
			matter = Normalize("name: x\ndescription: "+in+"\nother: [1, 2]\n", "name", "description")
		}
		var got struct {
			Name, Description yaml.Node
			Other             []int
		}
		if err := yaml.Unmarshal([]byte(matter), &got); err != nil || got.Description.Value != want || got.Name.Value != "x" || len(got.Other) != 2 {
			t.Errorf("%q: %q, %v in %q", in, got.Description.Value, err, matter)
		}
	}
}
