package glob

import "testing"

func TestGlob(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"*.go", "a/b.go", true},
		{"/*.go", "a/b.go", false},
		{"/*.go", "b.go", true},
		{"a/*.go", "a/b/c.go", false},
		{"a/**", "a/b/c.go", true},
		{"./a/*.go", "a/b.go", true},
		{"{a,b}.go", "x/b.go", true},
		{"[a-c]?.go", "bx.go", true},
	} {
		g, err := New(tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Match(tt.name); got != tt.want {
			t.Errorf("%s on %s: %v", tt.pattern, tt.name, got)
		}
	}
}
