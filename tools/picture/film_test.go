package picture

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/tools/picture/cast"
)

// tape is a recording of four frames, of which the third lasts longest.
func tape() *cast.Recording {
	r := &cast.Recording{Width: 10, Height: 6, Title: "T"}
	r.Add(0, []byte("\x1b[?25lone"))
	r.Add(time.Second, []byte("\r\ntw"))
	r.Add(time.Second+50*time.Millisecond, []byte("o"))
	r.Add(2*time.Second, []byte("\r\nthree"))
	r.Add(6*time.Second, []byte("\r\x1b[2Kfour"))
	r.Add(7*time.Second, []byte("\x1b[m")) // changes nothing
	r.Add(8*time.Second, nil)
	return r
}

func TestFilm(t *testing.T) {
	svg := Film(tape())
	var shown []string
	for _, x := range texts(t, svg) {
		shown = append(shown, x[3])
	}
	film := string(svg)
	if diff := cmp.Diff([]string{"one", "two", "three", "four"}, shown); diff != "" {
		t.Error(diff)
	}
	if n := strings.Count(film, ">one<"); n != 1 {
		t.Errorf("a row that stays is in the file %d times", n)
	}
	keys := regexp.MustCompile(`(?m)^[\d.]+%\{.*\}$`).FindAllString(film, -1)
	want := []string{
		"0%{transform:translateX(0px)}",
		"12.5%{transform:translateX(-116.3px)}",
		"25%{transform:translateX(-232.6px)}",
		"75%{transform:translateX(-348.9px)}",
	}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Error(diff)
	}
	for _, part := range []string{
		"animation:film 8s step-end infinite",
		"@media (prefers-reduced-motion:reduce){.film{animation:none}}",
		`<g class="film" transform="translate(-232.6)">`, // the longest, without animation
		`height="110" viewBox`,                           // three rows are in use
		`<g transform="translate(116.3)"><use href="#r1" y="0"/><use href="#r2" y="20"/></g>`,
	} {
		if !strings.Contains(film, part) {
			t.Errorf("no %s in\n%s", part, film)
		}
	}
	if !bytes.Equal(svg, Film(tape())) {
		t.Error("the same recording gives other bytes")
	}
}

func TestFilmOfNothing(t *testing.T) {
	svg := Film(&cast.Recording{Width: 10, Height: 2, Title: "empty"})
	if got := texts(t, svg); len(got) != 0 || !bytes.Contains(svg, []byte(">empty</text>")) {
		t.Errorf("%q in\n%s", got, svg)
	}
}
