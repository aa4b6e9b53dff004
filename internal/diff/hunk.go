package diff

import "strings"

// Hunks groups the edits with up to context lines before and after each. Groups that meet
// are joined.
func (d *Diff) Hunks(context int) []Hunk {
	var out []Hunk
	for from := 0; from < len(d.Edits); {
		to := from + 1
		for to < len(d.Edits) && d.Edits[to].AStart-d.Edits[to-1].AEnd <= 2*context {
			to++
		}
		h := d.hunk(d.Edits[from:to], context)
		h.First, h.Last = from, to
		out = append(out, h)
		from = to
	}
	return out
}

// Compose returns the old text with only those edits applied for whose index keep returns
// true.
func (d *Diff) Compose(keep func(edit int) bool) string {
	var out strings.Builder
	write := func(lines []string) {
		for _, l := range lines {
			out.WriteString(l)
		}
	}
	at := 0
	for i, e := range d.Edits {
		write(d.A[at:e.AStart])
		if keep(i) {
			write(d.B[e.BStart:e.BEnd])
		} else {
			write(d.A[e.AStart:e.AEnd])
		}
		at = e.AEnd
	}
	write(d.A[at:])
	return out.String()
}

// hunk builds the hunk of a non-empty list of edits.
func (d *Diff) hunk(edits []Edit, context int) Hunk {
	first, last := edits[0], edits[len(edits)-1]
	before := min(context, first.AStart)
	after := min(context, len(d.A)-last.AEnd)
	h := Hunk{AStart: first.AStart - before, BStart: first.BStart - before}
	h.ACount = last.AEnd + after - h.AStart
	h.BCount = last.BEnd + after - h.BStart
	i, j := h.AStart, h.BStart
	equal := func(until int) {
		for ; i < until; i, j = i+1, j+1 {
			h.Lines = append(h.Lines, Line{Equal, d.A[i], i + 1, j + 1})
		}
	}
	for _, e := range edits {
		equal(e.AStart)
		for ; i < e.AEnd; i++ {
			h.Lines = append(h.Lines, Line{Op: Delete, Text: d.A[i], A: i + 1})
		}
		for ; j < e.BEnd; j++ {
			h.Lines = append(h.Lines, Line{Op: Insert, Text: d.B[j], B: j + 1})
		}
	}
	equal(last.AEnd + after)
	return h
}

// Pairs returns index pairs of deleted lines in h.Lines and the inserted lines that
// replace them, for Words. Lines are paired in order, by similarity.
func (h Hunk) Pairs() [][2]int {
	var out [][2]int
	for i := 0; i < len(h.Lines); {
		del := i
		for i < len(h.Lines) && h.Lines[i].Op == Delete {
			i++
		}
		ins := i
		for i < len(h.Lines) && h.Lines[i].Op == Insert {
			i++
		}
		if del < ins && ins < i {
			for _, p := range align(h.Lines[del:ins], h.Lines[ins:i]) {
				out = append(out, [2]int{del + p[0], ins + p[1]})
			}
		}
		if i == del {
			i++
		}
	}
	return out
}

// maxAlign is the largest number of combinations of lines that align compares.
const maxAlign = 1 << 12

// align pairs lines of a and b in order, with the greatest sum of similarities. It pairs
// many lines, or equal numbers of them, one by one.
func align(a, b []Line) [][2]int {
	if len(a) == len(b) || len(a)*len(b) > maxAlign {
		out := make([][2]int, min(len(a), len(b)))
		for i := range out {
			out[i] = [2]int{i, i}
		}
		return out
	}
	w := len(b) + 1
	best := make([]float64, (len(a)+1)*w)
	like := make([]float64, len(a)*w)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			like[i*w+j] = likeness(a[i].Text, b[j].Text)
			best[i*w+j] = max(best[(i+1)*w+j], best[i*w+j+1], best[(i+1)*w+j+1]+like[i*w+j])
		}
	}
	var out [][2]int
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case like[i*w+j] > 0 && best[i*w+j] == best[(i+1)*w+j+1]+like[i*w+j]:
			out = append(out, [2]int{i, j})
			i++
			j++
		case best[i*w+j] == best[(i+1)*w+j]:
			i++
		default:
			j++
		}
	}
	return out
}

// likeness returns 1 for equal lines and 0 for lines without a common prefix or suffix.
func likeness(a, b string) float64 {
	n := min(len(a), len(b))
	start := 0
	for start < n && a[start] == b[start] {
		start++
	}
	end := 0
	for end < n-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	return 2 * float64(start+end) / float64(len(a)+len(b))
}
