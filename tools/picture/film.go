package picture

import (
	"fmt"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/dev/ptytest/vt"
	"github.com/bb2d0cf4/agent/tools/picture/cast"
)

// together is how long output may continue and still be one frame.
const together = 90 * time.Millisecond

// shot is a frame of a film.
type shot struct {
	from, until time.Duration
	body        string // references to its rows
}

// Film renders a recording as one SVG file that plays it in a loop. Viewers without
// animation, and people who prefer no motion, see the frame that lasts longest. Each
// distinct row is stored once.
func Film(r *cast.Recording) []byte {
	f := &film{w: &window{m: vt.New(vt.Options{Width: r.Width, Height: r.Height})}, ids: map[string]int{}}
	f.take(r)
	if len(f.shots) == 0 {
		f.shoot(0, 0)
	}
	return f.draw(r.Title)
}

// film draws frames next to each other; a window moves over them.
type film struct {
	w      *window
	ids    map[string]int // of rows, by their content
	defs   strings.Builder
	shots  []shot
	height int // rows in use
}

// take plays the recording.
func (f *film) take(r *cast.Recording) {
	for i := 0; i < len(r.Events); {
		begin := r.Events[i].At
		for i < len(r.Events) && r.Events[i].At-begin < together {
			_, _ = f.w.m.Write([]byte(r.Events[i].Text)) // never fails
			i++
		}
		until := begin
		if i < len(r.Events) {
			until = r.Events[i].At
		}
		f.shoot(begin, until)
	}
}

// shoot adds the screen as a frame if it differs from the last.
func (f *film) shoot(from, until time.Duration) {
	rows := f.w.m.Screen()
	var b strings.Builder
	for y := range rows {
		if id := f.row(y); id > 0 {
			fmt.Fprintf(&b, `<use href="#r%d" y="%d"/>`, id, y*cellHeight)
			f.height = max(f.height, y+1)
		}
	}
	if n := len(f.shots); n > 0 && f.shots[n-1].body == b.String() {
		f.shots[n-1].until = until
		return
	}
	f.shots = append(f.shots, shot{from, until, b.String()})
}

// row returns the number of a row, drawn as if it were the first, or 0 if it is blank.
func (f *film) row(y int) int {
	w := &window{m: f.w.m, first: y, end: y + 1}
	w.row(y)
	w.cursor()
	body := w.b.String()
	if body == "" {
		return 0
	}
	id, known := f.ids[body]
	if !known {
		id = len(f.ids) + 1
		f.ids[body] = id
		fmt.Fprintf(&f.defs, "<g id=\"r%d\">\n%s</g>\n", id, body)
	}
	return id
}

func (f *film) draw(title string) []byte {
	w := f.w
	columns, _ := w.m.Size()
	w.width = float64(columns)*cellWidth + 2*margin
	w.height = float64(bar + f.height*cellHeight + margin)
	w.frame(title)
	fmt.Fprintf(&w.b, "<defs>\n%s</defs>\n<style>\n%s</style>\n", f.defs.String(), f.style())
	fmt.Fprintf(&w.b, `<svg width="%.0f" height="%.0f"><g class="film" transform="translate(%s)">`+"\n", w.width, w.height, number(0-w.width*float64(f.longest())))
	for i, s := range f.shots {
		fmt.Fprintf(&w.b, `<g transform="translate(%s)">%s</g>`+"\n", number(w.width*float64(i)), s.body)
	}
	w.b.WriteString("</g></svg>\n</g>\n</svg>\n")
	return []byte(w.b.String())
}

// longest returns the frame that lasts longest.
func (f *film) longest() int {
	best := 0
	for i, s := range f.shots {
		if s.until-s.from > f.shots[best].until-f.shots[best].from {
			best = i
		}
	}
	return best
}

// style returns the animation, for viewers without reduced motion.
func (f *film) style() string {
	var b strings.Builder
	end := f.shots[len(f.shots)-1].until
	b.WriteString("@keyframes film {\n")
	for i, s := range f.shots {
		fmt.Fprintf(&b, "%s%%{transform:translateX(%spx)}\n", number(100*s.from.Seconds()/max(end.Seconds(), 0.001)), number(0-f.w.width*float64(i)))
	}
	fmt.Fprintf(&b, "}\n.film{animation:film %ss step-end infinite}\n", number(end.Seconds()))
	b.WriteString("@media (prefers-reduced-motion:reduce){.film{animation:none}}\n")
	return b.String()
}
