package permission

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
)

// Judge takes a command line apart, and reports whether it is dangerous.
type Judge func(line string) (parts []confirm.CommandPart, danger bool)

// CheckRule returns the rule with the given text, which a person wants to make with the
// answer to req, a command or a call. The error explains to them why they cannot: the text is
// invalid, the rule does not allow req, or its arguments are freer than a look at one
// command can justify.
func (p *Policy) CheckRule(req confirm.Request, text string, judge Judge) (Rule, error) {
	r, err := ParseRule(Allow, text, "")
	switch {
	case err != nil:
		return r, bare(err)
	case req.Call != nil:
		return r, p.checkCall(req, r)
	case req.Force || req.Command == nil:
		return r, errors.New("this is asked about each time")
	case r.kind != runs:
		return r, errors.New("this question is about a command: write run(COMMAND)")
	case len(r.words) == 0:
		return r, errors.New("it covers every command: name the program")
	}
	if err := r.checkWidth(judge); err != nil {
		return r, err
	}
	if with := (Rules{r}).in(req.Command.Dir).command(req.Command.Parts); with.effect != Allow {
		return r, errors.New("it does not cover this command")
	}
	return r, p.checkEffect(req, r)
}

// checkCall is CheckRule for the call of a server's tool.
func (p *Policy) checkCall(req confirm.Request, r Rule) error {
	switch {
	case r.kind != calls:
		return errors.New("this question is about a tool: write mcp__SERVER__TOOL")
	case !r.coversCall(req.Tool):
		return errors.New("it does not cover this tool")
	}
	return p.checkEffect(req, r)
}

// checkEffect returns an error if a stricter rule counts more than r.
func (p *Policy) checkEffect(req confirm.Request, r Rule) error {
	if now := slices.Concat(p.Rules(), Rules{r}).answer(req); now.effect != Allow {
		return errors.New(strings.TrimSuffix(strings.Replace(now.reason(), "You are asked", "it has no effect", 1), "."))
	}
	return nil
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
	case len(fixed) == 1 && !slices.ContainsFunc(freeArguments, func(free []string) bool { return slices.Equal(free, fixed) }):
		return fmt.Errorf("it covers whatever %s can do: keep its first argument", fixed[0])
	}
	for _, words := range [][]string{fixed, append(slices.Clone(fixed), "a")} {
		if !r.coversWords(words) {
			continue
		}
		line := joinWords(words)
		parts, danger := judge(line)
		switch {
		case danger:
			return fmt.Errorf("it also covers %s, which is asked about each time", line)
		case slices.ContainsFunc(parts, func(p confirm.CommandPart) bool { return p.Hidden }):
			return fmt.Errorf("it also covers %s, which runs what its words do not show", line)
		}
	}
	return nil
}
