package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/app/hooks"
	"github.com/bb2d0cf4/agent/internal/caution"
	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/tools"
	"github.com/bb2d0cf4/agent/internal/tools/toolcall"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// hookedCall is a call of a tool with hooks before or after it.
type hookedCall struct {
	*hooked
	asks tools.Asker
	set  *tools.Set
	name string
	call tools.Call
	args json.RawMessage // as the tool reads them

	early *hooks.Event // the event before the call, if its hooks wait for the questions; else nil
	met   []string     // the absolute paths of the files for which they have run

	changed bool           // by a hook
	notes   []caution.Note // for the questions of the tool
	ask     bool           // a hook wants a person to look
	context []string       // for the model
	stop    string
}

// hookedSet is the tools of a sub-agent, with the hooks.
type hookedSet struct {
	*tools.Set
	hooked *hooked
	asks   tools.Asker
}

// Call runs a tool between its hooks.
func (s hookedSet) Call(ctx context.Context, name string, call tools.Call) (tools.Result, error) {
	return s.hooked.call(ctx, s.asks, s.Set, name, call)
}

// call runs a tool between its hooks, whose questions asks gets.
func (h *hooked) call(ctx context.Context, asks tools.Asker, set *tools.Set, name string, call tools.Call) (tools.Result, error) {
	ctx = context.WithValue(ctx, hookedKey{}, (*hookedCall)(nil)) // a task's hooks are not those of its sub-agent's calls
	before, after := hooks.OfTool(hooks.PreToolUse, name, call.ID), hooks.OfTool(hooks.PostToolUse, name, call.ID)
	if !h.run.Has(before) && !h.follow(after) {
		return set.Call(ctx, name, call)
	}
	args, err := set.Arguments(name, call.Args)
	if err != nil {
		return set.Call(ctx, name, call) // which explains the mistake, and does nothing
	}
	if call.Await != nil {
		if err := call.Await(ctx); err != nil {
			return tools.Result{}, err
		}
	}
	c := &hookedCall{hooked: h, asks: asks, set: set, name: name, call: call, args: args}
	return c.make(ctx, before, after)
}

// make runs the hooks before the call, makes it, and runs those after it.
func (c *hookedCall) make(ctx context.Context, before, after hooks.Event) (tools.Result, error) {
	if tools.ChangesFiles(c.name) && c.follow(after) {
		c.app.effects.Warm(ctx)
	}
	refused, err := c.before(ctx, before)
	if refused == nil && err == nil {
		refused, err = c.look(ctx)
	}
	if refused != nil || err != nil {
		return c.finish(refused), err
	}
	res, err := c.set.Call(context.WithValue(ctx, hookedKey{}, c), c.name, c.call)
	if err != nil {
		return res, err
	}
	if c.follow(after) && !res.Failed && res.Denied == nil {
		c.after(ctx, after, &res)
	}
	return c.finish(&res), nil
}

// follow reports whether a call has hooks after it, of the event or of a removal by it.
func (h *hooked) follow(after hooks.Event) bool {
	return h.run.Has(after) || tools.ChangesFiles(after.Ours) && h.run.Has(removal(after))
}

// removal returns the event after a call for a file that it removed: that of delete_file, as
// the hooks of edits, such as a formatter, would find no file.
func removal(after hooks.Event) hooks.Event {
	e := hooks.OfTool(after.Name, "delete_file", after.CallID)
	e.Response = after.Response
	return e
}

// reviewed runs the hooks after an edit for each file that the review of several wrote.
func (h *hooked) reviewed(ctx context.Context, call tools.Call, res *tools.Result) {
	const name = "edit_file"
	after := hooks.OfTool(hooks.PostToolUse, name, call.ID)
	if !h.follow(after) {
		return
	}
	c := &hookedCall{hooked: h, name: name, call: call, args: json.RawMessage("{}")}
	c.after(ctx, after, res)
	*res = c.finish(res)
}

// files returns the absolute paths of the files that the call is about; "" for none.
func (c *hookedCall) files() (list []string) {
	for _, f := range c.set.Foresee(c.name, c.args) {
		if c := f.Request.File(); c != nil {
			list = append(list, c.Paths()...)
		}
	}
	if len(list) > 0 {
		return list
	}
	var a struct {
		Path string `json:"path"`
	}
	if json.Unmarshal(c.args, &a) == nil && a.Path != "" {
		if abs, _, _ := c.app.Root.Resolve(a.Path); abs != "" {
			return []string{abs}
		}
	}
	return []string{""}
}

// before runs the hooks before the call, which they may refuse or change. Those of a call that changes files
// which only its questions name, as a rename does, wait for these.
func (c *hookedCall) before(ctx context.Context, e hooks.Event) (*tools.Result, error) {
	if !c.run.Has(e) {
		return nil, nil
	}
	files := c.files()
	if files[0] == "" && tools.ChangesFiles(c.name) {
		c.early = &e
		return nil, nil
	}
	why, err := c.permit(ctx, e, len(files) == 1, files...)
	if why != "" {
		return c.refuse(why), nil
	}
	return nil, err
}

// permit runs the hooks before the call for files, and returns why they refuse it; "" if they do not. alone means
// that the call is about one file.
func (c *hookedCall) permit(ctx context.Context, e hooks.Event, alone bool, files ...string) (why string, err error) {
	for _, file := range files {
		if err := e.SetInput(c.args, file); err != nil {
			return err.Error(), nil //nolint:nilerr // the call is refused
		}
		o, err := c.fire(ctx, e)
		if err != nil {
			return "", err
		}
		if err := c.answered(e, o, alone); err != nil {
			return err.Error(), nil //nolint:nilerr // likewise
		}
	}
	return "", nil
}

// answered takes the answer of the hooks before the call, which is about one file or one
// of several. An error refuses the call.
func (c *hookedCall) answered(e hooks.Event, o hooks.Outcome, alone bool) error {
	c.context = append(c.context, o.Context...)
	if o.Ask != "" {
		c.ask = true
		c.notes = append(c.notes, caution.Notes(o.Ask)...)
	}
	switch {
	case o.Stop != "":
		c.stop = o.Stop
		return errors.New(o.Stop)
	case o.Blocked != "":
		return errors.New(o.Blocked)
	case o.Input == nil:
		return nil
	case !alone && c.name == "move_file":
		return errors.New("the hook " + strings.Join(o.Changed, ", ") + " changed a move, which is not supported")
	case !alone:
		return errors.New("the hook " + strings.Join(o.Changed, ", ") + " changed a call about several files, which is not supported; send a patch for each file")
	}
	if err := c.change(e, o); err != nil {
		return fmt.Errorf("the hook %s: %w", strings.Join(o.Changed, ", "), err)
	}
	return nil
}

// change takes the arguments of a hook.
func (c *hookedCall) change(e hooks.Event, o hooks.Outcome) error {
	args, err := e.Args(c.args, o.Input)
	if err != nil {
		return err
	}
	wanted := c.title()
	read, err := c.set.Arguments(c.name, args)
	if err != nil {
		return err
	}
	c.args, c.call.Args, c.changed = read, args, true
	c.notes = append(c.notes, caution.Notes("The hook "+strings.Join(o.Changed, ", ")+" changed this call. The model asked for: "+wanted)...)
	return nil
}

// title describes the call in one line.
func (c *hookedCall) title() string {
	line, _ := c.set.Title(c.name, c.args)
	return line
}

func (c *hookedCall) refuse(why string) *tools.Result {
	return &tools.Result{
		ForModel: "Not done: " + why + ". It belongs to the user: do not try to get around it.", ForUser: why, Failed: true,
		Denied: &tools.Denied{Tool: c.name, Reason: why}, Record: tools.Record{What: c.title(), Result: "not done: " + why},
	}
}

// look asks about a call of a tool that asks nothing by itself, if a hook wants that.
func (c *hookedCall) look(ctx context.Context) (*tools.Result, error) {
	if !c.ask {
		return nil, nil
	}
	reads := slices.ContainsFunc(c.set.Specs(), func(s llm.ToolSpec) bool { return s.Name == c.name && s.Reads })
	if !reads && !slices.Contains(silent, c.name) {
		return nil, nil
	}
	req, kind := c.lookAt(), "read"
	if !reads {
		kind = "call"
		req.Subject = &confirm.Choice{From: "A hook", Text: c.question(), Options: []string{yes}}
	}
	v, err := c.asks.Ask(ctx, req)
	if err != nil {
		return nil, tools.UnansweredError{Err: err}
	}
	if v.Decision == confirm.Approve && (reads || v.Answer == yes) {
		return nil, nil
	}
	said := cmp.Or(v.Feedback, v.Answer)
	res := c.refuse(strings.TrimSuffix("the user declined this "+kind+": "+said, ": "))
	res.Stop = !v.Unasked && !v.Rule && said == ""
	return res, nil
}

// silent are the tools that ask nothing by themselves, besides those that read.
var silent = []string{"task", "todo", "get_diagnostics", "tool_search"}

// yes is the answer that permits a call about which a hook asks.
const yes = "Yes"

// lookAt returns the question about a read.
func (c *hookedCall) lookAt() confirm.Request {
	read := &confirm.Read{Path: c.app.Root.Dir(), Name: ".", Inside: true}
	if file := c.files()[0]; file != "" {
		read.Path = file
		_, read.Name, _ = c.app.Root.Resolve(file)
	}
	return confirm.Request{
		Tool: c.name, Description: c.call.Description, Batch: c.call.Batch, Force: true, Person: true, Notes: c.notes, Subject: read,
	}
}

// question asks about a call that is neither a read nor asked about by its tool.
func (c *hookedCall) question() string {
	text := "May the model make this call? " + c.title() + "\n"
	for _, n := range c.notes {
		text += "\n" + n.Text
	}
	return text + "\n\n" + c.name + " " + clip.Bytes(string(c.args), maxHookDiff, "\n[cut here]")
}

// hookedKey is the key of the hookedCall in the context of a tool.
type hookedKey struct{}

// guard adds the notes of a call's hooks to its question, after those that waited for it have run. It returns the
// answer if one of them refuses.
func guard(ctx context.Context, req *confirm.Request) (*confirm.Verdict, error) {
	if req.Tool == tools.Review {
		return nil, nil // of earlier edits
	}
	c, ok := ctx.Value(hookedKey{}).(*hookedCall)
	if !ok || c == nil {
		return nil, nil
	}
	if change := req.File(); change != nil && c.early != nil {
		if refused, err := c.meet(ctx, *change); refused != nil || err != nil {
			return refused, err
		}
	}
	req.Notes = append(req.Notes, c.notes...)
	req.Force, req.Person = req.Force || c.ask, req.Person || c.ask
	return nil, nil
}

// meet runs the hooks that waited for the files of a question.
func (c *hookedCall) meet(ctx context.Context, change workspace.Change) (refused *confirm.Verdict, err error) {
	files := slices.DeleteFunc(change.Paths(), func(file string) bool { return slices.Contains(c.met, file) })
	c.met = append(c.met, files...)
	why, err := c.permit(ctx, *c.early, false, files...)
	if why == "" || err != nil {
		return nil, err
	}
	return &confirm.Verdict{Rule: true, By: "hook", Feedback: why}, nil
}

// after runs the hooks after the call, and adds their changes and words to its result.
func (c *hookedCall) after(ctx context.Context, e hooks.Event, res *tools.Result) {
	e.Response = map[string]any{"success": true, "output": res.ForModel}
	var files, removed []string
	var texts map[string]string
	if tools.ChangesFiles(c.name) {
		files, removed, texts = c.wrote(*res)
	} else {
		files = c.files()
	}
	run := func() {
		for i, file := range slices.Concat(files, removed) {
			if i == len(files) {
				e = removal(e)
			}
			if !c.said(ctx, e, file) {
				return
			}
		}
	}
	if !tools.ChangesFiles(c.name) && c.name != "execute_command" {
		run()
		return
	}
	report := c.recorded(ctx, e, workspace.Origin{Turn: c.call.Turn, Call: c.call.ID}, run)
	if len(report.Files) == 0 {
		return
	}
	res.ForUser += fmt.Sprintf(" · changed by a hook: %s", report.Files[0].Name)
	if more := len(report.Files) - 1; more > 0 {
		res.ForUser += fmt.Sprintf(" and %d more", more)
	}
	text := "After this, " + c.hooked.changed(e, report)
	for _, f := range report.Files {
		change := toolcall.By(f)
		if before, known := texts[f.Name]; known {
			if now, err := c.app.Root.Read(f.Name); err == nil {
				change.Diff = diff.Unified(f.Name, f.Name, before, now.Text)
				text += "\n" + clip.Bytes(change.Diff, maxHookDiff, "\n[cut here]")
			}
		}
		res.Changes = append(res.Changes, change)
	}
	c.context = append(c.context, text)
}

// wrote returns the absolute paths of the files that a call changed and of those that it
// removed, and the texts of the former by name.
func (c *hookedCall) wrote(res tools.Result) (files, removed []string, texts map[string]string) {
	texts = map[string]string{}
	for _, f := range res.Changes {
		abs, _, err := c.app.Root.Resolve(f.Path)
		switch {
		case err != nil:
		case f.Deleted:
			removed = append(removed, abs)
		default:
			files = append(files, abs)
			now, _ := c.app.Root.Read(abs) // without it, the model gets no diff
			texts[f.Path] = now.Text
		}
	}
	return files, removed, texts
}

// maxHookDiff is the number of bytes of a hook's change that the model gets.
const maxHookDiff = 4 << 10

// said runs the hooks after the call for one of its files, and reports whether to go on.
func (c *hookedCall) said(ctx context.Context, e hooks.Event, file string) bool {
	if err := e.SetInput(c.args, file); err != nil {
		c.context = append(c.context, "The hooks after it did not run: "+err.Error())
		return false
	}
	o, err := c.fire(ctx, e)
	if err != nil {
		c.context = append(c.context, "The user cancelled the hooks after it.")
		return false
	}
	c.context = append(c.context, o.Context...)
	if o.Blocked != "" {
		c.context = append(c.context, "Done, but note: "+o.Blocked)
	}
	if o.Stop != "" {
		c.stop = o.Stop
	}
	return o.Stop == ""
}

// finish adds the words of the hooks to a result.
func (c *hookedCall) finish(res *tools.Result) tools.Result {
	if res == nil {
		return tools.Result{}
	}
	if c.changed {
		res.ForModel += "\n[A hook of the user changed the call. It was made with " + clip.Bytes(string(c.args), maxHookDiff, "\n[cut here]") + "]"
	}
	for _, text := range c.context {
		res.ForModel += "\n[" + text + "]"
	}
	res.Stop = res.Stop || c.stop != ""
	if c.stop != "" && !res.Failed {
		res.ForModel += "\n[" + c.stop + "]"
		res.ForUser += " · " + c.stop
	}
	return *res
}
