// Package check tries proposed changes before a person answers, by a command such as
// go vet, on the changed text. It guarantees that the command sees the changes without
// a file being written, that one command runs at a time, with all its processes, only
// until the question is answered, and that only problems that the unchanged files do not
// have count as the proposal's. Files that no command tries go to a language server that runs anyway.
//
// For Go the command gets an overlay; any other command runs in a copy of the files that
// git does not ignore. If the system has a sandbox, the command writes only in its own
// temporary folder and the caches, and has no network.
package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/editor"
	"github.com/bb2d0cf4/agent/internal/langserver"
	"github.com/bb2d0cf4/agent/internal/sandbox"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Values of Options.Command with a meaning of their own.
const (
	Off  = "off"
	Auto = "auto" // go vet, tsc or cargo check, by the changed file
)

const (
	timeLimit = 2 * time.Minute
	// maxBack is how often in a row a proposal for a file goes back without a question.
	maxBack = 2
)

// Jobs runs command lines. shell.Jobs implements it.
type Jobs interface {
	Run(ctx context.Context, opts shell.Options) (shell.Result, error)
}

// Options configures a Runner.
type Options struct {
	Command string // a command line, Auto or Off
	First   bool   // see confirm.Check.First
	Roots   []string
	Env     []string // the environment of commands
	Jobs    Jobs
	// Servers are the language servers that run; nil for none. They try files that no command tries.
	Servers Servers
	// Sandbox returns how commands are confined, nil for not at all, or the reason why none
	// may run.
	Sandbox func(ctx context.Context) (p *sandbox.Policy, missing string)
}

// Servers try changes. langserver.Servers implements it.
type Servers interface {
	// Tries returns the name of the running server that can try a change of the file at path; "" for none.
	Tries(path string) string
	// Try returns the problems of texts before and after the changes.
	Try(ctx context.Context, name string, all []langserver.Proposal) (before, after []editor.Diagnostic, err error)
}

// Runner tries proposals, one at a time. It is safe for concurrent use.
type Runner struct {
	opt  Options
	busy chan struct{} // holds one token while a check runs, which owns the fields below
	dir  string        // temporary; "" before the first check
	root *os.Root      // dir
	tree *tree         // nil before the first copy

	mu   sync.Mutex
	back map[string]int // how often a proposal went back since the last question, by subject
}

// New returns a Runner. Close it.
func New(opt Options) *Runner {
	return &Runner{opt: opt, busy: make(chan struct{}, 1), back: map[string]int{}}
}

// For returns the check of changes that are asked about together; nil if no command suits
// any.
func (r *Runner) For(changes ...workspace.Change) *confirm.Check {
	all := parts(changes)
	plans := r.plans(all)
	if len(plans) == 0 {
		return nil
	}
	of := subject(all)
	first := r.opt.First && r.sentBack(of) < maxBack
	return confirm.NewCheck(title(plans), first, func(ctx context.Context) confirm.CheckResult {
		res := r.run(ctx, plans, all)
		r.count(of, first && res.Red())
		return res
	})
}

// parts returns the changes with each move as a removal and a new file.
func parts(changes []workspace.Change) []workspace.Change {
	var all []workspace.Change
	for _, c := range changes {
		if !c.Moves() {
			all = append(all, c)
			continue
		}
		made, gone := c.Halves()
		all = append(all, gone, made)
	}
	return all
}

// subject returns the file of a single change; "" for several.
func subject(all []workspace.Change) string {
	if len(all) == 1 {
		return all[0].Path
	}
	return ""
}

func (r *Runner) sentBack(subject string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.back[subject]
}

// count counts a proposal that goes back; any other ends the row.
func (r *Runner) count(subject string, back bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if back {
		r.back[subject]++
	} else {
		delete(r.back, subject)
	}
}

// Close waits for the running check, which the end of its question has stopped, and
// removes the temporary files.
func (r *Runner) Close() error {
	r.busy <- struct{}{}
	if r.dir == "" {
		return nil
	}
	return errors.Join(r.tree.close(), r.root.Close(), os.RemoveAll(r.dir))
}

// run tries changes by all plans.
func (r *Runner) run(ctx context.Context, plans []plan, all []workspace.Change) confirm.CheckResult {
	started := time.Now()
	var res confirm.CheckResult
	for i, p := range plans {
		one, err := r.try(ctx, p, all)
		switch {
		case ctx.Err() != nil:
			return confirm.CheckResult{Title: title(plans), Took: time.Since(started), Missing: "stopped"}
		case err != nil:
			one = confirm.CheckResult{Missing: err.Error()}
		}
		if one.Missing != "" && len(plans) > 1 {
			one.Missing = p.name() + ": " + one.Missing
		}
		if i > 0 {
			one = res.With(one)
		}
		res = one
	}
	res.Title, res.Took = title(plans), time.Since(started)
	return res
}

// try runs the command of p with the changes and, if it fails, without.
func (r *Runner) try(ctx context.Context, p plan, all []workspace.Change) (res confirm.CheckResult, err error) {
	select {
	case r.busy <- struct{}{}:
		defer func() { <-r.busy }()
	case <-ctx.Done():
		return res, ctx.Err()
	}
	if p.server {
		return r.served(ctx, p.title, all)
	}
	if err := r.makeDir(); err != nil {
		return res, err
	}
	try := r.overlaid
	if !p.overlay {
		try = r.copied
	}
	after, before, err := try(ctx, p, all)
	if err != nil {
		return res, err
	}
	return compare(after, before), nil
}

// makeDir makes the temporary folder.
func (r *Runner) makeDir() error {
	if r.dir != "" {
		return nil
	}
	dir, err := os.MkdirTemp("", "agent-check-")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, "tmp"), 0o700)
	}
	if err == nil {
		r.root, err = os.OpenRoot(dir)
	}
	if err != nil {
		return fmt.Errorf("no temporary folder: %w", err)
	}
	r.dir = dir
	return nil
}

// overlaid runs the command of p with an overlay that holds the changes.
func (r *Runner) overlaid(ctx context.Context, p plan, all []workspace.Change) (after, before outcome, err error) {
	replace := map[string]string{}
	for i, c := range all {
		if replace[c.Path] = ""; c.Delete {
			continue
		}
		name := fmt.Sprintf("proposal%06d%s", i, filepath.Ext(c.Path)) // no name begins another
		if err := write(r.root, name, c, 0o600); err != nil {
			return after, before, fmt.Errorf("write the proposal: %w", err)
		}
		replace[c.Path] = filepath.Join(r.dir, name)
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return after, before, fmt.Errorf("write the overlay: %w", err)
	}
	const list = "overlay.json"
	if err := put(r.root, list, bytes.NewReader(data), 0o600); err != nil {
		return after, before, fmt.Errorf("write the overlay: %w", err)
	}
	overlay := "-overlay=" + filepath.Join(r.dir, list)
	if after, err = r.commands(ctx, p, p.dir, overlay); err == nil && !after.failed {
		p, after, err = r.importing(ctx, p, overlay, after)
	}
	for path, to := range replace {
		after.replace(to, path)
		if short, relErr := filepath.Rel(p.dir, to); relErr == nil && to != "" {
			if name, relErr := filepath.Rel(p.dir, path); relErr == nil {
				after.replace(short, name) // the go command shortens paths
			}
		}
	}
	if err != nil || !after.failed {
		return after, before, err
	}
	before, err = r.commands(ctx, p, p.dir, "")
	return after, before, err
}

// copied runs the command of p in a copy that holds the changes.
func (r *Runner) copied(ctx context.Context, p plan, all []workspace.Change) (after, before outcome, err error) {
	if err := r.fill(p.root); err != nil {
		return after, before, err
	}
	if err := r.tree.sync(ctx); err != nil {
		return after, before, err
	}
	restore, err := r.tree.change(all)
	if err != nil {
		return after, before, errors.Join(err, restore())
	}
	dir := r.tree.at(p.dir)
	after, err = r.commands(ctx, p, dir, "")
	if err := errors.Join(err, restore()); err != nil {
		return after, before, err
	}
	after.replace(r.tree.to, r.tree.from)
	if !after.failed {
		return after, before, nil
	}
	before, err = r.commands(ctx, p, dir, "")
	before.replace(r.tree.to, r.tree.from)
	return after, before, err
}

// fill makes r.tree a copy of a folder, which sync fills.
func (r *Runner) fill(from string) error {
	if r.tree != nil && r.tree.from == from {
		return nil
	}
	err := errors.Join(r.tree.close(), os.RemoveAll(filepath.Join(r.dir, "copy")))
	r.tree = nil
	if err != nil {
		return fmt.Errorf("remove the copy: %w", err)
	}
	r.tree, err = newTree(from, filepath.Join(r.dir, "copy", filepath.Base(from)))
	return err
}

// outcome is the result of a command.
type outcome struct {
	failed   bool
	output   string
	problems []confirm.Problem
}

// add adds the output of another command in dir: all of the first, and the lines of others
// that name other problems.
func (o *outcome) add(more outcome, dir string) {
	if o.output == "" {
		o.output, o.problems = more.output, more.problems
		return
	}
	for line := range strings.Lines(more.output) {
		for _, problem := range problems(line, dir) {
			if !slices.Contains(o.problems, problem) {
				o.output += line
				o.problems = append(o.problems, problem)
			}
		}
	}
}

// replace puts the real path in place of a temporary one.
func (o *outcome) replace(temporary, name string) {
	if temporary == "" {
		return
	}
	o.output = strings.ReplaceAll(o.output, temporary, name)
	for i, p := range o.problems {
		if rest, ok := strings.CutPrefix(p.Path, temporary); ok {
			o.problems[i].Path = name + rest
		}
	}
}

// commands runs the first command of p and, if that fails, the others for their details.
func (r *Runner) commands(ctx context.Context, p plan, dir, overlay string) (out outcome, err error) {
	for i, line := range p.lines(overlay, p.pkgs) {
		o, err := r.command(ctx, p, dir, line)
		if err != nil {
			return out, err
		}
		if i == 0 {
			out.failed = o.failed
		}
		out.add(o, dir)
		if !out.failed {
			break
		}
	}
	return out, nil
}

// command runs one command line.
func (r *Runner) command(ctx context.Context, p plan, dir, line string) (outcome, error) {
	policy, missing := r.opt.Sandbox(ctx)
	if missing != "" {
		return outcome{}, errors.New(missing)
	}
	if policy != nil {
		policy.Write, policy.Network = append(slices.Clip(policy.Write), filepath.Join(r.dir, "tmp"), filepath.Join(r.dir, "copy")), false
	}
	env := append(slices.Clip(r.opt.Env), p.env...)
	env = append(env, "TMPDIR="+filepath.Join(r.dir, "tmp"))
	got, err := r.opt.Jobs.Run(ctx, shell.Options{Line: line, Dir: dir, Env: env, Here: true, Timeout: timeLimit, Sandbox: policy.Confiner()})
	switch {
	case err != nil:
		return outcome{}, fmt.Errorf("could not be started: %w", err)
	case got.Cancelled:
		return outcome{}, ctx.Err()
	case got.TimedOut:
		return outcome{}, fmt.Errorf("not done after %s", timeLimit)
	}
	output := sanitize.Plain(got.Output)
	return outcome{failed: got.ExitCode != 0, output: output, problems: problems(output, dir)}, nil
}
