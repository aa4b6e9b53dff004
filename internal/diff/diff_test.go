package diff

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// text draws a small text of few distinct lines, so that lines repeat, with mixed line
// endings and with or without a final newline.
func text(t *rapid.T, label string) string {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "", "{", "}", "\tx := 1", "é ü"}), 0, 30).Draw(t, label)
	eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, label+" eol")
	s := strings.Join(lines, eol)
	if rapid.Bool().Draw(t, label+" final") && s != "" {
		s += eol
	}
	return s
}

// apply applies the edits of d to its old text.
func apply(d *Diff) string {
	var out strings.Builder
	pos := 0
	for _, e := range d.Edits {
		out.WriteString(strings.Join(d.A[pos:e.AStart], ""))
		out.WriteString(strings.Join(d.B[e.BStart:e.BEnd], ""))
		pos = e.AEnd
	}
	out.WriteString(strings.Join(d.A[pos:], ""))
	return out.String()
}

func TestEditsGiveNewText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := text(t, "a"), text(t, "b")
		d := Lines(a, b)
		if got := apply(d); got != b {
			t.Fatalf("applied edits give %q, want %q", got, b)
		}
		if strings.Join(d.A, "") != a || strings.Join(d.B, "") != b {
			t.Fatal("lines do not make up the texts")
		}
		if (a == b) != (len(d.Edits) == 0) {
			t.Fatalf("equal texts: %v, edits: %v", a == b, d.Edits)
		}
		for i, e := range d.Edits {
			if e.AStart == e.AEnd && e.BStart == e.BEnd {
				t.Fatalf("empty edit %v", e)
			}
			if i > 0 && e.AStart <= d.Edits[i-1].AEnd {
				t.Fatalf("edits touch: %v", d.Edits)
			}
		}
	})
}

// TestShortTextsAreMinimal compares with the longest common subsequence for texts without
// repeated lines, for which anchors are exact.
func TestShortTextsAreMinimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perm := func(label string) []string {
			return rapid.SliceOfNDistinct(rapid.SampledFrom(strings.Split("abcdefghijklmnop", "")), 0, 16, rapid.ID).Draw(t, label)
		}
		a, b := perm("a"), perm("b")
		kept := len(common(a, b, make([]uint16, (len(a)+1)*(len(b)+1))))
		join := func(s []string) string { return strings.Join(append(s, ""), "\n") }
		added, removed := Count(join(a), join(b))
		if added != len(b)-kept || removed != len(a)-kept {
			t.Fatalf("+%d -%d, but %d lines of %d and %d can be kept", added, removed, kept, len(a), len(b))
		}
	})
}

func TestHunksCoverAllEdits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Lines(text(t, "a"), text(t, "b"))
		context := rapid.IntRange(0, 4).Draw(t, "context")
		added, removed, endA := 0, 0, -1
		for _, h := range d.Hunks(context) {
			if h.AStart < endA || (context > 0 && h.AStart == endA) {
				t.Fatalf("hunks overlap or meet at line %d", h.AStart)
			}
			endA = h.AStart + h.ACount
			a, b := h.AStart, h.BStart
			for _, line := range h.Lines {
				if line.Op != Insert {
					a++
					if line.A != a || d.A[a-1] != line.Text {
						t.Fatalf("line %+v is not line %d of the old text", line, a)
					}
				}
				if line.Op != Delete {
					b++
					if line.B != b || d.B[b-1] != line.Text {
						t.Fatalf("line %+v is not line %d of the new text", line, b)
					}
				}
				added += btoi(line.Op == Insert)
				removed += btoi(line.Op == Delete)
			}
			if a != endA || b != h.BStart+h.BCount {
				t.Fatalf("hunk %+v holds other counts", h)
			}
		}
		if wa, wr := d.Counts(); added != wa || removed != wr {
			t.Fatalf("hunks have +%d -%d, the diff +%d -%d", added, removed, wa, wr)
		}
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestHunkGrouping(t *testing.T) {
	var a, b []string
	for i := range 30 {
		a = append(a, fmt.Sprint("line ", i))
	}
	b = append(b, a...)
	b[2], b[9], b[20] = "x", "y", "z"
	d := Lines(strings.Join(a, "\n"), strings.Join(b, "\n"))
	var got []string
	for _, h := range d.Hunks(3) {
		got = append(got, h.Header())
	}
	want := []string{"@@ -1,13 +1,13 @@", "@@ -18,7 +18,7 @@"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestCostStaysBounded compares texts for which a plain LCS is quadratic. With quadratic
// cost it would exceed the test's time.
func TestCostStaysBounded(t *testing.T) {
	const n = 200_000
	rng := rand.New(rand.NewPCG(1, 2))
	repeat := func(kinds int) string {
		var out strings.Builder
		for range n {
			fmt.Fprintln(&out, rng.IntN(kinds))
		}
		return out.String()
	}
	for _, kinds := range []int{2, 100, n} {
		a, b := repeat(kinds), repeat(kinds)
		if got := apply(Lines(a, b)); got != b {
			t.Errorf("%d kinds of line: wrong result", kinds)
		}
	}
}

func TestWords(t *testing.T) {
	tests := []struct {
		name, a, b string
		wantA      []string
		wantB      []string
	}{
		{"one word", "x := old(1)", "x := new(1)", []string{"old"}, []string{"new"}},
		{"insertion", "f(a)", "f(a, b)", nil, []string{", b"}},
		{"two words", "a one b two c", "a 1 b 2 c", []string{"one", "two"}, []string{"1", "2"}},
		{"blanks between changes join", "keep this old words end", "keep this new terms end", []string{"old words"}, []string{"new terms"}},
		{"indentation", "\tx", "\t\tx", []string{"\t"}, []string{"\t\t"}},
		{"nothing in common", "alpha beta", "gamma delta", nil, nil},
		{"equal", "same", "same", nil, nil},
		{"unicode word", "größe = 1", "grösse = 1", []string{"größe"}, []string{"grösse"}},
	}
	pick := func(s string, spans []Span) []string {
		var out []string
		for _, sp := range spans {
			out = append(out, s[sp.Start:sp.End])
		}
		return out
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inA, inB := Words(tt.a, tt.b)
			if diff := cmp.Diff(tt.wantA, pick(tt.a, inA)); diff != "" {
				t.Error("old line:", diff)
			}
			if diff := cmp.Diff(tt.wantB, pick(tt.b, inB)); diff != "" {
				t.Error("new line:", diff)
			}
		})
	}
}

// TestWordsKeepTheRest checks that the unmarked parts are the same on both sides.
func TestWordsKeepTheRest(t *testing.T) {
	rest := func(s string, spans []Span) string {
		var out strings.Builder
		pos := 0
		for _, sp := range spans {
			out.WriteString(s[pos:sp.Start])
			pos = sp.End
		}
		return strings.Join(strings.Fields(out.String()+s[pos:]), "")
	}
	rapid.Check(t, func(t *rapid.T) {
		gen := rapid.StringOfN(rapid.RuneFrom([]rune("ab (),ü\t1")), 0, 40, -1)
		a, b := gen.Draw(t, "a"), gen.Draw(t, "b")
		inA, inB := Words(a, b)
		if inA == nil && inB == nil {
			return
		}
		if rest(a, inA) != rest(b, inB) {
			t.Fatalf("unmarked text differs: %q %v, %q %v", a, inA, b, inB)
		}
	})
}

func TestLongLinesAreMarkedAtTheirEndsOnly(t *testing.T) {
	long := strings.Repeat("word ", 5000)
	inA, inB := Words(long+"old tail", long+"new tail")
	if diff := cmp.Diff([]Span{{25000, 25003}}, inA); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Span{{25000, 25003}}, inB); diff != "" {
		t.Error(diff)
	}
}

func TestPairs(t *testing.T) {
	d := Lines("func a() {\n\tone()\n}\n", "// doc\nfunc a(x int) {\n\tone()\n}\n")
	h := d.Hunks(3)[0]
	var got [][2]string
	for _, p := range h.Pairs() {
		got = append(got, [2]string{h.Lines[p[0]].Text, h.Lines[p[1]].Text})
	}
	want := [][2]string{{"func a() {\n", "func a(x int) {\n"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPairsJoinDeletedWithInserted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, h := range Lines(text(t, "a"), text(t, "b")).Hunks(1) {
			lastDel, lastIns := -1, -1
			for _, p := range h.Pairs() {
				if h.Lines[p[0]].Op != Delete || h.Lines[p[1]].Op != Insert || p[0] <= lastDel || p[1] <= lastIns {
					t.Fatalf("bad pair %v in %+v", p, h)
				}
				lastDel, lastIns = p[0], p[1]
			}
		}
	})
}

func TestClassify(t *testing.T) {
	tests := []struct {
		name, a, b string
		want       Class
	}{
		{"equal", "a\n", "a\n", Class{}},
		{"words", "a\n", "b\n", Class{}},
		{"line endings", "a\nb\n", "a\r\nb\r\n", Class{LineEndings: true, Whitespace: true}},
		{"indentation", "a\n\tb\n", "a\n    b\n", Class{Whitespace: true}},
		{"blank line", "a\nb\n", "a\n\nb\n", Class{Whitespace: true}},
		{"final newline added", "a", "a\n", Class{Whitespace: true, FinalNewline: 1}},
		{"final newline lost", "a\n", "a", Class{Whitespace: true, FinalNewline: -1}},
		{"no-break space", "a b\n", "a\u00a0b\n", Class{Whitespace: true}},
		{"new file", "", "a\n", Class{}},
	}
	for _, tt := range tests {
		if got := Classify(tt.a, tt.b); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestASmallChangeTakesLittleMemory: the garbage of a diff depends on the size of the change.
func TestASmallChangeTakesLittleMemory(t *testing.T) {
	const runs = 100
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		Lines("a\nb\nc\n", "a\nx\nc\n")
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / runs; each > 8<<10 {
		t.Errorf("a diff of one line allocates %d bytes", each)
	}
}

// Words of long lines marks all between their common ends, at the borders of words, and does not
// cut them into words.
func TestWordsOfLongLines(t *testing.T) {
	rest := strings.Repeat("x = y, ", 2000)
	for _, tt := range []struct{ a, b, inA, inB string }{
		{"old value", "new value", "old", "new"},
		{"older", "oldest", "older", "oldest"},
		{"an old thing", "an odd thing", "old", "odd"},
		{"größer", "größte", "größer", "größte"},
		{"ab", "ab c", "", " c"},
		{"a(b)c", "a(d)c", "b", "d"},
		{"one", "one", "", ""},
	} {
		a, b := rest+tt.a+", "+rest, rest+tt.b+", "+rest
		inA, inB := Words(a, b)
		if got := at(a, inA) + "|" + at(b, inB); got != tt.inA+"|"+tt.inB {
			t.Errorf("%q and %q: %q", tt.a, tt.b, got)
		}
	}
	if inA, inB := Words(strings.Repeat("a ", 9000), strings.Repeat("b ", 9000)); inA != nil || inB != nil {
		t.Errorf("lines with nothing in common: %v %v", inA, inB)
	}
	if n := testing.AllocsPerRun(5, func() { Words(rest+"a", rest+"b") }); n > 10 {
		t.Errorf("%v allocations", n)
	}
}

func at(s string, spans []Span) string {
	var b strings.Builder
	for _, p := range spans {
		b.WriteString(s[p.Start:p.End])
	}
	return b.String()
}
