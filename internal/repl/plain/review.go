package plain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/diff"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// guard is the time that a question must have been visible before a line answers it: nobody
// reads faster, so an earlier line was meant for something else.
const guard = 400 * time.Millisecond

// Review prints req and waits for an answer. Earlier lines stay prompts, and so does a line
// that is more than an answer: it may have been half typed when the question came. A line that is
// only a no counts as soon as the question is there, since it costs nothing. On a terminal, Ctrl+D
// means no, and ends nothing else.
func (u *UI) Review(ctx context.Context, req confirm.Request) (confirm.Verdict, error) {
	stand := func(id string) {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.asked = id
	}
	stand(req.ID)
	defer stand("")
	u.say("\n" + u.opt.label("", "question") + describe(req))
	from := time.Now().Add(guard)
	checking := req.Check.Done()
	var comments []confirm.Comment
	for {
		u.say(ask(req, u.opt.Labels))
		v, what, err := u.readAnswer(ctx, from, checking, req)
		switch {
		case errors.Is(err, errInterrupted):
			checking = nil
			u.say(u.opt.checked(req.Check))
		case errors.Is(err, io.EOF) && u.opt.Again && u.typed.goOn(from):
			u.say("no\n")
			return confirm.Verdict{By: confirm.Terminal, Comments: comments}, nil
		case errors.Is(err, io.EOF):
			u.say("(no answer)\n")
			u.hold(comments)
			return confirm.Verdict{}, confirm.ErrUndecided
		case err != nil:
			u.say("(withdrawn)\n")
			u.hold(comments)
			return confirm.Verdict{}, err
		case what == remarks:
			comments = append(comments, v.Comments...)
			u.say(fmt.Sprintf("Noted on line %d; it is sent with your answer.\n", v.Comments[0].Line))
		case what == answers:
			v.Comments = comments
			return v, nil
		}
	}
}

// hold keeps comments on a plan whose question was withdrawn or answered elsewhere.
func (u *UI) hold(comments []confirm.Comment) {
	if len(comments) == 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.unsent = append(u.unsent, comments...)
	u.write(u.opt.label("! ", "note") + "The question is gone. Your comments go with your next prompt:\n")
	for _, c := range comments {
		u.write(sanitize.Line(c.OnPlan()) + "\n")
	}
}

// withUnsent returns a prompt with the comments that wait for one.
func (u *UI) withUnsent(prompt string) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	var b strings.Builder
	for _, c := range u.unsent {
		b.WriteString(c.OnPlan() + "\n")
	}
	u.unsent = nil
	return b.String() + prompt
}

// readAnswer waits for a line and parses it. It returns errInterrupted if the check of the
// proposal ends first.
func (u *UI) readAnswer(ctx context.Context, from time.Time, checking <-chan struct{}, req confirm.Request) (confirm.Verdict, meaning, error) {
	e, err := u.typed.find(ctx, u.counts(from, req), checking)
	if err != nil {
		return confirm.Verdict{}, unclear, err
	}
	text := e.text
	choice, chooses := req.Subject.(*confirm.Choice)
	if !chooses {
		text = u.opt.worded(text)
	}
	v, what := understand(text, req)
	switch what {
	case makes:
		return u.makeRule(ctx, from, *req.Offer)
	case prompts:
		if chooses && choice.Reader != "" { // it may be a password
			u.say(u.opt.label("! ", "note") + "Neither sent nor kept. " + u.opt.answering(req) + "\n")
			return v, unclear, nil
		}
		u.typed.keep(e)
		u.say(u.opt.label("! ", "note") + "Kept as your next prompt. " + u.opt.answering(req) + "\n")
	case answers, unclear, remarks:
	}
	return v, what, nil
}

// understand parses a line as an answer to req.
func understand(text string, req confirm.Request) (confirm.Verdict, meaning) {
	first, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	only := strings.EqualFold(first, "only")
	leaves := strings.EqualFold(first, "without")
	switch s := req.Subject.(type) {
	case *confirm.Edits:
		if leaves && s.Review || (leaves || only) && s.Parts {
			return partsOf(s).verdict(rest, only)
		}
	case *confirm.Document:
		if strings.EqualFold(first, "line") {
			return remark(rest, s)
		}
	default:
	}
	return parse(text, req)
}

// counts returns a function that reports whether a line may answer: it came at or after from, or is a no
// without a reason that came since the question. On a pipe the lines of a script come early.
func (u *UI) counts(from time.Time, req confirm.Request) func(entry) bool {
	return func(e entry) bool {
		if !e.at.Before(from) {
			return true
		}
		text := strings.TrimSpace(e.text)
		if _, chooses := req.Subject.(*confirm.Choice); !chooses {
			text = u.opt.worded(text)
		}
		return u.opt.Again && isNo(text) && !e.at.Before(from.Add(-guard))
	}
}

// answering explains how to answer a question in words.
func (o Options) answering(req confirm.Request) string {
	if _, ok := req.Subject.(*confirm.Choice); ok {
		return "To answer in your own words, begin with answer."
	}
	return "To say no with a reason, begin with " + o.no() + "."
}

// no returns the start of a refusal.
func (o Options) no() string {
	if o.Labels {
		return "3"
	}
	return "n"
}

// words are the answers that have a number.
var words = map[string]string{
	strconv.Itoa(confirm.NumberYes): "yes", strconv.Itoa(confirm.NumberAlways): "always",
	strconv.Itoa(confirm.NumberNo): "no", strconv.Itoa(confirm.NumberRule): "rule",
}

// worded returns an answer in words. Only listeners are told the numbers, so only theirs may be
// followed by a reason.
func (o Options) worded(answer string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(answer), " ")
	switch word := words[first]; {
	case word == "no" && rest != "" && o.Labels:
		return word + " " + rest
	case word != "" && rest == "":
		return word
	}
	return answer
}

// ask returns the line that asks for an answer.
func ask(req confirm.Request, numbered bool) string {
	switch s := req.Subject.(type) {
	case *confirm.Choice:
		return askChoice(s)
	case *confirm.Limit:
		return askLimit(s, numbered)
	case *confirm.Document:
		if numbered {
			return "answer: 1 carry it out and ask about edits, 2 carry it out and accept edits, 3 no, 3 and what to change, or line, a number and a comment: "
		}
		return "Carry it out? [y: ask about edits / a: accept edits / n / n what to change / line 3 a comment on it] "
	case *confirm.Edits:
		if s.Parts || s.Review {
			return askParts(s, numbered)
		}
	default:
	}
	return askYesNo(req, numbered)
}

// askYesNo is ask for a yes or a no.
func askYesNo(req confirm.Request, numbered bool) string {
	switch once := req.Once(); {
	case numbered && once:
		return "answer: 1 yes, 3 no, or 3 and why not: "
	case numbered && req.Offer != nil:
		return "answer: 1 yes, 2 always: " + covered(req) + ", 3 no, 4 allow " + offered(*req.Offer) + " from now on, or 3 and why not: "
	case numbered:
		return "answer: 1 yes, 2 always: " + covered(req) + ", 3 no, or 3 and why not: "
	case once:
		return "Yes or no? [y / n / n why not] "
	}
	if req.Offer != nil {
		return "Yes or no? [y / n / n why not / always: " + covered(req) + " / here: allow " + offered(*req.Offer) + " in this folder from now on / rule: change it, and choose for how long] "
	}
	return "Yes or no? [y / n / n why not / always: " + covered(req) + "] "
}

// offered names the requests that the offered rule allows.
func offered(o confirm.Offer) string { return sanitize.Line(o.Covers()) }

// askLimit returns the line that asks whether to go on at a limit.
func askLimit(l *confirm.Limit, numbered bool) string {
	step := sanitize.Line(l.Step)
	if numbered {
		return "answer: 1 one more request, 2 add " + step + ", 3 stop here: "
	}
	return "Continue? [y: one more request / n: stop here / always: add " + step + "] "
}

// covered describes what "always" approves.
func covered(req confirm.Request) string {
	if req.File() != nil {
		return "every edit this session"
	}
	return req.Facts().Covers + " this session"
}

// meaning classifies an answer.
type meaning int

const (
	unclear meaning = iota // neither: ask again
	answers
	prompts
	makes   // a yes that makes a rule
	remarks // a comment, sent with the answer
)

// parse parses an answer. Text after a no is its reason.
func parse(line string, req confirm.Request) (confirm.Verdict, meaning) {
	first, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	rest = strings.TrimSpace(rest)
	if c, ok := req.Subject.(*confirm.Choice); ok {
		return parseChoice(first, rest, c)
	}
	return parseYesNo(first, rest, req)
}

// parseYesNo parses an answer of one word, with the words after it.
func parseYesNo(first, rest string, req confirm.Request) (confirm.Verdict, meaning) {
	v := confirm.Verdict{By: confirm.Terminal}
	switch word := strings.ToLower(strings.TrimRight(first, ",:;")); {
	case word == "n" || word == "no":
		v.Feedback = rest
	case first == "" || first == "?" && rest == "":
		return v, unclear
	case rest != "":
		return v, prompts
	case word == "y" || word == "yes" || word == "a" || word == "always":
		return approval(word[0] == 'a', req)
	case word == "rule" && req.Offer != nil:
		return v, makes
	case word == "here" && req.Offer != nil:
		v.Decision, v.Always = confirm.Approve, &confirm.Always{Rule: req.Offer.Rule, Term: confirm.Term{Project: true}}
	default:
		return v, prompts
	}
	return v, answers
}

// remark returns a comment on a line of a document, from its number and the words.
func remark(text string, d *confirm.Document) (confirm.Verdict, meaning) {
	number, words, _ := strings.Cut(strings.TrimSpace(text), " ")
	n, err := strconv.Atoi(strings.TrimRight(number, ":,;"))
	lines := strings.Split(strings.TrimRight(d.Text, "\n"), "\n")
	if words = strings.TrimSpace(words); err != nil || n < 1 || n > len(lines) || words == "" {
		return confirm.Verdict{}, unclear
	}
	return confirm.Verdict{Comments: []confirm.Comment{{Line: n, Quote: lines[n-1], Text: words}}}, remarks
}

// numbers parses numbers from 1 to n, and returns each once, from 0; ok is false without one,
// or with something else.
func numbers(list string, n int) (out []int, ok bool) {
	for word := range strings.FieldsSeq(strings.ReplaceAll(list, ",", " ")) {
		i, err := strconv.Atoi(word)
		if err != nil || i < 1 || i > n {
			return nil, false
		}
		if !slices.Contains(out, i-1) {
			out = append(out, i-1)
		}
	}
	return out, len(out) > 0
}

// approval returns the verdict of a yes. always means further requests, too.
func approval(always bool, req confirm.Request) (confirm.Verdict, meaning) {
	v := confirm.Verdict{By: confirm.Terminal, Decision: confirm.Approve}
	if _, ok := req.Subject.(*confirm.Document); ok {
		v.Mode = map[bool]string{false: "default", true: "accept-edits"}[always]
		return v, answers
	}
	edits, changes := req.Subject.(*confirm.Edits)
	switch {
	case always && req.Once():
		return confirm.Verdict{By: confirm.Terminal}, unclear
	case always:
		v.Session = true
	case changes:
		v.Except = edits.Out
	}
	return v, answers
}

// describe returns the complete request.
func describe(req confirm.Request) string {
	var b strings.Builder
	if req.Origin != "" {
		b.WriteString("From the sub-agent " + sanitize.Line(req.Origin) + ":\n")
	}
	for _, n := range req.Notes {
		fmt.Fprintf(&b, "! %s\n", sanitize.Line(n.Text))
	}
	switch s := req.Subject.(type) {
	case *confirm.Edits:
		b.WriteString(partsOf(s).describe())
	case *confirm.Document:
		b.WriteString(numbered(s))
	case *confirm.Command:
		b.WriteString(commandLines(s))
	case *confirm.Call:
		fmt.Fprintf(&b, "Call %s of the MCP server %s:\n%s\n", sanitize.Name(s.Tool), sanitize.Name(s.Server), sanitize.Exact(s.Args))
	case *confirm.Choice:
		b.WriteString(describeChoice(s))
	case *confirm.Read, *confirm.Save, *confirm.Fetch, *confirm.Limit:
		line := req.Facts().Line
		b.WriteString(strings.ToUpper(line[:1]) + line[1:] + "\n")
	}
	return b.String()
}

// numbered returns a document with the numbers of its lines.
func numbered(d *confirm.Document) string {
	var b strings.Builder
	b.WriteString("The plan:\n")
	for i, line := range strings.Split(strings.TrimRight(d.Text, "\n"), "\n") {
		fmt.Fprintf(&b, "%3d  %s\n", i+1, sanitize.Exact(line))
	}
	return b.String()
}

// changed returns the unified diff of a change, below a sentence about it.
func changed(c workspace.Change) string {
	before, after, head := c.Name, c.Name, ""
	switch {
	case c.Moves():
		after, head = c.ToName, fmt.Sprintf("Move %s (%d bytes) to %s\n", c.Name, c.Size, c.ToName)
	case c.Delete:
		after, head = "", fmt.Sprintf("Delete %s (%d bytes)\n", c.Name, c.Size)
	case !c.Exists:
		before = ""
	}
	endings, unified := unifiedOf(before, after, c.Text, c.After)
	if files := diffview.Files(unified); head == "" && len(files) == 1 {
		head = files[0].Sentence() + "\n"
	}
	return head + endings + unified
}

// unifiedOf returns the unified diff of two texts. If each line of both ends in CRLF, endings has that in
// place of a mark on every line.
func unifiedOf(before, after, a, b string) (endings, unified string) {
	crlf := strings.Count(a, "\r\n") + strings.Count(b, "\r\n")
	if crlf > 0 && crlf == strings.Count(a, "\n")+strings.Count(b, "\n") && crlf == strings.Count(a, "\r")+strings.Count(b, "\r") {
		endings, a, b = "Each line ends in CRLF.\n", strings.ReplaceAll(a, "\r\n", "\n"), strings.ReplaceAll(b, "\r\n", "\n")
	}
	return endings, diff.Unified(before, after, a, b)
}

// commandLines returns a complete command with each line marked, so that none can imitate the
// question.
func commandLines(c *confirm.Command) string {
	how := ""
	switch {
	case c.Unconfined:
		how = " again without the sandbox"
	case c.Background:
		how = " in the background"
	}
	lines := strings.ReplaceAll(sanitize.Exact(strings.TrimRight(c.Line, "\n")), "\n", "\n  $ ")
	return fmt.Sprintf("Run%s in %s:\n  $ %s\n", how, sanitize.Name(c.Dir), lines)
}
