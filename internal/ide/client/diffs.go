package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	strict "github.com/go-json-experiment/json"

	"github.com/bb2d0cf4/agent/internal/clip"
)

// Diffs handles reviews in the editor.
type Diffs struct{ c *Client }

// DiffRequest describes a review.
type DiffRequest struct {
	Path string // absolute, symlinks resolved; it need not exist
	Text string // the proposal, valid UTF-8, with the file's own line endings
	Base string // the file's content; empty for a new file
	Tab  string // see TabName; unique among open diffs

	// The fields below are sent only to editors that speak our whole protocol.
	ID          string
	Description string
	BaseSHA256  string // hex, of Base
	Encoding    string // in which the file was read, as golang.org/x/text knows it; empty for UTF-8
	OnClose     OnClose
	Batch       Batch
	Inline      bool // in the document itself, if the editor can
	Plan        bool // Text is a plan in Markdown, not the content of a file
	// Removal is set if the file is deleted or moved to Path; only editors that know Files are
	// asked then. From is the path that it moves from, or empty.
	Removal Removal
	From    string
	Notes   []Note
	Refused *Refused // sent to editors that show checks; nil without one
	// Draft is the person's text to begin with, from a link that was lost; nil without one.
	Draft *string
	// KeepsDrafts asks for DraftChange.Text.
	KeepsDrafts bool
	// Rechecks means that the client compares the file again before it writes, so that the
	// editor need not ask about a change of it.
	Rechecks bool
	Offer    *Offer // sent to editors that know rules; nil if none may be made
}

// Offer is a permission rule that a person may change, and make with an acceptance.
type Offer struct {
	Rule    string `json:"rule"`
	Problem string `json:"problem,omitempty"` // why the rule of the answer before was not made
}

// Always is the permission that a person gave with an acceptance, beyond it: for all edits of
// the session, or the rule for the given term, the session if none is set.
type Always struct {
	Session bool   `json:"session"`
	Rule    string `json:"rule"`
	Project bool   `json:"project"`
	Uses    int    `json:"uses"`
	Hours   int    `json:"hours"`
}

// Refused is the proposal for the same file that the person refused before.
type Refused struct {
	Text     string           `json:"text"`
	Feedback string           `json:"feedback,omitempty"`
	Comments []RefusedComment `json:"comments,omitempty"`
}

// RefusedComment is the person's remark on a line of a refused proposal, from 1.
type RefusedComment struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// Check describes the trial of a proposal by a command.
type Check struct {
	State    CheckState     `json:"state"`
	Text     string         `json:"text"` // the command and its result on one line
	Output   string         `json:"output,omitempty"`
	Problems []CheckProblem `json:"problems,omitempty"`
}

// CheckProblem is a new problem of the file, at a line and column from 1; column 0 is
// unknown.
type CheckProblem struct {
	Line    int    `json:"line"`
	Column  int    `json:"column,omitempty"`
	Warning bool   `json:"warning,omitempty"`
	Text    string `json:"text"`
}

// CheckState is the state of a check.
type CheckState string

// The states of a check.
const (
	CheckRunning CheckState = "running"
	CheckPassed  CheckState = "passed"
	CheckFailed  CheckState = "failed"
	CheckUnknown CheckState = "unknown" // it has no result
)

// Batch is the position of a request among the calls of one answer; Total 0 means none.
type Batch struct {
	ID    string `json:"id"`
	Index int    `json:"index"`
	Total int    `json:"total"`
}

// Note is a remark that the person must see. docs/protocol.md lists the kinds.
type Note struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// OnClose is the meaning of closing the tab by hand.
type OnClose string

// The meanings of closing the tab.
const (
	CloseRejects OnClose = "reject"
	CloseKeeps   OnClose = "keep" // no answer
)

// Removal is the kind of a change after which a file is no longer at its place.
type Removal string

// The kinds of removals.
const (
	Deletion Removal = "delete"
	Move     Removal = "move"
)

// Kind is the kind of a DiffOutcome. The zero value decides nothing.
type Kind int

// The kinds of outcomes.
const (
	Undecided Kind = iota
	Rejected
	Accepted       // Text is to be written
	AlreadyWritten // the editor has written the proposal itself
)

// DiffOutcome is the result of a review.
type DiffOutcome struct {
	Kind Kind
	Text string // the accepted text, exactly; set for Accepted and AlreadyWritten
	// Edited reports whether Text differs from the proposal.
	Edited   bool
	Reason   string // the editor's reason ("button", "timeout", …), or why it is undecided
	Feedback string // the reviewer's message
	Comments []Comment
	Mode     string  // of an accepted plan: the permission mode
	Always   *Always // nil for this change only
}

// Comment is a remark on lines of the text under review.
type Comment struct {
	Original           bool // on the old side
	StartLine, EndLine int  // 1-based, inclusive
	Quote, Text        string
}

// Bounds of a reviewer's feedback.
const (
	maxFeedback = 16 << 10
	maxComments = 200
)

// Open shows a diff and waits for the person, without a deadline of its own. When ctx
// ends it returns ctx's error and forgets the request, but the caller must still call
// Close. An error decides nothing.
func (d *Diffs) Open(ctx context.Context, r DiffRequest) (DiffOutcome, error) {
	if !filepath.IsAbs(r.Path) || !utf8.ValidString(r.Path) || !utf8.ValidString(r.Text) || !isTab(r.Tab) {
		return DiffOutcome{}, errors.New("this change cannot be shown in an editor: its path or text is not plain Unicode")
	}
	extended := d.c.Info().Ours
	if r.Removal != "" && !extended {
		return DiffOutcome{}, ErrUnsupported
	}
	args, f := r.arguments(extended), d.c.formOf(r.Base, r.Text)
	if !extended {
		args["new_file_contents"] = f.sent(r.Text)
	}
	a, err := d.c.call(ctx, "openDiff", args)
	if err != nil {
		return DiffOutcome{}, err
	}
	if extended {
		return r.verdict(a), nil
	}
	return r.guess(a, f), nil
}

func (r DiffRequest) arguments(extended bool) map[string]any {
	args := map[string]any{
		"old_file_path": cmp.Or(r.From, r.Path), "new_file_path": r.Path, "new_file_contents": r.Text, "tab_name": r.Tab,
	}
	if !extended {
		return args
	}
	for name, value := range map[string]string{
		"diff_id": r.ID, "description": r.Description, "base_sha256": r.BaseSHA256, "on_close": string(r.OnClose), "removal": string(r.Removal), "encoding": r.Encoding,
	} {
		if value != "" {
			args[name] = value
		}
	}
	switch {
	case r.Plan:
		args["view"] = "plan"
	case r.Inline:
		args["view"] = "inline"
	}
	if r.Refused != nil {
		args["refused"] = r.Refused
	}
	if r.Draft != nil {
		args["draft"] = *r.Draft
	}
	if r.KeepsDrafts {
		args["keeps_drafts"] = true
	}
	if r.Rechecks {
		args["rechecks"] = true
	}
	if r.Offer != nil {
		args["offer"] = r.Offer
	}
	if len(r.Notes) > 0 {
		args["notes"] = r.Notes
	}
	if r.Batch.Total > 0 {
		args["batch"] = r.Batch
	}
	return args
}

// details is the third item of an answer.
type details struct {
	ID       string  `json:"diffId"`
	Outcome  string  `json:"outcome"`
	Reason   string  `json:"reason"`
	Feedback string  `json:"feedback"`
	Mode     string  `json:"mode"`
	Always   *Always `json:"always"`
	Comments []struct {
		Side  string `json:"side"`
		Start int    `json:"startLine"`
		End   int    `json:"endLine"`
		Quote string `json:"quote"`
		Text  string `json:"text"`
	} `json:"comments"`
}

// verdict reads the answer of an editor that gives reasons: only a person's action
// decides, whatever the first items are.
func (r DiffRequest) verdict(a answer) DiffOutcome {
	var said details
	if len(a.items) == 0 || strict.Unmarshal([]byte(a.items[len(a.items)-1]), &said) != nil {
		return undecided("the editor's answer has no details")
	}
	person := []string{"button", "command", "save"}
	switch {
	case said.ID != "" && said.ID != r.ID:
		return undecided("the editor's answer is about another review")
	case a.items[0] == "FILE_SAVED" && len(a.items) == 3 &&
		said.Outcome == "accepted" && slices.Contains(person, said.Reason):
		out := said.add(DiffOutcome{Kind: Accepted, Text: a.items[1], Edited: a.items[1] != r.Text})
		if r.Offer != nil {
			out.Always = said.Always
		}
		return out
	case a.items[0] == "DIFF_REJECTED" && len(a.items) >= 2 &&
		said.Outcome == "rejected" && slices.Contains(append(person, "tab_closed"), said.Reason):
		return said.add(DiffOutcome{Kind: Rejected})
	}
	return undecided(clip.Bytes(said.Reason, 100, "…"))
}

// add adds the reviewer's feedback and comments.
func (said details) add(o DiffOutcome) DiffOutcome {
	o.Reason, o.Feedback, o.Mode = said.Reason, clip.Bytes(said.Feedback, maxFeedback, "…"), said.Mode
	for _, c := range said.Comments[:min(len(said.Comments), maxComments)] {
		end := max(c.Start, c.End)
		if c.Start < 1 || c.Text == "" {
			continue
		}
		o.Comments = append(o.Comments, Comment{
			Original: c.Side == "original", StartLine: c.Start, EndLine: end,
			Quote: clip.Bytes(c.Quote, maxWords, "…"), Text: clip.Bytes(c.Text, maxWords, "…"),
		})
	}
	return o
}

// guess reads the answer of an editor that gives no reasons. A closed tab is no
// acceptance. Editors add and drop the newline at the end of a text: that is no edit,
// and the proposal is written. An answer that names another diff decides nothing.
func (r DiffRequest) guess(a answer, f form) DiffOutcome {
	switch {
	case a.first() == "FILE_SAVED" && len(a.items) == 1:
		return DiffOutcome{Kind: AlreadyWritten, Text: r.Text}
	case a.first() == "FILE_SAVED":
		text, edited := f.read(r.Text, a.items[1])
		return DiffOutcome{Kind: Accepted, Text: text, Edited: edited}
	case a.first() == "DIFF_REJECTED" && len(a.items) > 1 && isTab(a.items[1]) && a.items[1] != r.Tab:
		return undecided("the editor's answer is about another diff")
	case a.first() == "DIFF_REJECTED":
		return DiffOutcome{Kind: Rejected}
	case a.first() == "TAB_CLOSED":
		return undecided("the tab was closed")
	}
	return undecided("the editor gave no clear answer")
}

func undecided(why string) DiffOutcome { return DiffOutcome{Reason: why} }

// Close closes a diff; a diff that is already closed is no error. Close calls the tool
// even if it is not listed, and under its other name if the first is unknown.
func (d *Diffs) Close(ctx context.Context, tab string) error {
	_, err := d.Withdraw(ctx, tab)
	return err
}

// Withdraw closes a diff and reports whether the editor had it. An editor that does not
// know it may be about to open it.
func (d *Diffs) Withdraw(ctx context.Context, tab string) (closed bool, err error) {
	if !isTab(tab) {
		// Some editors would close a file with this name.
		return false, fmt.Errorf("%q is not the name of a diff", tab)
	}
	args := map[string]string{"tab_name": tab, "tabName": tab}
	a, err := d.c.call(ctx, "close_tab", args)
	if errors.Is(err, ErrUnsupported) {
		a, err = d.c.call(ctx, "closeTab", args)
	}
	var refused *ToolError
	if errors.As(err, &refused) && !refused.unsupported {
		return false, nil
	}
	return err == nil && !strings.Contains(strings.ToLower(a.first()), "not found"), err
}

// CloseAll closes leftover diffs and returns their number. Old plugins close the user's
// own diffs too, so use it sparingly.
func (d *Diffs) CloseAll(ctx context.Context) (int, error) {
	a, err := d.c.call(ctx, "closeAllDiffTabs", struct{}{})
	if err != nil {
		return 0, err
	}
	n := 0
	if _, err := fmt.Sscanf(a.first(), "CLOSED_%d_DIFF_TABS", &n); err != nil {
		return 0, nil //nolint:nilerr // it has closed them, and answers in another form
	}
	return n, nil
}

// Take has an editor that is not ours accept an open diff, as its user would; the
// answer comes to Open. It returns ErrUnsupported, or a refusal, if the editor cannot.
func (d *Diffs) Take(ctx context.Context, tab string) error {
	if !d.Takes() || !isTab(tab) {
		return ErrUnsupported
	}
	// The plugin names its buffers like this, and takes the save of a buffer for a yes.
	err := d.c.Documents.Save(ctx, tab+" (proposed)")
	if err != nil {
		err = d.c.Documents.Save(ctx, tab+" (NEW FILE - proposed)")
	}
	return err
}

// Takes reports whether Take can be expected to work.
func (d *Diffs) Takes() bool { return d.c.neovim }

// Draft is the text in an open diff.
type Draft struct {
	Text     string
	Edited   bool   // by hand
	Feedback string // the reviewer's message
	Comments []Comment
}

// Claim tells the editor that a diff is being answered elsewhere (held), or no longer
// is. While a diff is held, the editor does not answer it. It returns ErrUnsupported
// like Resolve.
func (d *Diffs) Claim(ctx context.Context, id string, held bool) error {
	if !d.c.Info().Ours {
		return ErrUnsupported
	}
	outcome := "release"
	if held {
		outcome = "hold"
	}
	_, err := d.c.call(ctx, "resolveDiff", map[string]string{"diff_id": id, "outcome": outcome})
	return err
}

// SetCheck shows the check of a proposal in its diff, which may be about to open. It
// returns ErrUnsupported for an editor that does not show checks.
func (d *Diffs) SetCheck(ctx context.Context, id string, check Check) error {
	if !d.c.Info().Ours {
		return ErrUnsupported
	}
	_, err := d.c.call(ctx, "setCheck", struct {
		ID string `json:"diff_id"`
		Check
	}{id, check})
	return err
}

// Show brings a diff to the editor's screen, if it was opened in the background or
// closed without an answer. It returns ErrUnsupported like Resolve.
func (d *Diffs) Show(ctx context.Context, id string) error {
	if !d.c.Info().Ours {
		return ErrUnsupported
	}
	_, err := d.c.call(ctx, "resolveDiff", map[string]string{"diff_id": id, "outcome": "show"})
	return err
}

// Resolve answers an open diff from outside and returns its draft. It returns
// ErrUnsupported for an editor that does not speak our whole protocol.
func (d *Diffs) Resolve(ctx context.Context, id string, accept bool) (Draft, error) {
	if !d.c.Info().Ours {
		return Draft{}, ErrUnsupported
	}
	outcome := "reject"
	if accept {
		outcome = "accept"
	}
	a, err := d.c.call(ctx, "resolveDiff", map[string]string{"diff_id": id, "outcome": outcome})
	if err != nil {
		return Draft{}, err
	}
	var told struct {
		details
		Text   *string `json:"text"`
		Edited bool    `json:"userEdited"`
	}
	if strict.Unmarshal([]byte(a.first()), &told) != nil || told.Text == nil && accept {
		return Draft{}, &ToolError{Message: "its answer has no text"}
	}
	if told.Text == nil {
		return Draft{}, nil
	}
	said := told.add(DiffOutcome{})
	return Draft{Text: *told.Text, Edited: told.Edited, Feedback: said.Feedback, Comments: said.Comments}, nil
}
