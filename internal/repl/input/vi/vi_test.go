package vi

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bb2d0cf4/agent/internal/repl/input/edit"
	"github.com/bb2d0cf4/agent/internal/repl/keys"
	"github.com/bb2d0cf4/agent/internal/repl/keys/keystest"
)

// prompt is a text with vi keys, driven like the prompt.
type prompt struct {
	edit.Text
	vi   Mode
	last Result
}

// press presses keys: characters, and names in angle brackets.
func (p *prompt) press(all string) {
	for all != "" {
		name, rest := all[:1], all[1:]
		text := name
		if end := strings.IndexByte(all, '>'); name == "<" && end > 0 {
			name, text, rest = all[1:end], "", all[end+1:]
		}
		all = rest
		key := keystest.Key(name)
		a := keys.Map{}.At(keys.Prompt, key)
		switch p.last = p.vi.Key(&p.Text, key, a, text); {
		case p.last != None:
		case text != "":
			p.Type(text)
		default:
			p.Key(a)
		}
	}
}

// state returns the text with a bar for the cursor, in brackets in normal mode.
func (p *prompt) state() string {
	s := edit.Plain(p.Gs[:p.At]) + "|" + edit.Plain(p.Gs[p.At:])
	if p.vi.Normal() {
		return "[" + s + "]"
	}
	return s
}

func TestCommands(t *testing.T) {
	const words = "one two-three four"
	const lines = "first line\n  second\nthird"
	tests := []struct{ text, keys, want string }{
		{words, "", words + "|"},
		{words, "<esc>", "[one two-three fou|r]"},
		{"", "<esc>", "[|]"},
		{words, "<esc>0", "[|" + words + "]"},
		{words, "<esc>0$", "[one two-three fou|r]"},
		{"  x", "<esc>0^", "[  |x]"},
		{words, "<esc>0w", "[one |two-three four]"},
		{words, "<esc>0ww", "[one two|-three four]"},
		{words, "<esc>02W", "[one two-three |four]"},
		{words, "<esc>b", "[one two-three |four]"},
		{words, "<esc>bb", "[one two-|three four]"},
		{words, "<esc>bB", "[one |two-three four]"},
		{words, "<esc>0e", "[on|e two-three four]"},
		{words, "<esc>0ee", "[one tw|o-three four]"},
		{words, "<esc>0eE", "[one two-thre|e four]"},
		{words, "<esc>99w", "[one two-three fou|r]"},
		{words, "<esc>0fe", "[on|e two-three four]"},
		{words, "<esc>0fe;", "[one two-thr|ee four]"},
		{words, "<esc>0fe;;", "[one two-thre|e four]"},
		{words, "<esc>0fe;;,", "[one two-thr|ee four]"},
		{words, "<esc>0te", "[o|ne two-three four]"},
		{words, "<esc>0te;", "[one two-th|ree four]"},
		{words, "<esc>Ft", "[one two-|three four]"},
		{words, "<esc>Tt", "[one two-t|hree four]"},
		{words, "<esc>0fz", "[|one two-three four]"},
		{words, "<esc>03l", "[one| two-three four]"},
		{words, "<esc>hx", "[one two-three fo|r]"},
		{words, "<esc>0x", "[|ne two-three four]"},
		{words, "<esc>03x", "[| two-three four]"},
		{words, "<esc>X", "[one two-three fo|r]"},
		{words, "<esc>0dw", "[|two-three four]"},
		{words, "<esc>02dw", "[|-three four]"},
		{words, "<esc>0d2w", "[|-three four]"},
		{words, "<esc>0de", "[| two-three four]"},
		{words, "<esc>bdw", "[one two-three| ]"},
		{words, "<esc>0wD", "[one| ]"},
		{words, "<esc>db", "[one two-three |r]"},
		{words, "<esc>0dfw", "[|o-three four]"},
		{words, "<esc>0dtw", "[|wo-three four]"},
		{words, "<esc>0wdiw", "[one |-three four]"},
		{words, "<esc>0daw", "[|two-three four]"},
		{words, "<esc>0wdiW", "[one | four]"},
		{words, "<esc>0cwsix<esc>", "[si|x two-three four]"},
		{words, "<esc>0wciWx", "one x| four"},
		{words, "<esc>0wCx", "one x|"},
		{words, "<esc>0sS", "S|ne two-three four"},
		{words, "<esc>ccx", "x|"},
		{words, "<esc>Sx", "x|"},
		{words, "<esc>dd", "[|]"},
		{words, "<esc>0rX", "[|Xne two-three four]"},
		{words, "<esc>03rX", "[XX|X two-three four]"},
		{words, "<esc>99rX", "[one two-three fou|r]"},
		{words, "<esc>0~~", "[ON|e two-three four]"},
		{words, "<esc>0ywP", "[one| one two-three four]"},
		{words, "<esc>0yw$p", "[one two-three fourone| ]"},
		{words, "<esc>0x2p", "[no|oe two-three four]"},
		{words, "<esc>ix", "one two-three foux|r"},
		{words, "<esc>ax", "one two-three fourx|"},
		{words, "<esc>Ix", "x|one two-three four"},
		{words, "<esc>0Ax", "one two-three fourx|"},
		{words, "<esc>ox", words + "\nx|"},
		{words, "<esc>Ox", "x|\n" + words},
		{words, "<esc>0dwu", "[|one two-three four]"},
		{words, "<esc>0dwu<ctrl+r>", "[|two-three four]"},
		{words, "<esc>0dw.", "[|-three four]"},
		{words, "<esc>0cwx<esc>w.", "[x |x-three four]"},
		{words, "<esc>0x..", "[| two-three four]"},
		{"ab", "<esc>ox<shift+enter>y<esc>.", "[ab\nx\ny\nx\n|y]"},
		{words, "<esc>0d<esc>w", "[one |two-three four]"},
		{words, "<esc>0dq", "[|one two-three four]"},
		{words, "<alt+b>", "[one two-three |four]"},
		{words, "<esc>0<left>", "[|one two-three four]"},
		{lines, "<esc>gg", "[|" + lines + "]"},
		{lines, "<esc>ggG", "[first line\n  second\n|third]"},
		{lines, "<esc>2G", "[first line\n  |second\nthird]"},
		{lines, "<esc>ggdd", "[  |second\nthird]"},
		{lines, "<esc>dd", "[first line\n  |second]"},
		{lines, "<esc>gg2dd", "[|third]"},
		{lines, "<esc>ggdj", "[|third]"},
		{lines, "<esc>dk", "[|first line]"},
		{lines, "<esc>ggdG", "[|]"},
		{lines, "<esc>ggddp", "[  second\n|first line\nthird]"},
		{lines, "<esc>ggyyP", "[|first line\n" + lines + "]"},
		{lines, "<esc>ggyy2p", "[first line\n|first line\nfirst line\n  second\nthird]"},
		{lines, "<esc>2Gccx", "first line\nx|\nthird"},
		{lines, "<esc>gg$x", "[first li|n\n  second\nthird]"},
		{lines, "<esc>gg$dw", "[first li|n\n  second\nthird]"},
		{lines, "<esc>ggdju", "[|" + lines + "]"},
	}
	for _, tt := range tests {
		t.Run(tt.text+" "+tt.keys, func(t *testing.T) {
			p := &prompt{}
			p.Put(tt.text)
			p.press(tt.keys)
			if got := p.state(); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// Keys unknown to vi are for the prompt: rows, history, sending, stopping.
func TestResults(t *testing.T) {
	for keys, want := range map[string]Result{
		"<esc>k": Up, "<esc>j": Down, "<esc>/": Search, "<enter>": None, "<esc><enter>": None, "<esc><esc>": None,
		"<esc>d<esc>": Done, "x": None, "<esc>": Done, "<ctrl+k>": None, "<esc><up>": None, "<esc>q": Done,
	} {
		p := &prompt{}
		p.Put("one\ntwo")
		if p.press(keys); p.last != want {
			t.Errorf("%s: %d, want %d", keys, p.last, want)
		}
	}
}

func TestResetInserts(t *testing.T) {
	p := &prompt{}
	p.press("a<esc>d")
	p.Reset()
	p.vi.Reset()
	if p.vi.Normal() {
		t.Error("still in normal mode")
	}
	p.press("x<esc>x")
	if got := p.state(); got != "[|]" {
		t.Errorf("%q", got)
	}
}

// A placeholder is one character for every command.
func TestPlaceholders(t *testing.T) {
	p := &prompt{}
	p.Put(strings.Repeat("line\n", 20))
	p.press("<esc>~yyp")
	if len(p.Gs) != 3 || edit.Plain(p.Gs) != strings.Repeat("line\n", 20)+"\n"+strings.Repeat("line\n", 20) {
		t.Errorf("%d characters", len(p.Gs))
	}
}

// Whatever is typed, the cursor is in the text, on a character of its line in normal mode,
// and undoing everything restores the original text.
func TestAnyKeys(t *testing.T) {
	keys := strings.Split("i a I A o O h j k l w b e W B E 0 ^ $ f t F T ; , d c y p P x X r u s S C D Y . g G ~ 1 2 9 / v V v V > q ' é 漢 \u0301 <", " ")
	keys = append(keys, " ", "<esc>", "<esc>", "<esc>", "<ctrl+r>", "<backspace>", "<shift+enter>", "<left>", "<ctrl+w>", "<ctrl+y>", "<alt+x>", "<delete>", "<end>")
	rapid.Check(t, func(t *rapid.T) {
		p := &prompt{}
		p.Put(rapid.SampledFrom([]string{"", "one two", "a\n\nb c\n", "é漢 👩‍💻\n  x"}).Draw(t, "text"))
		for range rapid.IntRange(1, 60).Draw(t, "keys") {
			k := rapid.SampledFrom(keys).Draw(t, "key")
			if len(k) > 1 && k[0] == '<' {
				p.press(k)
			} else if p.vi.Key(&p.Text, keystest.Key(k), "", k) == None {
				p.Type(k)
			}
			if from, to, ok := p.vi.Selected(&p.Text); ok && (from < 0 || to < from || to > len(p.Gs)) {
				t.Fatalf("after %s: %d to %d of %d are selected", k, from, to, len(p.Gs))
			}
			if p.At < 0 || p.At > len(p.Gs) {
				t.Fatalf("after %s: cursor %d of %d", k, p.At, len(p.Gs))
			}
			if len(p.Gs) > 200_000 {
				t.Fatalf("%d characters", len(p.Gs))
			}
		}
	})
}

func TestVisual(t *testing.T) {
	const words = "one two-three four"
	const lines = "first line\n  second\nthird"
	for _, tt := range []struct{ text, keys, want string }{
		{words, "<esc>0vd", "[|ne two-three four]"},
		{words, "<esc>0vex", "[| two-three four]"},
		{words, "<esc>0wved", "[one |-three four]"},
		{words, "<esc>0v3ld", "[|two-three four]"},
		{words, "<esc>0v2wd", "[|three four]"},
		{words, "<esc>$vbd", "[one two-three| ]"},
		{words, "<esc>0wviwcnew<esc>", "[one ne|w-three four]"},
		{words, "<esc>0wvaWd", "[one |four]"},
		{words, "<esc>0vfed", "[| two-three four]"},
		{words, "<esc>0vte;d", "[|ee four]"},
		{words, "<esc>0wvesX<esc>", "[one |X-three four]"},
		{words, "<esc>0wvey$p", "[one two-three fourtw|o]"},
		{words, "<esc>0vlo<esc>", "[|one two-three four]"},
		{words, "<esc>0wvllold", "[one t|-three four]"},
		{words, "<esc>0vve", "[on|e two-three four]"},
		{words, "<esc>0vl<esc>x", "[o|e two-three four]"},
		{words, "<esc>0v<right><right>d", "[| two-three four]"},
		{words, "<esc>0vlld.", "[|o-three four]"},
		{words, "<esc>0vlcX<esc>w.", "[Xe |Xo-three four]"},
		{words, "<esc>0vldu", "[|" + words + "]"},
		{words, "<esc>vGd", "[|]"},
		{lines, "<esc>ggVd", "[  |second\nthird]"},
		{lines, "<esc>ggVjd", "[|third]"},
		{lines, "<esc>Vkd", "[|first line]"},
		{lines, "<esc>ggvjd", "[| second\nthird]"},
		{lines, "<esc>ggvD", "[  |second\nthird]"},
		{lines, "<esc>ggVjcnew<esc>", "[ne|w\nthird]"},
		{lines, "<esc>ggVy2Gp", "[first line\n  second\n|first line\nthird]"},
		{lines, "<esc>ggVj>", "[    |first line\n      second\nthird]"},
		{lines, "<esc>ggvj2>", "[        |first line\n          second\nthird]"},
		{lines, "<esc>ggVG<", "[|first line\nsecond\nthird]"},
		{lines, "<esc>ggVjvd", "[| second\nthird]"},
		{lines, "<esc>gg>>", "[    |first line\n  second\nthird]"},
		{lines, "<esc>gg2>>", "[    |first line\n      second\nthird]"},
		{lines, "<esc>2G<<", "[first line\n|second\nthird]"},
		{lines, "<esc>gg>>.", "[        |first line\n  second\nthird]"},
		{lines, "<esc>gg>j", "[    |first line\n      second\nthird]"},
		{lines, "<esc>gg>>u", "[|first line\n  second\nthird]"},
		{"\ta\n\n  b", "<esc>ggVG<", "[|a\n\nb]"},
		{"\ta\n\nb", "<esc>ggVG>", "[    \t|a\n\n    b]"},
		{"", "<esc>vd", "[|]"},
		{"", "<esc>V>", "[|]"},
	} {
		p := &prompt{}
		p.Put(tt.text)
		p.press(tt.keys)
		if got := p.state(); got != tt.want {
			t.Errorf("%q on %q: %q, want %q", tt.keys, tt.text, got, tt.want)
		}
		if _, _, ok := p.vi.Selected(&p.Text); ok && tt.keys != "<esc>0vve" {
			t.Errorf("%q on %q: something is selected still", tt.keys, tt.text)
		}
	}
}

// A selection includes the glyph under the cursor and, with V, the ends of its lines;
// changing the text from elsewhere ends it.
func TestSelected(t *testing.T) {
	p := &prompt{}
	p.Put("one\n\ntwo")
	for _, tt := range []struct {
		keys     string
		from, to int
	}{
		{"<esc>0v", 5, 6}, {"l", 5, 7}, {"o", 5, 7}, {"V", 5, 8}, {"k", 4, 5 + 3}, {"gg", 0, 8}, {"<esc>ggV", 0, 4}, {"j", 0, 5},
	} {
		p.press(tt.keys)
		if from, to, ok := p.vi.Selected(&p.Text); from != tt.from || to != tt.to || !ok {
			t.Errorf("after %s: %d to %d, %v; want %d to %d", tt.keys, from, to, ok, tt.from, tt.to)
		}
	}
	p.Put("pasted")
	if _, _, ok := p.vi.Selected(&p.Text); ok {
		t.Error("a paste leaves something selected")
	}
	p.press("d")
	if p.state() != "[one\npasted|\ntwo]" && !p.vi.Normal() {
		t.Error(p.state())
	}
}
