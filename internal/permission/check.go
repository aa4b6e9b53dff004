package permission

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/programs"
	"github.com/bb2d0cf4/agent/internal/shellline"
)

// Judge takes a command line apart, and reports whether it is dangerous.
type Judge func(line string) (parts []confirm.CommandPart, danger bool)

// CheckRule returns the rule with the given text, which a person wants to make with the
// answer to req. The error explains to them why they cannot: the text is invalid, the rule
// does not allow req, or it is wider than a look at one request can justify.
func (p *Policy) CheckRule(req confirm.Request, text string, judge Judge) (Rule, error) {
	r, err := ParseRule(Allow, text, "")
	if err != nil {
		return r, bare(err)
	}
	if err := r.checkKind(req, judge); err != nil {
		return r, err
	}
	if !r.completes(p.Rules(), req) {
		return r, errors.New("it does not cover this " + map[kind]string{runs: "command", edits: "file", reads: "file", calls: "tool", fetches: "host"}[r.kind])
	}
	return r, p.checkEffect(req, r)
}

// checkKind returns an error if a rule like r cannot be made with the answer to req.
func (r Rule) checkKind(req confirm.Request, judge Judge) error {
	if req.Once() {
		return errors.New("it asks every time")
	}
	switch s := req.Subject.(type) {
	case *confirm.Command:
		return r.checkCommand(judge)
	case *confirm.Call:
		return r.checkCall()
	case *confirm.Fetch:
		return r.checkHost()
	case *confirm.Edits:
		return r.checkFile(edits, "an edit", s.Changes[0].Name)
	case *confirm.Read:
		return r.checkFile(reads, "reading", s.Path)
	default:
		return errors.New("no rule covers this")
	}
}

// checkCall returns an error if r is no rule for one tool of a server.
func (r Rule) checkCall() error {
	switch {
	case r.kind != calls:
		return errors.New("this question is about a tool: write mcp__SERVER__TOOL")
	case !r.namesTool():
		return errors.New("it covers every tool of a server: name one")
	}
	return nil
}

// checkEffect returns an error if a stricter rule counts more than r.
func (p *Policy) checkEffect(req confirm.Request, r Rule) error {
	if now := slices.Concat(p.Rules(), Rules{r}).answer(req); now.effect != Allow {
		return errors.New(strings.TrimSuffix(strings.Replace(now.reason(), "You are asked", "it has no effect", 1), "."))
	}
	return nil
}

// completes reports whether r covers req, or all that other rules leave open of it.
func (r Rule) completes(rules Rules, req confirm.Request) bool {
	c, ok := req.Subject.(*confirm.Command)
	if !ok {
		return Rules{r}.answer(req).effect == Allow
	}
	open := rules.in(c.Dir).open(*c)
	return len(open) > 0 && !slices.ContainsFunc(open, func(p confirm.CommandPart) bool { return !r.coversPart(p) })
}

// checkFile returns an error if r is no rule of kind k, which is about the subject, or if it
// covers files anywhere. name is the file of the request.
func (r Rule) checkFile(k kind, subject, name string) error {
	root := ""
	if filepath.IsAbs(name) {
		root = filepath.VolumeName(name) + "/"
	}
	everywhere := r.kind == k
	for _, probe := range []string{"0/0", "1/1"} {
		everywhere = everywhere && r.coversFile(k, file{root + probe, root + probe})
	}
	switch {
	case r.kind != k:
		return fmt.Errorf("this question is about %s: write %s(PATH)", subject, kindNames[k])
	case everywhere || r.path.namesNothing():
		return errors.New("it covers every file: name a folder or an ending")
	case root == "" && r.path.abs:
		return errors.New("write the path relative to the folder")
	}
	return nil
}

var (
	escaped     = lazyregexp.New(`\\.`)
	class       = lazyregexp.New(`\[[^\]]*\]`)
	alternation = lazyregexp.New(`\{[^{}]*\}`)
)

// maxAlternatives is the number of alternatives in braces up to which a glob is examined.
const maxAlternatives = 64

// namesNothing reports whether an alternative of a glob has only wildcards, as [!x]*/** has.
func (p pattern) namesNothing() bool {
	if !strings.ContainsAny(p.text, "*?[{") {
		return false
	}
	text := filepath.ToSlash(p.text)
	rest := []string{escaped.ReplaceAllString(text[len(filepath.VolumeName(text)):], "x")}
	for n := 0; len(rest) > 0; n++ {
		text := rest[0]
		rest = rest[1:]
		if at := alternation.FindStringIndex(text); at != nil {
			for either := range strings.SplitSeq(text[at[0]+1:at[1]-1], ",") {
				rest = append(rest, text[:at[0]]+either+text[at[1]:])
			}
		} else if strings.Trim(class.ReplaceAllString(text, ""), "*?/.~") == "" {
			return true
		}
		if n > maxAlternatives {
			return true
		}
	}
	return false
}

// checkCommand returns an error if r is no rule for commands, or a wide one.
func (r Rule) checkCommand(judge Judge) error {
	switch {
	case r.kind != runs:
		return errors.New("this question is about a command: write run(COMMAND)")
	case len(r.words) == 0:
		return errors.New("it covers every command: name the program")
	}
	return r.checkWidth(judge)
}

// shellWords returns words as a line for a shell.
func shellWords(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = joinWords([]string{w}); i > 0 && out[i] == w && strings.ContainsAny(w, "()[]{}*?~#!") {
			out[i] = shellline.Quote(w)
		}
	}
	return strings.Join(out, " ")
}

// bare returns an error of ParseRule without the text of the rule, which the person sees.
func bare(err error) error {
	if cause := errors.Unwrap(err); cause != nil {
		return cause
	}
	_, why, _ := strings.Cut(err.Error(), `": `)
	return errors.New(why)
}

// checkWidth returns an error if the end of r lets a command be more than its class was
// judged by: any option, any action of a program, or another program.
func (r Rule) checkWidth(judge Judge) error {
	fixed, last := r.words[:len(r.words)-1], r.words[len(r.words)-1]
	switch {
	case last == anyRest:
		return errors.New("** also covers every option: name the options, and end with * for other arguments")
	case last != anyArgs:
		fixed = r.words
	case len(fixed) == 1 && programs.Find(fixed[0]).FreeAfter(fixed) == 0:
		return fmt.Errorf("it covers whatever %s can do: keep its first argument", fixed[0])
	}
	for _, words := range [][]string{fixed, append(slices.Clone(fixed), "a")} {
		if !r.coversWords(words) {
			continue
		}
		line := shellWords(words)
		parts, danger := judge(line)
		switch {
		case danger:
			return fmt.Errorf("it also covers %s, which asks every time", line)
		case slices.ContainsFunc(parts, func(p confirm.CommandPart) bool { return p.Hidden }):
			return fmt.Errorf("it also covers %s, which runs what its words do not show", line)
		}
	}
	return nil
}
