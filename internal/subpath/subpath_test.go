package subpath

import (
	"path/filepath"
	"testing"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		dir, path, rel string
		ok             bool
	}{
		{"/a", "/a", ".", true},
		{"/a", "/a/b/c", "b/c", true},
		{"/a/", "/a/../a/b", "b", true},
		{"/", "/a", "a", true},
		{"a", "a/b", "b", true},
		{"/a", "/a/..b", "..b", true},
		{"/a", "/ab", "", false},
		{"/a", "/", "", false},
		{"/a", "/a/../b", "", false},
		{"/a", "b", "", false},
		{".", "", "", false},
	} {
		rel, ok := Of(filepath.FromSlash(c.dir), filepath.FromSlash(c.path))
		if rel != c.rel || ok != c.ok {
			t.Errorf("Of(%q, %q) = %q, %v", c.dir, c.path, rel, ok)
		}
	}
}
