package picker_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/repl/keys/keystest"
	"github.com/bb2d0cf4/agent/internal/repl/picker"
)

func said() []string {
	return []string{"please mend\nthe Größe of the\x1b[2J window", "", strings.Repeat("long ", 100) + "Needle in it" + strings.Repeat(" long", 100), "login here, too"}
}

func TestTextsAreSearched(t *testing.T) {
	p := picker.New([]picker.Item{{Title: "first"}, {Title: "second"}, {Title: "third"}, {Title: "login"}}, picker.Options{NoColor: true})
	p.SetFilter("größe")
	if p.Len() != 0 {
		t.Fatal("found before there is an index")
	}
	p.Index(said())
	want := []string{`› first  please mend the Größe of the\u{1b}[2J window`}
	if d := cmp.Diff(want, p.View(80, 5)); d != "" {
		t.Error("the filter that was typed before the index came:", d)
	}
	p.SetFilter("needle IN")
	want = []string{"› third  … long long long Needle in it long long long long long long long l"}
	if d := cmp.Diff(want, p.View(80, 5)); d != "" {
		t.Error(d)
	}
	p.SetFilter("login")
	if d := cmp.Diff([]string{"› login"}, p.View(80, 5)); d != "" {
		t.Error("a match of the title needs no passage:", d)
	}
	p.SetFilter("nowhere")
	if p.Len() != 0 {
		t.Error(p.View(80, 5))
	}
}

// Whenever the index arrives, the item under the cursor stays there.
func TestTheIndexKeepsTheCursor(t *testing.T) {
	p := picker.New([]picker.Item{{Title: "first"}, {Title: "second"}, {Title: "third"}}, picker.Options{NoColor: true})
	p.Press(keystest.Key("down"))
	p.Index(said()[:3])
	if i, ok := p.Selected(); i != 1 || !ok {
		t.Errorf("under the cursor is %d, %v", i, ok)
	}
	p.Index(nil) // nothing could be read
	p.SetFilter("needle")
	if p.Len() != 0 {
		t.Error("an index of before is used")
	}
}
