package cast

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestReadsBackAsWritten(t *testing.T) {
	r := &Recording{Width: 80, Height: 24, Title: "a <demo>"}
	r.Add(0, []byte("\x1b[1mone\x1b[m\r\n"))
	r.Add(1234567*time.Microsecond, []byte("<two> \"❯\""))
	r.Add(3*time.Second, nil)
	file, err := r.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"version":2,"width":80,"height":24,"title":"a <demo>"}
[0,"o","\u001b[1mone\u001b[m\r\n"]
[1.235,"o","<two> \"❯\""]
[3,"o",""]
`
	if diff := cmp.Diff(want, string(file)); diff != "" {
		t.Error(diff)
	}
	got, err := Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, got, cmpopts.IgnoreUnexported(Recording{})); diff != "" {
		t.Error(diff)
	}
}

// A character split by reads is whole in the file.
func TestCharactersStayWhole(t *testing.T) {
	const text = "a❯é😀b"
	for size := 1; size < len(text); size++ {
		r := &Recording{Width: 1, Height: 1}
		for i := 0; i < len(text); i += size {
			r.Add(0, []byte(text[i:min(i+size, len(text))]))
		}
		var all strings.Builder
		for _, ev := range r.Events {
			if quoted, err := json.Marshal(ev.Text); err != nil || strings.Contains(string(quoted), "ufffd") {
				t.Errorf("in pieces of %d: %s, %v", size, quoted, err)
			}
			all.WriteString(ev.Text)
		}
		if all.String() != text {
			t.Errorf("in pieces of %d: %q", size, all.String())
		}
	}
}

func TestTimeDoesNotRunBackwards(t *testing.T) {
	r := &Recording{}
	r.Add(2*time.Second, []byte("a"))
	r.Add(time.Second, []byte("b"))
	if got := r.Events[1].At; got != 2*time.Second {
		t.Errorf("the second event is at %v", got)
	}
}

func TestOtherEventsAreLeftOut(t *testing.T) {
	r, err := Parse([]byte("{\"version\":2,\"width\":3,\"height\":4}\n[0.5,\"i\",\"x\"]\n\n[1,\"o\",\"y\"]\n[2,\"m\",\"z\"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Event{{time.Second, "y"}}, r.Events); diff != "" {
		t.Error(diff)
	}
}

func TestBrokenFiles(t *testing.T) {
	const head = "{\"version\":2,\"width\":3,\"height\":4}\n"
	for file, want := range map[string]string{
		"": "first line",
		"{\"version\":1,\"width\":3,\"height\":4}":  "version 2",
		"{\"version\":2,\"width\":0,\"height\":4}":  "version 2",
		head + "[1,\"o\"":                           "event 1",
		head + "[1,\"o\",\"a\"]\n[0.5,\"o\",\"b\"]": "event 2 of the recording: time runs backwards",
		head + "[-1,\"o\",\"a\"]":                   "backwards",
		head + "[\"1\",\"o\",\"a\"]":                "event 1",
	} {
		if _, err := Parse([]byte(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, not %q", file, err, want)
		}
	}
}
