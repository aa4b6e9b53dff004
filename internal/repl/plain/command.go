package plain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/nearest"
	"github.com/bb2d0cf4/agent/internal/plural"
	"github.com/bb2d0cf4/agent/internal/repl/diffview"
	"github.com/bb2d0cf4/agent/internal/repl/pager"
	"github.com/bb2d0cf4/agent/internal/sanitize"
)

const help = `Each line is a prompt. ! runs a command line, and the path of an image attaches it.
/help shows this, /quit or the end of the input exits, and an interrupt (Ctrl+C)
stops the model, or a command.
`

// width is the width of the help: the terminal's is unknown.
const width = 79

// own lists the commands of this interface.
var own = []command.Command{
	{Name: "help", Help: "this", Group: command.Program},
	{Name: "cost", Help: "show the tokens and cost so far", Group: command.Model},
	{Name: "quit", Help: "exit", Group: command.Program},
}

// command runs a command.
func (u *UI) command(ctx context.Context, name, args string) (leave bool) {
	list := command.All(command.Sort(append(own[:len(own):len(own)], u.opt.Commands...)), u.opt.Served)
	names := make([]string, len(list))
	for i, c := range list {
		if names[i] = c.Name; c.Name == name && c.Run != nil {
			u.do(ctx, func(ctx context.Context) (command.Reply, error) { return c.Run(ctx, args) })
			return false
		}
	}
	if u.opt.Served != nil {
		if c, ok := u.opt.Served.Find(name); ok {
			u.do(ctx, func(ctx context.Context) (command.Reply, error) { return c.Run(ctx, args) })
			return false
		}
	}
	switch near := nearest.Name(name, names); {
	case name == "quit":
		return u.leaves("/quit")
	case name == "cost":
		u.mu.Lock()
		spent := u.spent
		spent.Total = u.used
		u.mu.Unlock()
		if u.opt.Today != nil {
			spent.Today, spent.Limit = u.opt.Today()
		}
		u.say(sanitize.Text(command.Cost(spent, false)) + "\n")
	case name == "help":
		u.say(help + "\n" + sanitize.Text(command.Help(list, width)))
	case near != "":
		u.say("There is no /" + sanitize.Line(name) + " here; did you mean /" + near + "?\n")
	default:
		u.say("There is no /" + sanitize.Line(name) + " here; /help lists the commands.\n")
	}
	return false
}

// leaves reports whether the person may exit. Before the first exit that would end commands in
// the background it warns instead. again is the command to repeat; empty for a key.
func (u *UI) leaves(again string) bool {
	if u.opt.Status == nil || u.told {
		return true
	}
	jobs := u.opt.Status().Lines()
	if len(jobs) == 0 {
		return true
	}
	u.told = true
	u.say(u.opt.label("! ", "note") + plural.Of(len(jobs), "job") + " still running: " + sanitize.Line(strings.Join(jobs, ", ")) + ". " +
		cmp.Or(again, "The same key") + " again ends it and exits; /tasks shows it.\n")
	return false
}

// do runs a step of a command and carries out its reply, until no step follows.
func (u *UI) do(ctx context.Context, step func(context.Context) (command.Reply, error)) {
	for step != nil {
		var r command.Reply
		var err error
		u.stoppable(ctx, func(ctx context.Context) { r, err = step(ctx) })
		if errors.Is(err, context.Canceled) {
			u.say("Cancelled.\n")
			return
		}
		if err != nil {
			u.say(u.opt.label("! ", "error") + sanitize.Text(err.Error()) + "\n")
			return
		}
		u.reply(r)
		step = nil
		switch {
		case r.Pick != nil:
			step = u.pick(ctx, *r.Pick)
		case r.Edit != nil:
			u.say("! Editing needs a full terminal.\n")
		case r.Prompt != "":
			u.say(u.opt.label("> ", "you") + sanitize.Text(r.Prompt) + "\n")
			u.turn(ctx, r.Prompt)
		}
	}
}

// reply prints the result of a command.
func (u *UI) reply(r command.Reply) {
	if r.Session != nil {
		u.sess = r.Session
		if n := len(r.Session.Items()); n > 0 {
			u.say(fmt.Sprintf("Session resumed: %d messages.\n", n))
		}
	}
	if r.Text != "" {
		u.say(strings.TrimSuffix(sanitize.Text(r.Text), "\n") + "\n")
	}
	if r.Diff != "" {
		u.say(page(pager.Page{Doc: diffview.Doc(r.Diff)}))
	}
	if r.Page != nil {
		u.say(page(*r.Page))
	}
	if r.Copy != "" {
		u.say("! Cannot copy: this terminal may only support printing lines.\n")
	}
	if r.Insert != "" {
		u.say("The prompt was: " + sanitize.Text(r.Insert) + "\n")
	}
}

// maxPage is the maximum number of lines printed of a page.
const maxPage = 2000

// page returns the start of a page as text.
func page(p pager.Page) string {
	var b strings.Builder
	if p.Title != "" {
		b.WriteString(sanitize.Line(p.Title) + "\n")
	}
	n := min(p.Doc.Len(), maxPage)
	for i := range n {
		b.WriteString(sanitize.Text(p.Doc.Text(i)) + "\n")
	}
	if more := p.Doc.Len() - n; more > 0 {
		fmt.Fprintf(&b, "(%s more lines)\n", plural.Grouped(more))
	}
	return b.String()
}

// pick lists choices by number and asks for one; it returns nil for none.
func (u *UI) pick(ctx context.Context, p command.Pick) func(context.Context) (command.Reply, error) {
	var b strings.Builder
	title := sanitize.Line(p.Title)
	if !strings.HasSuffix(title, "?") {
		title += ":"
	}
	b.WriteString(title + "\n")
	for i, c := range p.Items {
		row := strings.Join(append([]string{c.Title, c.Detail}, c.Cells...), "  ")
		fmt.Fprintf(&b, "%4d  %s\n", i+1, strings.TrimSpace(sanitize.Line(row)))
	}
	u.say(b.String())
	from := time.Now().Add(guard)
	for {
		u.say(fmt.Sprintf("Which? [1 to %d, or an empty line for none] ", len(p.Items)))
		e, err := u.typed.next(ctx, from, u.opt.Interrupt)
		switch {
		case err != nil: // end of input, or an interrupt
			if errors.Is(err, io.EOF) && u.opt.Again {
				u.typed.goOn(from)
			}
			u.say("\n")
			return nil
		case u.opt.Echo:
			u.say(sanitize.Line(e.text) + "\n")
		}
		text := strings.TrimSpace(e.text)
		if text == "" {
			return nil
		}
		if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(p.Items) {
			id := p.Items[n-1].ID
			return func(ctx context.Context) (command.Reply, error) { return p.Choose(ctx, id) }
		}
		u.say(sanitize.Line(text) + " is not one of the numbers.\n")
	}
}
