// Package hooks runs the commands that people have set up for the events of a session, in
// the format of Claude Code. It guarantees that a project's hooks run only as they were
// approved, with the scripts that they name, that a hook gets no more environment than a
// command of the model, and that its answer can only forbid, ask, change or add: nothing
// in it allows anything.
package hooks

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bb2d0cf4/agent/internal/clip"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/footprint"
	"github.com/bb2d0cf4/agent/internal/permission"
	"github.com/bb2d0cf4/agent/internal/tools/shell"
)

// The events.
const (
	SessionStart     = "SessionStart"
	UserPromptSubmit = "UserPromptSubmit"
	PreToolUse       = "PreToolUse"
	PostToolUse      = "PostToolUse"
	Stop             = "Stop"
	SessionEnd       = "SessionEnd"
)

// Options configures a Runner.
type Options struct {
	User    []config.Hook
	Project Project
	Run     func(ctx context.Context, opts shell.Options) (shell.Result, error)
	Dir     string   // the working folder
	Env     []string // the environment of commands
	// Session returns the id of the session in use and the path of its file, Mode the
	// permission mode.
	Session func() (id, path string)
	Mode    func() string
	// Policy knows which changes of files a person has seen. Ask asks a person whether a hook
	// may run that may do something else than before.
	Policy *permission.Policy
	Ask    func(ctx context.Context, line, note string) bool
	// Seen reports whether a person has seen the files with a hash that a hook runs, and whether any
	// of it are known; See saves that. The key is the path of a file with hooks, or one for a hook of
	// the user's in Dir. Both may be nil.
	Seen func(key, hash string) (seen, known bool)
	See  func(ctx context.Context, key, hash string)
}

// Runner runs hooks. A nil Runner has none. It is safe for concurrent use.
type Runner struct {
	opt   Options
	hooks []*hook // the project's first: the user's have the last word
	armed sync.Once

	isArmed atomic.Bool
}

type hook struct {
	config.Hook
	project bool
	matcher *regexp.Regexp      // nil for all
	runs    *permission.Watched // set by Arm
}

// New returns a Runner, or nil without any hook.
func New(opt Options) *Runner {
	r := &Runner{opt: opt}
	for i, h := range slices.Concat(opt.Project.Hooks, opt.User) {
		r.hooks = append(r.hooks, &hook{Hook: h, project: i < len(opt.Project.Hooks), matcher: compiled(h.Matcher)})
	}
	if len(r.hooks) == 0 {
		return nil
	}
	r.opt.Env = append(slices.Clip(opt.Env), variables(opt.Dir)...)
	return r
}

// Arm notes the present files that the hooks run, the first time it is called: from then on, a hook
// that runs others is asked about. Call it before a session changes anything.
func (r *Runner) Arm() {
	if r == nil {
		return
	}
	r.armed.Do(func() {
		defer r.isArmed.Store(true)
		trusted := ""
		if len(r.opt.Project.Hooks) > 0 {
			if _, _, hash := r.opt.Project.look(); hash != r.opt.Project.Hash {
				trusted = "a file that it runs has changed since you trusted it"
			}
		}
		for _, h := range r.hooks {
			why := trusted
			if !h.project {
				why = r.since(h)
			}
			h.runs = r.opt.Policy.Watch(command(h.Command, r.opt.Dir), footprint.Sources, why)
		}
	})
}

// since returns a reason why a hook of the user's may not run: in the last session in this folder it
// ran other files. "" without one.
func (r *Runner) since(h *hook) string {
	if r.opt.Seen == nil {
		return ""
	}
	if seen, known := r.opt.Seen(r.key(h), r.files(h)); seen || !known {
		return ""
	}
	return "a file that it runs has changed since the last session here"
}

// key returns the key of a hook of the user's, below the project's folder.
func (r *Runner) key(h *hook) string {
	return filepath.Join(r.opt.Dir, "hook "+footprint.Hash([]byte(h.Command)))
}

// files returns the hash of the files that a hook runs. Others that it may reach do not count
// between sessions: a hook for all projects is meant for sources of any content.
func (r *Runner) files(h *hook) string {
	what := command(h.Command, r.opt.Dir)
	what.Still = true
	f := footprint.Of(what)
	defer f.Close()
	return f.FilesDigest()
}

// Close saves which files the hooks run, for the next session: those that a person has seen.
func (r *Runner) Close(ctx context.Context) {
	if r == nil || r.opt.See == nil || !r.isArmed.Load() {
		return
	}
	all := true
	for _, h := range r.hooks {
		ok := h.runs.Changed() == ""
		all = all && (ok || !h.project)
		if ok && !h.project {
			r.see(ctx, r.key(h), r.files(h))
		}
	}
	if p := r.opt.Project; all && len(p.Hooks) > 0 {
		_, _, hash := p.look()
		r.see(ctx, p.Path(), hash)
	}
}

// see saves that a person has seen files, if that is new.
func (r *Runner) see(ctx context.Context, key, hash string) {
	if seen, _ := r.opt.Seen(key, hash); !seen {
		r.opt.See(ctx, key, hash)
	}
}

// Event is an event with the data for its hooks.
type Event struct {
	Name   string          `json:"hook_event_name"`
	Tool   string          `json:"tool_name,omitempty"`  // as hooks know it
	Ours   string          `json:"agent_tool,omitempty"` // our name of the tool
	CallID string          `json:"tool_use_id,omitempty"`
	Input  json.RawMessage `json:"tool_input,omitempty"`

	Response   any    `json:"tool_response,omitempty"`
	Prompt     string `json:"prompt,omitempty"`
	StopActive *bool  `json:"stop_hook_active,omitempty"`
	Source     string `json:"source,omitempty"`
	Reason     string `json:"reason,omitempty"`

	names []string // that matchers know
}

// message is the input of a hook.
type message struct {
	Session    string `json:"session_id"`
	Transcript string `json:"transcript_path"`
	Dir        string `json:"cwd"`
	Mode       string `json:"permission_mode"`
	Event
}

// modeName returns the name of a permission mode as hooks know it.
func modeName(mode string) string {
	switch mode {
	case "accept-edits":
		return "acceptEdits"
	case "bypass":
		return "bypassPermissions"
	}
	return mode
}

// Outcome is the answer of all hooks of an event.
type Outcome struct {
	Blocked string // the reason, with the hook; "" if none blocked it
	Ask     string // why a person has to be asked; "" if no hook wants that
	// Input is the changed input of a tool; nil if no hook changed it. Changed names the
	// hooks that did.
	Input   json.RawMessage
	Changed []string
	Context []string // for the model
	Notices []string // for the user; not sanitized
	Stop    string   // why the turn has to end; "" if it need not
}

// maxContext is the number of bytes of a text that a hook adds.
const maxContext = 10_000

// Has reports whether the event has a hook.
func (r *Runner) Has(e Event) bool { return r != nil && len(r.of(e)) > 0 }

// of returns the hooks of an event.
func (r *Runner) of(e Event) (list []*hook) {
	for _, h := range r.hooks {
		if names := e.matched(); h.Event == e.Name && (h.matcher == nil || names == nil || slices.ContainsFunc(names, h.matcher.MatchString)) {
			list = append(list, h)
		}
	}
	return list
}

// matched returns the texts that a matcher is compared with, nil if it has no meaning.
func (e Event) matched() []string {
	switch {
	case e.Name == SessionStart:
		return []string{e.Source}
	case e.Name == SessionEnd:
		return []string{e.Reason}
	case e.Tool == "":
		return nil
	}
	return e.names
}

// Commands names the hooks of an event.
func (r *Runner) Commands(e Event) string {
	var all []string
	for _, h := range r.of(e) {
		all = append(all, h.name())
	}
	return strings.Join(all, "; ")
}

// Run runs the hooks of an event one after the other. After one that blocks or stops, no
// other runs. If one changes the input, those that saw another input judge the final one,
// too. It returns an error only if ctx has ended.
func (r *Runner) Run(ctx context.Context, e Event) (Outcome, error) {
	var o Outcome
	if r == nil {
		return o, nil
	}
	list := r.of(e)
	saw := make([]string, len(list))
	last := -1 // the hook that changed the input last
	for i, h := range list {
		saw[i] = string(e.Input)
		input, err := r.one(ctx, h, e, &o)
		if err != nil || o.over() {
			return o, err
		}
		if input != nil && e.Name == PreToolUse {
			e.Input, o.Input, last = input, input, i
			o.Changed = append(o.Changed, h.name())
		}
	}
	for i, h := range list {
		if last < 0 || i == last || saw[i] == string(e.Input) {
			continue
		}
		if _, err := r.one(ctx, h, e, &o); err != nil || o.over() {
			return o, err
		}
	}
	return o, nil
}

// over reports whether no other hook needs to run.
func (o *Outcome) over() bool { return o.Blocked != "" || o.Stop != "" }

// one runs a hook, adds its answer to o, and returns the input that it wants.
func (r *Runner) one(ctx context.Context, h *hook, e Event, o *Outcome) (input json.RawMessage, err error) {
	if why := r.refused(ctx, h, e); why != "" {
		o.unusable(h, e, why)
		return nil, ctx.Err()
	}
	m := message{Dir: r.opt.Dir, Mode: modeName(r.opt.Mode()), Event: e}
	m.Session, m.Transcript = r.opt.Session()
	data, err := json.Marshal(m)
	if err != nil {
		o.warn(h, err.Error())
		return nil, nil
	}
	out := &output{}
	res, err := r.opt.Run(ctx, shell.Options{
		Line: h.Command, Dir: r.opt.Dir, Env: r.opt.Env, Here: true, Timeout: h.Timeout, Limit: maxContext, Input: data, Stdout: out,
	})
	h.runs.Ran()
	reason := strings.TrimSpace(res.Output)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		o.warn(h, err.Error())
	case res.TimedOut:
		o.warn(h, "it was ended after "+h.Timeout.String())
	case res.ExitCode == 2:
		o.block(h, e, cmp.Or(reason, "it gave no reason"))
	case res.ExitCode == 126, res.ExitCode == 127: // of a shell that cannot start the program
		o.fail(h, e, strings.TrimSpace("its program could not be started. "+reason))
	case res.ExitCode != 0:
		o.Notices = append(o.Notices, fmt.Sprintf("Hook %s `%s` failed (exit %d): %s", h.Event, h.name(), res.ExitCode, cmp.Or(reason, "no output")))
	default:
		return o.read(h, e, out), nil
	}
	return nil, nil
}

// refused returns why a hook may not run, or "": the files that it runs have changed, and nobody who
// was asked allows that. At the end of a session nobody is asked.
func (r *Runner) refused(ctx context.Context, h *hook, e Event) string {
	r.Arm()
	for {
		why := h.runs.Changed()
		if why == "" {
			return ""
		}
		whose := "your hook"
		if h.project {
			whose = "a hook of the project"
		}
		note := "This is " + whose + " for " + e.Name + ". You are asked because " + why + ". It runs outside of the sandbox."
		if e.Name == SessionEnd || ctx.Err() != nil || r.opt.Ask == nil || !r.opt.Ask(ctx, h.Command, note) {
			return why
		}
		h.runs.Accept()
	}
}

// unusable handles a hook that may not run.
func (o *Outcome) unusable(h *hook, e Event, why string) {
	why = "it was not run, because " + why
	if h.project {
		why += "; agent trust add shows the hooks and asks, a new session runs them"
	}
	o.fail(h, e, why)
}

// fail handles a hook that cannot judge. The prompt or call that it would guard is refused.
func (o *Outcome) fail(h *hook, e Event, why string) {
	if e.Name == PreToolUse || e.Name == UserPromptSubmit {
		o.block(h, e, why)
		return
	}
	o.warn(h, why)
}

func (o *Outcome) warn(h *hook, why string) {
	o.Notices = append(o.Notices, fmt.Sprintf("Hook %s `%s`: %s", h.Event, h.name(), why))
}

// block forbids the event, or explains why it cannot be forbidden.
func (o *Outcome) block(h *hook, e Event, reason string) {
	switch e.Name {
	case SessionStart, SessionEnd:
		o.warn(h, reason)
	default:
		o.Blocked = fmt.Sprintf("the hook %s: %s", h.name(), clip.Bytes(reason, maxContext, "…"))
	}
}

// name returns the hook's command, on one line and not too long.
func (h *hook) name() string {
	s := clip.Line(h.Command)
	if r := []rune(s); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return s
}

// answer is the answer of a hook on its standard output.
type answer struct {
	Continue      *bool  `json:"continue"`
	StopReason    string `json:"stopReason"`
	SystemMessage string `json:"systemMessage"`
	Decision      string `json:"decision"`
	Reason        string `json:"reason"`
	Specific      struct {
		Decision string          `json:"permissionDecision"`
		Reason   string          `json:"permissionDecisionReason"`
		Input    json.RawMessage `json:"updatedInput"`
		Context  string          `json:"additionalContext"`
	} `json:"hookSpecificOutput"`
}

// read adds the answer in the output of a hook that succeeded to o, and returns the input
// that it wants.
func (o *Outcome) read(h *hook, e Event, out *output) json.RawMessage {
	text := bytes.TrimSpace(out.data)
	var a answer
	switch {
	case out.cut:
		o.warn(h, fmt.Sprintf("its output is longer than %d KiB and was not read", maxOutput>>10))
		return nil
	case !bytes.HasPrefix(text, []byte("{")):
		if e.Name == UserPromptSubmit || e.Name == SessionStart {
			o.add(string(text))
		}
		return nil
	}
	if err := json.Unmarshal(text, &a); err != nil {
		o.warn(h, "its answer cannot be read: "+err.Error())
		return nil
	}
	return o.apply(h, e, a)
}

func (o *Outcome) apply(h *hook, e Event, a answer) json.RawMessage {
	if a.SystemMessage != "" {
		o.Notices = append(o.Notices, clip.Bytes(a.SystemMessage, maxContext, "…"))
	}
	o.add(a.Specific.Context)
	reason := cmp.Or(a.Specific.Reason, a.Reason)
	switch {
	case a.Decision == "block" || a.Decision == "deny" || a.Specific.Decision == "deny":
		o.block(h, e, cmp.Or(reason, "it gave no reason"))
	case a.Specific.Decision == "ask" || a.Decision == "ask":
		o.Ask = fmt.Sprintf("The hook %s wants you to look: %s", h.name(), cmp.Or(clip.Bytes(reason, maxContext, "…"), "it gave no reason."))
	}
	if a.Continue != nil && !*a.Continue {
		o.Stop = fmt.Sprintf("The hook %s ended the turn: %s", h.name(), cmp.Or(clip.Bytes(a.StopReason, maxContext, "…"), "it gave no reason."))
	}
	input := bytes.TrimSpace(a.Specific.Input)
	if len(input) == 0 || bytes.Equal(input, []byte("null")) || equal(input, e.Input) {
		return nil
	}
	return input
}

// equal reports whether two JSON texts have the same value.
func equal(a, b []byte) bool {
	var x, y any
	if errors.Join(json.Unmarshal(a, &x), json.Unmarshal(b, &y)) != nil {
		return false
	}
	p, err1 := json.Marshal(x)
	q, err2 := json.Marshal(y)
	return err1 == nil && err2 == nil && bytes.Equal(p, q)
}

func (o *Outcome) add(context string) {
	if context = strings.TrimSpace(strings.ToValidUTF8(context, "\uFFFD")); context != "" {
		o.Context = append(o.Context, clip.Bytes(context, maxContext, "…"))
	}
}

// maxOutput is the number of bytes of a hook's output that are read.
const maxOutput = 1 << 20

// output holds the standard output of a hook.
type output struct {
	data []byte
	cut  bool
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	if room := maxOutput - len(o.data); len(p) > room {
		o.data, o.cut = append(o.data, p[:room]...), true
		return len(p), nil
	}
	o.data = append(o.data, p...)
	return len(p), nil
}

// EndTime is how long the hooks of SessionEnd may take together.
const EndTime = 10 * time.Second
