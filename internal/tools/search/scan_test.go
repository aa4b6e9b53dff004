package search

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/workspace/text"
)

// reference finds the same as scan in the simple way: every line, one by one.
func reference(re *regexp.Regexp, text string, context, limit int) (lines []Line, matches int, more bool) {
	var all []string
	for l := range strings.Lines(text) {
		if ending := strings.TrimSuffix(l, "\n"); ending != l {
			l = strings.TrimSuffix(ending, "\r")
		}
		all = append(all, l)
	}
	show, hit := make([]bool, len(all)), make([]bool, len(all))
	for i, l := range all {
		if !re.MatchString(l) {
			continue
		}
		if matches == limit {
			more = true
			break
		}
		matches++
		hit[i] = true
		for j := max(0, i-context); j <= min(len(all)-1, i+context); j++ {
			show[j] = true
		}
	}
	for i, l := range all {
		if show[i] {
			lines = append(lines, Line{Number: i + 1, Text: l, Match: hit[i]})
		}
	}
	return lines, matches, more
}

var someText = rapid.Custom(func(t *rapid.T) string {
	pieces := rapid.SampledFrom([]string{"a", "b", "needle", "NEEDLE", "\n", "\n", "\r\n", "\r", " ", "é"})
	return strings.Join(rapid.SliceOfN(pieces, 0, 40).Draw(t, "pieces"), "")
})

func TestScanAsReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		expr := rapid.SampledFrom([]string{"needle", "(?i)needle", "a|b", "^$", "a.*b", "é", "^a", "e$", "x*"}).Draw(t, "expr")
		in := someText.Draw(t, "text")
		context, limit := rapid.IntRange(0, 3).Draw(t, "context"), rapid.IntRange(1, 5).Draw(t, "limit")
		m, err := newMatcher(expr)
		if err != nil {
			t.Fatal(err)
		}
		lines, matches, more := m.scan([]byte(in), context, limit)
		wantLines, wantMatches, wantMore := reference(m.re, in, context, limit)
		if matches != wantMatches || more != wantMore {
			t.Fatalf("%d matches, more %v; want %d, %v", matches, more, wantMatches, wantMore)
		}
		if diff := cmp.Diff(wantLines, lines); diff != "" {
			t.Fatalf("%q in %q (-want +got)\n%s", expr, in, diff)
		}
	})
}

// Cutting an answer at n matches gives the answer to a search for n matches.
func TestFirstMatchesIsALimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := someText.Draw(t, "text")
		context, n := rapid.IntRange(0, 3).Draw(t, "context"), rapid.IntRange(1, 4).Draw(t, "n")
		m, err := newMatcher("needle")
		if err != nil {
			t.Fatal(err)
		}
		all, _, _ := m.scan([]byte(in), context, 1000)
		few, _, _ := m.scan([]byte(in), context, n)
		if diff := cmp.Diff(few, firstMatches(all, n, context)); diff != "" {
			t.Fatalf("%q (-want +got)\n%s", in, diff)
		}
	})
}

func TestLiteralIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-cA-C .]{1,4}`).Draw(t, "literal")
		data := rapid.StringMatching(`[a-cA-C .\n]{0,60}`).Draw(t, "data")
		exact, fold := newLiteral(text, false), newLiteral(strings.ToLower(text), true)
		if got, want := exact.index([]byte(data)), strings.Index(data, text); got != want {
			t.Fatalf("%q in %q: %d, want %d", text, data, got, want)
		}
		if got, want := fold.index([]byte(data)), strings.Index(strings.ToLower(data), strings.ToLower(text)); got != want {
			t.Fatalf("%q in %q with any case: %d, want %d", text, data, got, want)
		}
	})
}

func TestScanKinds(t *testing.T) {
	tests := []struct {
		name, expr, data string
		want             []Line
	}{
		{"nothing", "a", "", nil},
		{"open end", "b", "a\nb", []Line{{2, "b", true}}},
		{"binary at the end", "a", "a\n" + strings.Repeat("x", 100_000) + "\x00", nil},
		{"Latin-1", "^é$", "\xe9\r\n", []Line{{1, "é", true}}},
		{"a stray byte in UTF-8", "é|^.$", "é\n\xe9\n", []Line{{1, "é", true}, {2, "\U0010fee9", true}}},
		{"Windows-1252", "€ 5", "\x80 5\n", []Line{{1, "€ 5", true}}},
		{"big-endian UTF-16", "é", "\xfe\xff\x00\xe9\x00\n", []Line{{1, "é", true}}},
		{"odd UTF-16", "a", "\xff\xfea\x00b", []Line{{1, "a\ufffd", true}}},
		{"carriage return within a line", `b$`, "a\rb\n", []Line{{1, "a\rb", true}}},
		{"carriage return at an open end", `a$`, "a\r", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := newMatcher(tt.expr)
			if err != nil {
				t.Fatal(err)
			}
			data, _ := text.Plain([]byte(tt.data), text.Fallback{Encoding: text.Latin1})
			got, _, _ := m.scan(data, 0, 10)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestCut(t *testing.T) {
	long := strings.Repeat("é", 500) // 1,000 bytes
	tests := []struct {
		name, line string
		loc        []int
		begins     string
		ends       string
	}{
		{"short", "abc", nil, "abc", "abc"},
		{"context", long, nil, "éé", "é…"},
		{"match in front", "x" + long, []int{0, 1}, "xé", "é…"},
		{"match in the middle", long + "x" + long, []int{1000, 1001}, "…é", "é…"},
		{"match at the end", long + "x", []int{1000, 1001}, "…é", "éx"},
		{"match of everything", long, []int{0, 1000}, "éé", "é…"},
	}
	for _, tt := range tests {
		got := cut([]byte(tt.line), tt.loc)
		if !strings.HasPrefix(got, tt.begins) || !strings.HasSuffix(got, tt.ends) || len(got) > maxLine+10 {
			t.Errorf("%s: %q", tt.name, got)
		}
		if tt.loc != nil && strings.Contains(tt.line, "x") && !strings.Contains(got, "x") {
			t.Errorf("%s: the match is cut off: %q", tt.name, got)
		}
	}
}

func TestForRipgrep(t *testing.T) {
	tests := map[string]string{
		"foo bar":            "foo bar",
		"a.b":                `(?:a(?:[\x{0}-\x{9}\x{B}-\x{10FFFF}]|(?-u:[\x80-\xFF]))b)`,
		"^a$":                `(?:(?:^\x{FEFF}?)a(?:\r?$))`,
		`\d+`:                `(?:[\x{30}-\x{39}])+`,
		"(?i)k":              `[\x{4B}-\x{4B}\x{6B}-\x{6B}\x{212A}-\x{212A}]`,
		"a{2,3}b*?":          `(?:(?:a){2,3}(?:b)*)`,
		"a{2,}":              `(?:a){2,}`,
		"(ab|c)?":            `(?:(?:(?:ab|c)))?`,
		`[\n]`:               `[a&&b]`,
		`\bx\B`:              `(?:(?:)x(?:))`,
		"$^":                 `(?:(?:)(?:))`,
		"(^|a)b(c|$)":        `(?:(?:(?:(?:^\x{FEFF}?)|a))b(?:(?:c|(?:\r?$))))`,
		"(a$)*^?b":           `(?:(?:(?:(?:a(?:))))*(?:(?:))?b)`,
		`\.`:                 `[\x{2E}-\x{2E}]`,
		"":                   `(?:)`,
		`[^\x00-\x{10FFFF}]`: `[a&&b]`,
	}
	for expr, want := range tests {
		tree, err := parse(expr)
		if expr == `[\n]` && errors.Is(err, errNewline) {
			continue // some versions of the parser simplify it to a literal
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := forRipgrep(tree, text.SingleBytesOf(text.Latin1)); got != want {
			t.Errorf("%s becomes %s, want %s", expr, got, want)
		}
	}
}

type failing struct{}

func (*failing) Read([]byte) (int, error) { return 0, errors.New("broken") }
