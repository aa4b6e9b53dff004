package shell

import (
	"maps"
	"os"
	"slices"
)

// left returns the processes of the commands, wherever they moved: those in a shell's
// session, with our mark, or with a command's output open, and all their descendants.
func (w *watched) left() []process {
	all := snapshot()
	began := map[int]uint64{}
	for _, e := range all {
		began[e.pid] = e.start
	}
	pipes := slices.Collect(maps.Values(w.pipes))
	mine := map[int]bool{}
	for _, e := range all {
		mine[e.pid] = e.pid != os.Getpid() && !e.zombie &&
			(w.leads(e, began) || hasMark(e.pid, w.mark) || holds(e.pid, pipes...))
	}
	addDescendants(all, mine)
	var ps []process
	for _, e := range all {
		if mine[e.pid] && !e.zombie {
			ps = append(ps, e.process)
		}
	}
	return ps
}

// leads reports whether e is a shell or in the session of one. A pid that another process
// has by now is not a shell's; the number of a session is not reused while it has
// processes.
func (w *watched) leads(e entry, began map[int]uint64) bool {
	start, known := w.shells[e.session]
	now, there := began[e.session]
	return known && (!there || now == start)
}
