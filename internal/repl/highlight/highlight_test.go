package highlight_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/repl/highlight"
	"github.com/bb2d0cf4/agent/internal/repl/paint"
)

// render returns the lines of code with each piece prefixed by its color.
func render(l *highlight.Lines, code string) string {
	var out strings.Builder
	for line := range strings.SplitSeq(code, "\n") {
		for _, s := range l.Line(line) {
			if s.Style.FG == 0 {
				out.WriteString(s.Text)
				continue
			}
			out.WriteString("‹" + names[s.Style.FG] + ":" + s.Text + "›")
		}
		out.WriteString("\n")
	}
	return out.String()
}

var names = map[paint.Color]string{
	paint.Keyword: "keyword", paint.Type: "type", paint.Name: "name", paint.String: "text",
	paint.Number: "number", paint.Dim: "comment", paint.Good: "green", paint.Bad: "red",
}

func TestOpenConstructsContinue(t *testing.T) {
	for _, tt := range []struct{ lang, code, want string }{
		{"go", "a /* open\nstill */ if b // /* not\nif", "a ‹comment:/* open›\n‹comment:still */› ‹keyword:if› b ‹comment:// /* not›\n‹keyword:if›\n"},
		{"go", "s := `raw\n/* text */` + \"/*\"\nreturn", "s := ‹text:`raw›\n‹text:/* text */`› + ‹text:\"/*\"›\n‹keyword:return›\n"},
		{"python", "x = \"\"\"doc\nif\n\"\"\"\nif x: pass", "x = ‹text:\"\"\"doc›\n‹text:if›\n‹text:\"\"\"›\n‹keyword:if› x: ‹keyword:pass›\n"},
		{"rust", "fn f<'a>(x: &'a str) /* c\n*/", "‹keyword:fn› ‹name:f›<‹name:'a›>(x: ‹keyword:&›‹name:'a› ‹type:str›) ‹comment:/* c›\n‹comment:*/›\n"},
		{"html", "<b>x<!-- c\nc --></b>", "<‹type:b›>x‹comment:<!-- c›\n‹comment:c -->›</‹type:b›>\n"},
		{"diff", "+new\n-old", "‹green:+new›\n‹red:-old›\n"},
		{"no such language", "if x { /* y\nz", "if x { /* y\nz\n"},
		{"", "if x", "if x\n"},
	} {
		if d := cmp.Diff(tt.want, render(highlight.ForLanguage(tt.lang), tt.code)); d != "" {
			t.Errorf("%s: %s", tt.lang, d)
		}
	}
}

func TestSkipFollowsToo(t *testing.T) {
	l := highlight.ForFile("cmd/main.go")
	l.Skip("x := 1 /* open")
	if got := l.Peek("if */ if"); len(got) != 3 {
		t.Errorf("peek: %+v", got)
	}
	if got := l.Line("if */ if"); len(got) != 3 {
		t.Errorf("line: %+v", got)
	}
	if got := l.Line("if"); got[0].Style.FG != paint.Keyword {
		t.Errorf("after the comment: %+v", got)
	}
	l.Skip("/*")
	if got := l.Fresh().Line("if"); got[0].Style.FG != paint.Keyword {
		t.Errorf("fresh: %+v", got)
	}
}

func TestLongLinesStayPlain(t *testing.T) {
	long := strings.Repeat("if x ", 1000)
	got := highlight.ForLanguage("go").Line(long)
	if d := cmp.Diff([]paint.Span{{Text: long}}, got); d != "" {
		t.Error(d)
	}
}
