package docs

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maintainers are the pages that only people who change the program read.
var maintainers = []string{"architecture", "dependencies", "dialects", "ide-failures", "performance", "protocol", "releasing", "scripted-model", "security-report", "style"}

// TestTopics: each page is a topic or for maintainers, and each topic a page.
func TestTopics(t *testing.T) {
	files, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, f := range files {
		if name := strings.TrimSuffix(f, ".md"); !slices.Contains(maintainers, name) {
			want = append(want, name)
		}
	}
	for _, topic := range Topics {
		got = append(got, topic.Name)
		text, ok := Page(topic.Name)
		if !ok || !strings.HasPrefix(text, "# ") {
			t.Errorf("%s is no page", topic.Name)
		}
		for _, left := range []string{"](pictures", "<!--", "](", ".md#"} {
			if strings.Contains(strings.ReplaceAll(text, "](https://", ""), left) {
				t.Errorf("the page %s has %q", topic.Name, left)
			}
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("topics %q, want %q", got, want)
	}
	if _, ok := Page("../go"); ok {
		t.Error("a file outside of the pages is shown")
	}
}
