package tools

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/programs"
	"github.com/bb2d0cf4/agent/internal/tools/shell/safecmd"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
	"github.com/bb2d0cf4/agent/internal/trial"
)

// held is a command line that ran well in a copy of the folder, where it only added files to the index of
// the repository. That matters to later commands alone, so it waits to be asked about together with the next one, or
// before anything else changes these files.
type held struct {
	execution
	staged string // see trial.Outcome; "" if nothing waits
}

// name returns the line for people; "" if nothing waits.
func (h *held) name() string {
	if h.staged == "" {
		return ""
	}
	return "`" + toolcall.OneLine(h.Command, toolcall.MaxTitle) + "`"
}

// concerns reports whether a command could notice that the line has not run yet.
func (h *held) concerns(j safecmd.Judgement) bool {
	return h.staged != "" && (j.Class != safecmd.Safe || j.Names(programs.Versions))
}

// join returns the line that waits and the line of x as one; ok is false if they cannot be.
func (c commander) join(x execution) (_ execution, ok bool) {
	if x.Background || x.opts.Dir != c.held.opts.Dir {
		return x, false
	}
	x.Command = c.held.Command + " && " + x.Command
	x.opts.Line, x.judged = x.Command, c.place(x.opts.Dir).Judge(x.Command)
	return x, true
}

// keep has x wait if all that it did in a copy is to add to the index. ok is false if it cannot wait: then
// its run says nothing.
func (c commander) keep(x execution, out *trial.Outcome) (note string, ok bool) {
	switch {
	case out.Withheld != "" || out.Staged == c.held.staged && (out.Staged == "" || len(out.Changes) == 0): // with what waits, if anything
		return "", out.Withheld == ""
	case c.Planning != nil && c.Planning():
		return "changes nothing in plan mode", true
	case !c.Holds || out.Staged == "" || len(out.Changes) > 0 || out.ExitCode != 0 || !x.joinable():
		return "", false
	}
	*c.held = held{x, out.Staged}
	return "waits to run in the folder with the next command that asks", true
}

// joinable reports whether a line does no more than add to the index, and another line can follow it.
func (x execution) joinable() bool {
	return x.judged.Stages() && !strings.ContainsAny(x.Command, "\n#\\") && !strings.ContainsAny(x.Command[len(x.Command)-1:], ";&|")
}

// release asks about the line that waits, and runs it.
func (c commander) release(ctx context.Context, call Call) (Result, error) {
	x, name := c.held.execution, c.held.name()
	x.Call, x.opts.Output = call, call.Progress
	x.judged = c.place(x.opts.Dir).Judge(x.Command) // the files may be others now
	res, err := c.decide(ctx, x, "")
	if err == nil {
		*c.held = held{}
		res.ForModel = name + ", which waited: " + res.ForModel
	}
	return res, err
}

// releaseFirst makes a call after the line that waits, unless the answer about that forbids it.
func (c commander) releaseFirst(ctx context.Context, call Call, do func() (Result, error)) (Result, error) {
	before, err := c.release(ctx, call)
	if err != nil || before.Forbids() {
		before.ForModel += "\nSo this call was not carried out."
		return before, err
	}
	res, err := do()
	res.ForModel = before.ForModel + "\n\n" + res.ForModel
	res.Changes = append(before.Changes, res.Changes...)
	res.Record.Words = strings.TrimPrefix(before.Record.Words+"\n"+res.Record.Words, "\n")
	return res, err
}

// apart reports whether a command sees nothing of the pending changes: it works with another machine or with the
// system, and names no file of the folder.
func (c commander) apart(x execution) bool {
	return !slices.ContainsFunc(x.judged.Parts, func(p safecmd.Part) bool {
		return len(p.Words) == 0 || !programs.Find(p.Words[0]).Is.Has(programs.Apart) || slices.ContainsFunc(p.Words[1:], func(word string) bool {
			_, at, _ := strings.Cut(word, "@")
			_, value, _ := strings.Cut(word, "=")
			return slices.ContainsFunc([]string{word, at, value, word[min(len(word), 2):]}, func(name string) bool {
				path := filepath.Join(x.opts.Dir, name)
				_, err := os.Lstat(path)
				return name != "" && (err == nil || c.Pending.Has(path))
			})
		})
	})
}
