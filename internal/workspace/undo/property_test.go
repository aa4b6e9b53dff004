package undo_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bb2d0cf4/agent/internal/dev/stress"
	"github.com/bb2d0cf4/agent/internal/workspace"
	"github.com/bb2d0cf4/agent/internal/workspace/undo"
)

// The model of a workspace has no journal and no hashes: it keeps the content of each
// file before and after each change, a list of the changes in effect, and a stack of
// undone ones.

// held is the content of a file; the zero value is no file.
type held struct {
	there bool
	data  string
	mode  fs.FileMode
}

func (h held) alike(o held) bool { return h.there == o.there && h.data == o.data }

// event is one change of a file by anybody.
type event struct {
	file          string
	before, after held
}

// change is an event made by a tool.
type change struct {
	event
	n    int // counts changes
	turn int
}

// undone is the effect of an undo on one file.
type undone struct {
	event
	stood []change // of the file, in effect before the undo
}

// talk is a session of the model.
type talk struct {
	events   []event
	standing []change   // changes that are not undone, oldest first
	redo     [][]undone // the last undo at the end
	turns    []instant  // their beginnings
	calls    map[string]int
}

// instant is the beginning of a turn.
type instant struct {
	mark     int64
	events   int
	standing []change
}

// begin begins a turn.
func (t *talk) begin(mark int64) {
	t.turns = append(t.turns, instant{mark, len(t.events), slices.Clone(t.standing)})
}

func (t *talk) turn() int { return len(t.turns) - 1 }

// stand sets the changes in effect of a file to list.
func (t *talk) stand(file string, list []change) {
	rest := where(t.standing, func(c change) bool { return c.file != file })
	t.standing = slices.SortedFunc(slices.Values(slices.Concat(rest, list)), func(a, b change) int { return a.n - b.n })
}

type world struct {
	*tree
	rng   *rand.Rand
	files map[string]held
	dirs  map[string]bool
	made  map[string]bool // folders ever made for a file
	talks map[string]*talk
	n     int
	done  map[string]int // events by name
	log   []string       // every step, for the report of a failure
}

func (w *world) pick(of []string) string { return of[w.rng.IntN(len(of))] }

var (
	paths    = []string{"f", "g", "d/h", "d/e/i"}
	contents = []string{"", "a\n", "b\n", "a\r\nb\r\n", "\xef\xbb\xbfbom\n", "caf\xe9\n", "\xff\xfea\x00\n\x00", "no end", strings.Repeat("x\n", 300)}
	modes    = []fs.FileMode{0o644, 0o755, 0o600, 0o664}
)

// edit changes a file as a tool does.
func (w *world) edit() {
	name := w.pick(paths)
	id := w.pick([]string{"s", "s", "s", "t"})
	talk := w.talks[id]
	before := w.files[name]
	text := "a\n"
	c, err := w.Propose(name, func(f workspace.File) (string, error) {
		if text = w.pick([]string{"a\n", "b\n", f.Text + "more" + f.Format.EOL}); text == f.Text && f.Exists {
			text += "x"
		}
		return text, nil
	})
	must(w.T, err)
	call := fmt.Sprint(id, talk.turn(), ".", w.n)
	_, err = w.Commit(w.T.Context(), c, workspace.Origin{Session: id, Turn: fmt.Sprint(id, talk.turn()), Call: call, Tool: "edit_file"})
	must(w.T, err)
	after := held{true, w.Content(name), before.mode}
	if !before.there {
		after.mode = 0o644
		w.makeDirs(name)
	}
	w.files[name] = after
	ev := event{name, before, after}
	talk.events = append(talk.events, ev)
	talk.standing = append(talk.standing, change{ev, w.n, talk.turn()})
	talk.calls[call] = talk.turn()
	talk.redo = nil
	w.n++
	w.did("edit %s in %s", name, call)
}

func (w *world) makeDirs(name string) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if !w.dirs[dir] {
			w.dirs[dir], w.made[dir] = true, true
		}
	}
}

// outside changes a file as another program or a command does.
func (w *world) outside() {
	name := w.pick(paths)
	at := w.files[name]
	switch w.rng.IntN(6) {
	case 0:
		must(w.T, os.RemoveAll(w.Path(name)))
		delete(w.files, name)
		w.did("outside: remove %s", name)
	case 1, 2:
		content := w.pick(contents)
		w.Write(name, content)
		if !at.there {
			at.mode = 0o644
		}
		w.files[name] = held{true, content, at.mode}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			w.dirs[dir] = true
		}
		w.did("outside: write %s %q", name, content[:min(len(content), 9)])
	default:
		if at.there {
			at.mode = modes[w.rng.IntN(len(modes))]
			must(w.T, os.Chmod(w.Path(name), at.mode))
			w.files[name] = at
			w.did("outside: chmod %s %o", name, at.mode)
		}
	}
}

func (w *world) did(what string, args ...any) {
	w.log = append(w.log, fmt.Sprintf(what, args...))
	w.done[strings.Fields(what)[0]]++
}

// back undoes events of a session, in the model and in fact. stands gives the changes
// of a file in effect then.
func (w *world) back(name, id string, s undo.Scope, events []event, stands func(file string) []change) {
	talk := w.talks[id]
	s.Session, s.Others = id, w.rng.IntN(4) == 0
	plan, err := undo.Find(w.T.Context(), w.Root, s)
	var good [][]event
	var refused []string
	for _, chain := range chainsOf(events) {
		file := chain[0].file
		stood := where(talk.standing, func(c change) bool { return c.file == file })
		before, after := chain[0].before, chain[len(chain)-1].after
		switch {
		case before.alike(after) && (!after.there || numbers(stood) == numbers(stands(file))):
			continue // it had no effect
		case w.intact(chain) && w.possible(chain):
		case s.Others && w.possible(chain):
			w.done["others"]++
		default:
			refused = append(refused, file)
			continue
		}
		good = append(good, chain)
	}
	w.agree(name, plan, err, fileNames(good), refused)
	if len(good) == 0 {
		return
	}
	w.late(plan)
	must(w.T, plan.Do(w.T.Context()))
	var record []undone
	for _, chain := range good {
		file := chain[0].file
		stood := where(talk.standing, func(c change) bool { return c.file == file })
		record = append(record, undone{event{file, w.files[file], chain[0].before}, stood})
		talk.stand(file, stands(file))
	}
	for _, u := range record {
		w.set(u.file, u.after)
		talk.events = append(talk.events, u.event)
	}
	w.removeDirs(fileNames(good))
	talk.redo = append(talk.redo, record)
	w.did(name+" %s", strings.Join(fileNames(good), " "))
}

// late sometimes changes a file of a plan that was shown, and puts it back. In between the plan
// changes nothing.
func (w *world) late(plan undo.Plan) {
	w.T.Helper()
	name := plan.Changes[w.rng.IntN(len(plan.Changes))].Name
	at := w.files[name]
	if !at.there || w.rng.IntN(3) > 0 {
		return
	}
	if w.rng.IntN(2) == 0 {
		must(w.T, os.Remove(w.Path(name)))
		delete(w.files, name)
	} else {
		w.Write(name, "late\n")
		w.files[name] = held{true, "late\n", at.mode}
	}
	w.did("late: %s", name)
	if err := plan.Do(w.T.Context()); !errors.Is(err, workspace.ErrStale) {
		w.fail("%s changed late: %v", name, err)
	}
	w.check()
	w.Write(name, at.data)
	must(w.T, os.Chmod(w.Path(name), at.mode))
	w.files[name] = at
}

func numbers(changes []change) string {
	var out []int
	for _, c := range changes {
		out = append(out, c.n)
	}
	return fmt.Sprint(out)
}

// undo undoes changes in effect.
func (w *world) undo(name, id string, s undo.Scope, changes []change) {
	var events []event
	for _, c := range changes {
		events = append(events, c.event)
	}
	standing := w.talks[id].standing
	w.back(name, id, s, events, func(file string) []change {
		return where(standing, func(c change) bool {
			return c.file == file && !slices.ContainsFunc(changes, func(o change) bool { return o.n == c.n })
		})
	})
}

// rewind goes back to the beginning of a turn. The turns of some calls are unknown.
func (w *world) rewind(id string) {
	talk := w.talks[id]
	since := w.rng.IntN(len(talk.turns))
	then := talk.turns[since]
	calls := map[string]bool{}
	for _, call := range slices.Sorted(maps.Keys(talk.calls)) {
		if w.rng.IntN(3) > 0 {
			calls[call] = talk.calls[call] >= since
		}
	}
	s := undo.Scope{Range: undo.Rewind, Since: undo.Since{After: known(calls), Mark: then.mark}}
	w.back("rewind", id, s, talk.events[then.events:], func(file string) []change {
		return where(then.standing, func(c change) bool { return c.file == file })
	})
}

// forth undoes the last undo of a session.
func (w *world) forth(id string) {
	talk := w.talks[id]
	plan, err := undo.Find(w.T.Context(), w.Root, undo.Scope{Range: undo.LastUndo, Session: id})
	var good, bad []undone
	var names, refused []string
	if n := len(talk.redo); n > 0 {
		for _, u := range talk.redo[n-1] {
			if w.files[u.file].alike(u.after) {
				good, names = append(good, u), append(names, u.file)
			} else {
				bad, refused = append(bad, u), append(refused, u.file)
			}
		}
	}
	w.agree("redo", plan, err, names, refused)
	if len(good) == 0 {
		return
	}
	w.late(plan)
	must(w.T, plan.Do(w.T.Context()))
	for _, u := range good {
		talk.events = append(talk.events, event{u.file, w.files[u.file], u.before})
		w.set(u.file, u.before)
		talk.stand(u.file, u.stood)
	}
	w.removeDirs(names)
	if talk.redo = talk.redo[:len(talk.redo)-1]; bad != nil {
		talk.redo = append(talk.redo, bad)
	}
	w.did("redo %s", strings.Join(names, " "))
}

// agree compares a plan with the model's.
func (w *world) agree(name string, plan undo.Plan, err error, good, refused []string) {
	w.T.Helper()
	var got []string
	for _, r := range plan.Refused {
		if !errors.Is(r.Err, workspace.ErrStale) && !errors.Is(r.Err, workspace.ErrNotText) {
			w.T.Errorf("%s: %s is refused: %v", name, r.Name, r.Err)
		}
		got = append(got, r.Name)
	}
	if diff := cmp.Diff(refused, got); diff != "" {
		w.fail("%s refuses %s", name, diff)
	}
	if diff := cmp.Diff(good, names(plan)); diff != "" {
		w.fail("%s plans %s", name, diff)
	}
	if nothing := len(good)+len(refused) == 0; errors.Is(err, undo.ErrNothing) != nothing || (err == nil) != (len(good) > 0) {
		w.fail("%s: %v", name, err)
	}
	w.done["refused"] += len(refused)
}

func (w *world) fail(format string, args ...any) {
	w.T.Helper()
	w.T.Fatalf("%s\nafter:\n  %s", fmt.Sprintf(format, args...), strings.Join(w.log, "\n  "))
}

func (w *world) set(file string, to held) {
	if to.there {
		w.files[file] = to
		w.makeDirs(file)
	} else {
		delete(w.files, file)
	}
}

// removeDirs removes folders that were made for files which are gone.
func (w *world) removeDirs(files []string) {
	for _, file := range files {
		if w.files[file].there {
			continue
		}
		for dir := path.Dir(file); dir != "." && w.made[dir] && w.empty(dir); dir = path.Dir(dir) {
			delete(w.dirs, dir)
		}
	}
}

func (w *world) empty(dir string) bool {
	for name := range w.files {
		if strings.HasPrefix(name, dir+"/") {
			return false
		}
	}
	for d := range w.dirs {
		if strings.HasPrefix(d, dir+"/") {
			return false
		}
	}
	return true
}

// possible reports whether an undo can be made: there is something to do, and both
// contents can be shown side by side as text in one encoding. Only a file that others
// wrote, and an undo restored, has another encoding.
func (w *world) possible(chain []event) bool {
	now, then := w.files[chain[0].file], chain[0].before
	if !now.there || !then.there {
		return now.there || then.there
	}
	return strings.Contains(now.data, "\x00") == strings.Contains(then.data, "\x00")
}

// intact reports whether nobody else has changed the file since or between.
func (w *world) intact(chain []event) bool {
	for i := 1; i < len(chain); i++ {
		if !chain[i-1].after.alike(chain[i].before) {
			return false
		}
	}
	return w.files[chain[0].file].alike(chain[len(chain)-1].after)
}

func chainsOf(events []event) [][]event {
	var out [][]event
	for _, c := range events {
		i := slices.IndexFunc(out, func(o []event) bool { return o[0].file == c.file })
		if i < 0 {
			out = append(out, nil)
			i = len(out) - 1
		}
		out[i] = append(out[i], c)
	}
	return out
}

func fileNames(chains [][]event) []string {
	var out []string
	for _, c := range chains {
		out = append(out, c[0].file)
	}
	return out
}

// step does something at random.
func (w *world) step() {
	id := w.pick([]string{"s", "s", "s", "t"})
	talk := w.talks[id]
	last := talk.standing[max(0, len(talk.standing)-1):]
	switch n := w.rng.IntN(20); {
	case n < 8:
		w.edit()
	case n < 11:
		w.outside()
	case n < 12:
		talk.begin(w.Mark())
	case n < 13:
		w.undo("undo", id, undo.Scope{Range: undo.LastChange}, last)
	case n < 15:
		w.undo("turn", id, undo.Scope{Range: undo.LastTurn}, where(talk.standing, func(c change) bool { return c.turn == last[0].turn }))
	case n < 17:
		w.forth(id)
	case n < 19:
		w.rewind(id)
	default:
		must(w.T, w.Close())
		w.tree = reopen(w.T, w.Dir(), w.Home)
		w.did("restart")
	}
}

func where(changes []change, wanted func(change) bool) []change {
	var out []change
	for _, c := range changes {
		if wanted(c) {
			out = append(out, c)
		}
	}
	return out
}

// onDisk returns a mode with which the owner may write as the disk keeps it: Windows knows one such for
// files, and one for folders.
func onDisk(mode fs.FileMode) fs.FileMode {
	switch {
	case runtime.GOOS != "windows":
		return mode
	case mode.IsDir():
		return fs.ModeDir | 0o777
	}
	return 0o666
}

// check compares the disk with the model.
func (w *world) check() {
	w.T.Helper()
	want := map[string]string{}
	for name, h := range w.files {
		want[name] = fmt.Sprint(onDisk(h.mode), " ", h.data)
	}
	for dir := range w.dirs {
		want[dir+"/"] = onDisk(fs.ModeDir | 0o755).String()
	}
	got := w.State()
	if diff := cmp.Diff(want, got); diff != "" {
		w.fail("on the disk %s", diff)
	}
}

// TestRandomEditsUndosAndRewinds makes random sequences of edits, foreign changes, undos,
// redos, rewinds and restarts in two sessions over real files. After each step every file
// has the bytes and the mode of the model, and there are the folders of the model.
func TestRandomEditsUndosAndRewinds(t *testing.T) {
	sequences := stress.Size(250, 1000)
	start := stress.Seed(t)
	total := map[string]int{}
	for i := range sequences {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			w := &world{
				tree: open(t), rng: rand.New(rand.NewPCG(start, uint64(i))), files: map[string]held{}, dirs: map[string]bool{}, made: map[string]bool{},
				talks: map[string]*talk{"s": {calls: map[string]int{}}, "t": {calls: map[string]int{}}}, done: total, log: []string{fmt.Sprintf("sequence %d of seed %d", i, start)},
			}
			for _, talk := range w.talks {
				talk.begin(w.Mark())
			}
			for range 10 + w.rng.IntN(30) {
				w.step()
				w.check()
			}
		})
	}
	t.Logf("load: %d sequences, seed %d, steps: %v", sequences, start, total)
	for _, what := range []string{"edit", "outside:", "undo", "turn", "redo", "rewind", "restart", "refused", "others", "late:"} {
		if total[what] < sequences/8 {
			t.Errorf("%d times %s in %d sequences", total[what], what, sequences)
		}
	}
}
