// Package modelcontext manages the context of a conversation: the rules, the project's
// instructions, the place and date, and the state of a connected editor. It writes the
// system prompt, and for messages the later changes. It guarantees that the
// prompt does not change, byte for byte, while its sources do not, that it reads no file
// outside the project's own folders, and that it runs no program.
//
// Its name differs from its folder's so that a file can import the standard library's
// context, too.
package modelcontext

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bb2d0cf4/agent/internal/editor"
)

// EditorState returns the state of a connected editor; the zero State means no editor.
type EditorState interface {
	State(ctx context.Context) editor.State
}

// editorWait is the maximum time that a prompt waits for the editor.
const editorWait = 300 * time.Millisecond

// Place is where the model is told of the editor's state.
type Place string

// The places.
const (
	// AtStart puts the state into the system prompt as the conversation begins, and later
	// changes into messages.
	AtStart Place = "start"
	// InMessages puts it into messages only.
	InMessages Place = "message"
	// InSystem puts it into every system prompt, which changes with it.
	InSystem Place = "system"
)

// Options configures the prompt.
type Options struct {
	Dir    string           // the working directory, absolute, symlinks resolved
	Roots  []string         // all folders that may be changed; may include Dir
	Home   string           // the program's own folder, with the user's instructions; empty for none
	Editor EditorState      // may be nil
	Place  Place            // of the editor's state; but for InSystem, System is fixed, see News
	Shell  string           // the shell of commands, for example "bash"
	Now    func() time.Time // nil means time.Now
	// Trusted reports whether the instructions at path may be used with the text that has
	// this hash; nil means yes.
	Trusted func(path, hash string) bool
	Skills  []Skill
	// Languages reports whether the tools for names in code are offered; nil for no.
	Languages func() bool
}

// Builder builds the prompt. It is safe for concurrent use.
type Builder struct {
	opt Options

	mu    sync.Mutex // guards the fields below
	seen  stamp
	base  string // the prompt without the editor's block
	proj  project
	began moment  // in base, if that is fixed
	told  moment  // to the model
	start *string // the overview, once a prompt has it; it does not change later
	used  map[string]used
	below map[string]string // by path, the hash of an instruction file that Below told about

	opening *string // the editor's block of a fixed prompt, once there is one; it does not change later
	shown   *string // the editor's block that the model was told of last; nil if that is unknown
}

// used is the text of an instruction file in the last prompt.
type used struct {
	Instruction
	text string
}

// moment holds the date and the branch, which change between prompts.
type moment struct{ day, branch string }

// project is the data read from disk.
type project struct {
	instructions []Instruction
	text         string // the instructions in the prompt
	branch       string
}

// New returns a Builder without reading anything.
func New(opt Options) *Builder {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Builder{opt: opt, used: map[string]used{}, below: map[string]string{}}
}

// choose returns the text of an instruction file that may be used: the present one, or
// else the one in the last prompt.
func (b *Builder) choose(in Instruction, text string) (Instruction, string) {
	if b.opt.Trusted == nil || b.opt.Trusted(in.Path, in.Hash) {
		b.used[in.Path] = used{in, text}
		return in, text
	}
	if before, ok := b.used[in.Path]; ok {
		before.Untrusted, before.Hash = true, in.Hash
		return before.Instruction, before.text
	}
	in.Untrusted, in.Problem = true, "you have not trusted it; agent trust add shows it and asks"
	return in, ""
}

// System returns the prompt. It reads files again only if their times or sizes have
// changed.
func (b *Builder) System(ctx context.Context) string {
	base := b.refresh() + b.overview() + b.languages()
	if block := b.inPrompt(ctx); block != "" {
		return base + "\n" + block
	}
	return base
}

// fixed reports whether System holds nothing that changes from prompt to prompt.
func (b *Builder) fixed() bool { return b.opt.Place != InSystem }

// Editor returns the block about the editor's state, of at most 800 characters; empty
// if there is nothing to report. It waits at most 300 ms.
func (b *Builder) Editor(ctx context.Context) string {
	if b.opt.Editor == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, editorWait)
	defer cancel()
	return editorBlock(b.opt.Editor.State(ctx), b.opt.Dir)
}

// inPrompt returns the editor's block in System.
func (b *Builder) inPrompt(ctx context.Context) string {
	if !b.fixed() {
		return b.Editor(ctx)
	}
	block, _ := b.open(ctx)
	return block
}

// open returns the editor's block of a fixed prompt, and whether this call chose it.
func (b *Builder) open(ctx context.Context) (block string, chosen bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.opening == nil {
		b.mu.Unlock() // nobody waits for the editor
		if b.opt.Place == AtStart {
			block = b.Editor(ctx)
		}
		b.mu.Lock()
		b.opening, b.shown, chosen = &block, &block, true
	}
	return *b.opening, chosen
}

// EditorNews returns the text for a message about the editor's state, if that has changed
// since the model was told; empty if System has it, or if there is no news.
func (b *Builder) EditorNews(ctx context.Context) string {
	if !b.fixed() {
		return ""
	}
	if _, chosen := b.open(ctx); chosen && b.opt.Place == AtStart {
		return ""
	}
	now := b.Editor(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	shown := *b.opening
	if b.shown != nil {
		shown = *b.shown
	}
	if now == shown && (b.shown != nil || now == "") {
		return ""
	}
	b.shown = &now
	if now == "" {
		return "[Nothing is open in the editor any more.]"
	}
	return "[" + strings.TrimSuffix(now, "\n") + "]"
}

// Parts are the parts of the prompt, to show how much room each takes.
type Parts struct{ Rules, Instructions, Editor string }

// Parts returns the parts of System.
func (b *Builder) Parts(ctx context.Context) Parts {
	base := b.refresh()
	b.mu.Lock()
	instructions := b.proj.text
	b.mu.Unlock()
	return Parts{
		Rules: strings.TrimSuffix(base, instructions) + b.overview() + b.languages(), Instructions: instructions, Editor: b.inPrompt(ctx),
	}
}

// Instructions returns the instruction files, outermost first.
func (b *Builder) Instructions() []Instruction {
	b.refresh()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.proj.instructions
}

// Branch returns the checked-out branch, the first digits of a detached commit, or ""
// outside a repository.
func (b *Builder) Branch() string {
	b.refresh()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.proj.branch
}

// refresh updates the builder and returns the prompt without the editor's block.
func (b *Builder) refresh() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	place := findPlace(b.opt.Dir)
	place.user = b.opt.Home
	now := place.stamp(b.opt.Now().Format(time.DateOnly))
	waits := slices.ContainsFunc(b.proj.instructions, func(in Instruction) bool { return in.Untrusted })
	if b.base == "" || now != b.seen || waits {
		b.proj = place.read(b.choose)
		at := moment{now.day, b.proj.branch}
		if b.began == (moment{}) || !b.fixed() {
			b.began, b.told = at, at
		}
		b.base = b.write(b.began)
		b.seen = now
	}
	return b.base
}

// overview returns the overview of the folder, read for the first prompt only: the prompt
// must not change with each new file.
func (b *Builder) overview() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.start == nil {
		text := findPlace(b.opt.Dir).overview()
		b.start = &text
	}
	return *b.start
}

// languages returns the line about the tools for names in code while they are offered.
func (b *Builder) languages() string {
	if b.opt.Languages == nil || !b.opt.Languages() {
		return ""
	}
	return LanguagesLine
}

// Checks returns the commands that build and test the project, as far as its files reveal
// them.
func (b *Builder) Checks() []string {
	commands, _ := findPlace(b.opt.Dir).checks()
	return commands
}

// News returns a line about each of the date and the branch that has changed since the
// model was told; empty if System has them, or if there is no news.
func (b *Builder) News() string {
	b.refresh()
	b.mu.Lock()
	defer b.mu.Unlock()
	now := moment{b.seen.day, b.proj.branch}
	if !b.fixed() || now == b.told {
		return ""
	}
	var lines []string
	if now.day != b.told.day {
		lines = append(lines, "The date is now "+now.day+".")
	}
	if now.branch != b.told.branch {
		lines = append(lines, branchNews(now.branch))
	}
	b.told = now
	return strings.Join(lines, "\n")
}

func branchNews(branch string) string {
	if branch == "" {
		return "There is no Git branch any more."
	}
	return "The Git branch is now " + branch + "."
}

// Start is the part of a fixed prompt that describes the beginning of a conversation.
type Start struct{ Day, Branch, Overview, Editor string }

// Start returns the description in System; the zero Start without a fixed prompt.
func (b *Builder) Start() Start {
	overview := b.overview()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.fixed() {
		return Start{}
	}
	start := Start{Day: b.began.day, Branch: b.began.branch, Overview: overview}
	if b.opening != nil {
		start.Editor = *b.opening
	}
	return start
}

// Resume puts s into the next System, for a conversation that began with it. News
// reports what has changed since.
func (b *Builder) Resume(s Start) {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.below)
	b.base, b.start = "", &s.Overview
	b.began = moment{s.Day, s.Branch}
	b.told = b.began
	b.opening, b.shown = &s.Editor, nil
}

// Retell puts the date, branch and editor's state that the news told into the next System.
// It is for a conversation that has lost messages, which may have held the news.
func (b *Builder) Retell() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.below)
	if b.told != b.began {
		b.base, b.began = "", moment{}
	}
	if b.opening != nil && b.shown != nil && *b.shown != *b.opening {
		b.opening, b.shown = nil, nil
	}
}

// Renew puts the present date, branch, overview and editor's state into the next System. It is for
// another conversation.
func (b *Builder) Renew() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.below)
	b.base, b.began, b.start = "", moment{}, nil
	b.opening, b.shown = nil, nil
}

// write writes the prompt, the most stable parts first: a provider caches the common
// beginning of two requests.
func (b *Builder) write(at moment) string {
	var w strings.Builder
	w.WriteString(rules)
	w.WriteString("\nEnvironment:\n")
	w.WriteString("- System: " + runtime.GOOS + "/" + runtime.GOARCH + "\n")
	if b.opt.Shell != "" {
		w.WriteString("- Shell: " + oneLine(b.opt.Shell) + "\n")
	}
	w.WriteString("- Working directory: " + oneLine(b.opt.Dir) + "\n")
	for _, root := range b.opt.Roots {
		if root != b.opt.Dir {
			w.WriteString("- Also open: " + oneLine(root) + "\n")
		}
	}
	w.WriteString("- Date: " + at.day + "\n")
	if at.branch != "" {
		w.WriteString("- Git branch: " + at.branch + "\n")
	}
	writeSkills(&w, b.opt.Skills)
	w.WriteString(b.proj.text)
	return w.String()
}
