package config

import (
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The table in the documentation has every key with its default.
func TestDocumentation(t *testing.T) {
	data, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	row := regexp.MustCompile("(?m)^\\| `([a-z_.]+)` \\| (?:`([^`]*)`)? ?\\| .* \\|$")
	for _, m := range row.FindAllStringSubmatch(string(data), -1) {
		documented[m[1]] = m[2]
	}
	want := map[string]string{}
	for _, s := range scalars() {
		want[s.key] = s.def
	}
	if d := cmp.Diff(want, documented); d != "" {
		t.Errorf("docs/configuration.md (-code +documentation):\n%s", d)
	}
	for _, f := range provider.fields {
		if ok, err := regexp.Match("(?m)^\\| `"+f.name+"` \\| ", data); err != nil || !ok {
			t.Errorf("docs/configuration.md lacks the provider's key %s", f.name)
		}
	}
}
