package permission

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/programs"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Missing returns the narrowest useful rules that allow req besides rs, one for each simple
// command that does not only read and that no rule allows. It returns none if no rule can
// allow req: it must be looked at each time, or its words do not show all that it runs.
func (rs Rules) Missing(req confirm.Request) []Rule {
	if req.Force {
		return nil
	}
	switch s := req.Subject.(type) {
	case *confirm.Command:
		return rs.missing(s)
	case *confirm.Edits:
		if s.One() {
			return proposeEdit(s.Changes[0])
		}
		return nil
	case *confirm.Read:
		return proposal(reads, s.Path)
	case *confirm.Fetch:
		r, err := ParseRule(Allow, "fetch("+s.Host+")", "")
		if err != nil {
			return nil
		}
		return []Rule{r}
	case *confirm.Call:
		return []Rule{{Effect: Allow, kind: calls, tool: req.Tool}}
	default:
		return nil
	}
}

// missing is Missing for a command.
func (rs Rules) missing(c *confirm.Command) []Rule {
	var all []Rule
	for _, p := range rs.in(c.Dir).open(*c) {
		r, ok := proposeFor(p)
		if !ok {
			return nil
		}
		if !slices.ContainsFunc(all, func(have Rule) bool { return have.String() == r.String() }) {
			all = append(all, r)
		}
	}
	return all
}

// open returns the parts of c that do not only read and that no rule allows.
func (rs Rules) open(c confirm.Command) (parts []confirm.CommandPart) {
	for _, p := range c.Parts {
		if !p.Safe && !stays(p, c.Dir) && rs.part(p).effect != Allow {
			parts = append(parts, p)
		}
	}
	return parts
}

// OnlyOpen returns the one rule that req lacks, which a person may make with the answer, and,
// if req is a line of several commands, the words of the one that the rule is for. A line
// lacks one rule if the others of its commands only read or are allowed. No rule is returned
// for a line with a command that gives others another meaning: the person sees the others
// with that meaning, and the rule would count without.
func (p *Policy) OnlyOpen(req confirm.Request) (rule Rule, part string, ok bool) {
	all := p.Proposals(req)
	if len(all) != 1 {
		return Rule{}, "", false
	}
	c, ok := req.Subject.(*confirm.Command)
	if !ok || len(c.Parts) == 1 {
		return all[0], "", true
	}
	for _, part := range c.Parts {
		if len(part.Words) > 0 && programs.Find(part.Words[0]).Is.Has(programs.Moves) && !stays(part, c.Dir) {
			return Rule{}, "", false
		}
	}
	for _, open := range p.Rules().in(c.Dir).open(*c) {
		part = joinWords(open.Words)
	}
	return all[0], part, true
}

// proposeEdit returns the rules for a change of a file: none for its removal, two for a move.
func proposeEdit(c workspace.Change) []Rule {
	if c.Delete {
		return nil
	}
	all := proposal(edits, c.Name)
	if !c.Moves() || all == nil {
		return all
	}
	to := proposal(edits, c.ToName)
	if to == nil {
		return nil
	}
	return append(all, to...)
}

// proposal returns the rule for one file; none if its name holds the characters of a glob.
func proposal(k kind, name string) []Rule {
	name = filepath.ToSlash(name)
	r, err := ParseRule(Allow, kindNames[k]+"("+name+")", "")
	if err != nil || strings.ContainsAny(name, `*?[{\`) {
		return nil
	}
	return []Rule{r}
}

func proposeFor(p confirm.CommandPart) (Rule, bool) {
	words := p.Words
	if p.Hidden || p.Piped || len(words) == 0 || words[len(words)-1] == anyArgs || words[len(words)-1] == anyRest {
		return Rule{}, false
	}
	if n := programs.Find(words[0]).FreeAfter(words); n > 0 && len(words) > n {
		if r, ok := ruleFor(p, withoutArguments(words, n)); ok {
			return r, true
		}
	}
	return ruleFor(p, words)
}

// ruleFor returns the rule with the given words if it allows p.
func ruleFor(p confirm.CommandPart, words []string) (Rule, bool) {
	r, err := ParseRule(Allow, "run("+joinWords(words)+")", "")
	return r, err == nil && r.coversPart(p) && slices.Equal(r.words, words)
}

// withoutArguments replaces the arguments at the end of words, after the first fixed
// ones, by a *. Words before an option stay. All stay if an option has no = and so may
// take a word as its value.
func withoutArguments(words []string, fixed int) []string {
	end := len(words)
	for end > fixed && !strings.HasPrefix(words[end-1], "-") {
		end--
	}
	if end == len(words) || slices.ContainsFunc(words[fixed:end], func(w string) bool { return strings.HasPrefix(w, "-") && !strings.Contains(w, "=") }) {
		return words
	}
	return append(slices.Clone(words[:end]), anyArgs)
}
