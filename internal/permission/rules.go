package permission

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/confirm"
	"github.com/bb2d0cf4/agent/internal/programs"
	"github.com/bb2d0cf4/agent/internal/workspace"
)

// Rules are the rules in force, in any order.
type Rules []Rule

// answer is the effect of the rules on one request. The zero value has none.
type answer struct {
	effect Effect
	rule   Rule   // that has the effect
	allows []Rule // with Allow: all that are needed for it
	why    string // for people, if no rule has it
	hides  Effect // with why: the strictest effect of the rules that it may get around
}

// refuse returns the refusal of a request that a rule denies. In the bypass mode, which
// asks nobody, it also refuses a command that cannot be compared with such rules.
func (a answer) refuse(mode Mode) (confirm.Verdict, bool) {
	v := confirm.Verdict{Rule: true}
	switch {
	case a.effect == Deny:
		v.By, v.Feedback = a.rule.by(), "Do something else, or tell the user why you need it."
	case mode == Bypass && a.hides == Deny:
		v.By, v.Feedback = "rules that deny commands", "It was not run because "+a.why+"."
	default:
		return v, false
	}
	return v, true
}

// reason explains to a person why a question is asked.
func (a answer) reason() string {
	if a.why != "" {
		return "You are asked because " + a.why + "."
	}
	return "You are asked because of the " + a.rule.by() + "."
}

// answer returns the effect of the strictest rule that covers req.
func (rs Rules) answer(req confirm.Request) answer {
	if len(rs) == 0 {
		return answer{}
	}
	switch s := req.Subject.(type) {
	case *confirm.Command:
		here := rs.in(s.Dir)
		a := here.command(*s)
		if a.effect == 0 {
			a = here.exactly(*s)
		}
		return a
	case *confirm.Edits:
		if !s.One() {
			return answer{} // the tools ask about each file first
		}
		return rs.change(s.Changes[0])
	case *confirm.Call:
		return rs.strictest(func(r Rule) bool { return r.coversCall(req.Tool) })
	case *confirm.Fetch:
		return rs.strictest(func(r Rule) bool { return r.coversHost(s.Host) })
	case *confirm.Read:
		return rs.file(reads, file{cmp.Or(s.Name, s.Path), s.Path})
	default:
		return answer{}
	}
}

// change returns the effect of the strictest rule about either path of a change. A move is
// allowed if rules that name paths allow both.
func (rs Rules) change(c workspace.Change) answer {
	a := rs.file(edits, file{c.Name, c.Path})
	switch {
	case c.Delete && a.effect == Allow:
		return answer{} // to write a file is not to remove it
	case !c.Moves() || a.effect == Deny:
		return a
	}
	there := file{c.ToName, c.To}
	if b := rs.file(edits, there); a.effect > Allow || b.effect > Allow {
		if a.effect > b.effect {
			return a
		}
		return b
	}
	named := slices.DeleteFunc(slices.Clone(rs), func(r Rule) bool { return r.path.text == "" })
	a, b := named.file(edits, file{c.Name, c.Path}), named.file(edits, there)
	if a.effect != Allow || b.effect != Allow {
		return answer{}
	}
	a.allows = append(a.allows, b.allows...)
	return a
}

// in returns the rules for commands that start in dir.
func (rs Rules) in(dir string) Rules {
	return slices.DeleteFunc(slices.Clone(rs), func(r Rule) bool { return r.Effect == Allow && r.Dir != "" && r.Dir != dir })
}

// withheld returns the rules that deny or ask about reading certain files. A rule without
// a path is only for what needs an answer anyway.
func (rs Rules) withheld() Rules {
	return slices.DeleteFunc(slices.Clone(rs), func(r Rule) bool { return r.kind != reads || r.Effect == Allow || r.path.text == "" })
}

func (rs Rules) file(k kind, f file) answer {
	return rs.strictest(func(r Rule) bool { return r.coversFile(k, f) })
}

// strictest returns the strictest of the rules that cover something.
func (rs Rules) strictest(covers func(Rule) bool) (best answer) {
	for _, r := range rs {
		if covers(r) && r.Effect > best.effect {
			best = answer{effect: r.Effect, rule: r, allows: []Rule{r}}
		}
	}
	return best
}

// command judges each simple command of a line by itself. It allows a line only if a rule
// allows each of its parts, apart from those that only read or enter the folder in which the
// line starts.
func (rs Rules) command(c confirm.Command) answer {
	var strict, allow answer
	open, withheld := false, len(rs.withheld()) > 0 // open: a part is not covered
	for _, p := range c.Parts {
		switch a := rs.part(p); {
		case a.effect > Allow:
			if a.effect > strict.effect {
				strict = a
			}
		case a.effect == Allow:
			allow = answer{effect: Allow, rule: a.rule, allows: append(allow.allows, a.rule)}
		case !stays(p, c.Dir) && (!p.Safe || withheld):
			open = true // a part that only reads may read what a rule withholds
		}
	}
	switch {
	case strict.effect > Allow:
		return strict
	case open:
		return answer{}
	}
	return allow
}

// stays reports whether a part of a line that starts in dir only enters dir.
func stays(p confirm.CommandPart, dir string) bool {
	return len(p.Words) == 2 && p.Words[0] == "cd" && dir != "" && p.Words[1] == dir
}

// part judges a part of a line.
func (rs Rules) part(p confirm.CommandPart) answer {
	a := rs.strictest(func(r Rule) bool { return r.coversPart(p) })
	evaded := rs.strictSome()
	if a.effect <= Allow && p.Hidden && evaded > Allow {
		about := map[Effect]string{Ask: "ask about", Deny: "deny"}[evaded]
		return answer{effect: Ask, why: "it runs something that cannot be compared with the rules that " + about + " commands", hides: evaded}
	}
	return a
}

// Covering is the rule that counts for a part of a command.
type Covering struct {
	Effect Effect // zero without one
	Rule   Rule
	Why    string // if no rule has the effect
}

// Covering returns the rule that counts for a part of a command that starts in dir. The
// rule may not decide about the whole line, see Policy.Decide.
func (rs Rules) Covering(dir string, p confirm.CommandPart) Covering {
	a := rs.in(dir).part(p)
	return Covering{a.effect, a.rule, a.why}
}

// exactly returns the effect of a rule for exactly the command c.
func (rs Rules) exactly(c confirm.Command) answer {
	return rs.strictest(func(r Rule) bool {
		return r.only.line != "" && r.only.line == c.Line && r.only.background == c.Background && r.Dir == c.Dir
	})
}

// strictSome returns the strictest effect of the rules for some commands, but not all.
func (rs Rules) strictSome() Effect {
	return rs.strictest(func(r Rule) bool { return r.kind == runs && len(r.words) > 0 }).effect
}

// coversPart reports whether r covers a part of a line. Rules that allow compare the words
// as they are; the others ignore the folder of the program, its case and its ending on Windows,
// as some systems do, and git's options before its command.
func (r Rule) coversPart(p confirm.CommandPart) bool {
	covered := r.coversWords(p.Words)
	if covered && r.Effect == Allow && r.words != nil && r.words[len(r.words)-1] == anyArgs {
		return !slices.ContainsFunc(p.Away, func(i int) bool { return i >= len(r.words)-1 })
	}
	if covered || r.Effect == Allow || len(p.Words) == 0 {
		return covered
	}
	base := append([]string{strings.ToLower(programs.Name(p.Words[0]))}, p.Words[1:]...)
	if len(r.words) > 0 {
		r.words = append([]string{strings.ToLower(programs.Name(r.words[0]))}, r.words[1:]...)
	}
	return r.coversWords(base) || r.coversWords(withoutGitOptions(base))
}

// withoutGitOptions removes the options before the command of git, such as -C folder.
func withoutGitOptions(words []string) []string {
	if words[0] != "git" {
		return words
	}
	return append([]string{"git"}, programs.GitCommand(words[1:])...)
}

// by names a rule for people.
func (r Rule) by() string {
	if r.isGrant() {
		return "granted for this session"
	}
	return fmt.Sprintf("rule %s %s (%s)", r.Effect, r, r.Source)
}

// isGrant reports whether a person made r without words of their own.
func (r Rule) isGrant() bool {
	return r.only != only{} || r.Kept == InSession && r.kind == edits && r.path.text == ""
}

// CheckExamples returns an error if r does not cover all of covers, or covers one of not:
// commands, or paths relative to a workspace. parts takes a command line apart.
func (r Rule) CheckExamples(covers, not []string, parts func(line string) []confirm.CommandPart) error {
	check := func(example string) bool {
		if r.kind == fetches {
			return r.coversHost(example)
		}
		if r.kind != runs {
			return r.coversFile(r.kind, file{filepath.ToSlash(example), example})
		}
		all := parts(example)
		missed := func(p confirm.CommandPart) bool { return !r.coversPart(p) }
		if r.Effect == Allow {
			return len(all) > 0 && !slices.ContainsFunc(all, missed)
		}
		return slices.ContainsFunc(all, r.coversPart)
	}
	var wrong []string
	for _, e := range covers {
		if !check(e) {
			wrong = append(wrong, fmt.Sprintf("it does not cover %q", e))
		}
	}
	for _, e := range not {
		if check(e) {
			wrong = append(wrong, fmt.Sprintf("it covers %q", e))
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%s: %s contradicts its examples: %s", r.Source, r, strings.Join(wrong, "; "))
	}
	return nil
}
