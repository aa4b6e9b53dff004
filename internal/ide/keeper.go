package ide

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/bb2d0cf4/agent/internal/crash"
	"github.com/bb2d0cf4/agent/internal/ide/client"
	"github.com/bb2d0cf4/agent/internal/ide/lock"
	"github.com/bb2d0cf4/agent/internal/ide/wire"
)

const (
	// wakeCheck is how often Run checks whether the machine has slept.
	wakeCheck = 10 * time.Second
	// alive is how long an editor has to answer after the machine has slept.
	alive = 2 * time.Second
)

// keeper is the state of a running Bridge. The goroutine of Run owns it.
type keeper struct {
	b    *Bridge
	aim  aim
	try  *attempt // under way, or nil
	link *link    // nil while there is none
	pace pace
	// refused counts how often an editor did not take the token of its lock.
	refused map[unwelcome]int
	quick   int // links in a row that ended soon
	retry   *time.Timer
	work    crash.Group
}

// attempt is a search and a dial that are under way.
type attempt struct {
	cancel context.CancelFunc
	out    chan tried
	asked  *command // a person waits for it
}

// tried is what an attempt came to.
type tried struct {
	link *link
	from lock.Candidate // the zero Candidate if there was none to dial
	err  error
	why  string // if there was none to dial, why
}

// Run keeps the link until ctx ends. It returns when all that it began has
// ended: within the two seconds that closing takes.
func (b *Bridge) Run(ctx context.Context) {
	k := &keeper{b: b, pace: pace{jitter: b.opt.Clock.Jitter}, refused: map[unwelcome]int{}, retry: time.NewTimer(time.Hour)}
	defer k.end(ctx)
	if b.opt.Auto {
		k.aim = aim{kind: best}
		k.begin(ctx, nil)
	}
	ticks := time.NewTicker(wakeCheck)
	defer ticks.Stop()
	awake := b.newNap()
	for {
		select {
		case <-ctx.Done():
			return
		case c := <-b.commands:
			k.obey(ctx, c)
		case t := <-k.tried():
			k.take(ctx, t)
		case <-k.lost():
			k.loss()
		case <-k.retry.C:
			k.begin(ctx, nil)
		case <-ticks.C:
			if awake.slept() {
				k.wake(ctx)
			}
		}
	}
}

func (k *keeper) tried() <-chan tried {
	if k.try == nil {
		return nil
	}
	return k.try.out
}

func (k *keeper) lost() <-chan struct{} {
	if k.link == nil {
		return nil
	}
	return k.link.client.Done()
}

// end leaves nothing behind.
func (k *keeper) end(ctx context.Context) {
	k.retry.Stop()
	k.abandon(context.Canceled)
	k.leave(ctx)
	k.work.Wait()
}

// obey does what a person asked for.
func (k *keeper) obey(ctx context.Context, c command) {
	k.abandon(errors.New("another command came in between"))
	k.retry.Stop()
	k.quick = 0
	k.pace.reset()
	clear(k.refused)
	if !c.connect {
		k.aim = aim{}
		k.leave(ctx)
		k.say(Status{State: Off, Why: "disconnected; /ide connect links again"})
		c.done <- nil
		return
	}
	k.aim = aim{kind: best, asked: true}
	if c.path != "" {
		k.aim = aim{kind: chosen, asked: true, path: c.path}
	}
	k.leave(ctx)
	k.begin(ctx, &c)
}

// abandon ends the attempt that is under way.
func (k *keeper) abandon(why error) {
	if k.try == nil {
		return
	}
	k.try.cancel()
	if t := <-k.try.out; t.link != nil {
		t.link.close()
	}
	if k.try.asked != nil {
		k.try.asked.done <- why
	}
	k.try = nil
	k.b.now.ended(false)
}

// leave ends the link, if there is one, with nothing of ours left on the editor's
// screen.
func (k *keeper) leave(ctx context.Context) {
	if k.link != nil {
		k.link.tidy(ctx)
	}
	k.drop()
}

// drop ends the link, if there is one.
func (k *keeper) drop() {
	if k.link == nil {
		return
	}
	k.b.now.set(nil)
	k.link.close()
	k.link = nil
}

// begin looks for an editor and dials it, beside everything else.
func (k *keeper) begin(ctx context.Context, asked *command) {
	if k.try != nil || k.link != nil || k.aim.kind == nothing {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	k.try = &attempt{cancel: cancel, out: make(chan tried, 1), asked: asked}
	k.b.now.attempt()
	if asked != nil {
		k.say(Status{State: Connecting})
	}
	aim, out, refused := k.aim, k.try.out, maps.Clone(k.refused)
	k.aim.asked = false
	k.work.Go(func() {
		found := k.b.Candidates(ctx)
		from, ok := aim.choose(found, refused)
		if !ok {
			out <- tried{err: fmt.Errorf("%w: %s", ErrNoEditor, whyNone(found, refused)), why: whyNone(found, refused)}
			return
		}
		l, err := k.b.dial(ctx, from)
		out <- tried{link: l, from: from, err: err}
	})
}

// take takes up the outcome of an attempt.
func (k *keeper) take(ctx context.Context, t tried) {
	asked := k.try.asked
	k.try.cancel()
	k.try = nil
	again := false
	switch {
	case t.err == nil:
		k.up(ctx, t.link)
	case errors.Is(t.err, ErrNoEditor):
		k.idle(t.why)
	default:
		k.pace.dialled(k.b.opt.Clock.Wall())
		if errors.Is(t.err, wire.ErrAuth) || errors.Is(t.err, wire.ErrImpostor) {
			// The lock may have been older than the editor's token: it is read once more.
			which := unwelcome{t.from.Path, t.from.File.Credential()}
			k.refused[which]++
			again = k.refused[which] < mostRefused
		}
		k.idle(fmt.Sprintf("%s could not be connected: %v", nameOf(t.from), t.err))
	}
	k.b.now.ended(errors.Is(t.err, ErrNoEditor))
	if again && asked == nil {
		k.begin(ctx, nil)
	}
	if asked != nil {
		asked.done <- t.err
		if t.err != nil && k.aim.kind == chosen {
			k.retry.Stop()
			k.aim = aim{} // a person is told and can choose again
			k.say(Status{State: Off, Why: k.b.Status().Why})
		}
	}
}

// up takes up a new link.
func (k *keeper) up(ctx context.Context, l *link) {
	k.pace.dialled(k.b.opt.Clock.Wall())
	k.retry.Stop()
	k.link = l
	if !l.from.Auto {
		k.aim.kind = chosen // no other one takes the place of what a person chose
	}
	if k.aim.kind == chosen {
		k.aim.remember(l.from)
	}
	k.b.now.set(l)
	if l.ours() {
		l.begin(func() { k.b.Activity.Show(ctx, l.client, l.session) })
		l.begin(func() { l.encodings.Run(ctx) })
	}
	k.say(Status{State: Connected, Editor: l.from, Info: l.client.Info(), Since: l.since})
}

// idle waits before the next attempt.
func (k *keeper) idle(why string) {
	k.pace.failed()
	k.retry.Reset(k.pace.wait(k.b.opt.Clock.Wall()))
	k.say(Status{State: Looking, Why: why})
}

// loss takes note that the link has ended by itself, and looks for the editor
// again: its port and its token may be others now. Links that end again and again
// right after they were made are taken over by another session: no fight.
func (k *keeper) loss() {
	name, stood, err := k.link.name(), k.b.opt.Clock.Wall().Sub(k.link.since), k.link.client.Err()
	k.drop()
	if stood >= settled {
		k.quick = 0
		k.pace.reset()
	} else {
		k.quick++
	}
	if k.quick >= mostLost {
		k.aim = aim{}
		k.say(Status{State: Off, Why: name + " ends the link at once, so another session seems to use it; /ide connect tries again"})
		return
	}
	why := "the link to " + name + " was lost"
	if err != nil {
		why += ": " + err.Error()
	}
	k.idle(why)
}

// wake looks after the link when the machine has slept: a link that is dead is
// replaced, and no waiting goes on.
func (k *keeper) wake(ctx context.Context) {
	if k.link == nil {
		if k.aim.kind != nothing {
			k.pace.reset()
			k.begin(ctx, nil)
		}
		return
	}
	l := k.link
	k.work.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, alive)
		defer cancel()
		if l.client.Probe(ctx) != nil {
			l.client.Close() // the loss is noticed like any other
		}
	})
}

// say publishes the status.
func (k *keeper) say(s Status) {
	was := k.b.status.get()
	k.b.status.set(s)
	if s.State == Connected || s.State != was.State || s.Why != was.Why {
		k.b.opt.Face.changed()
	}
}

// dial connects to an editor.
func (b *Bridge) dial(ctx context.Context, from lock.Candidate) (*link, error) {
	l := &link{from: from, left: &b.left}
	o := b.opt.Connect
	o.Events = b.events(l)
	l.session = b.Activity.Session()
	o.Session = l.session
	c, err := client.Connect(ctx, from, o)
	if err != nil {
		return nil, err
	}
	l.client, l.encodings, l.since = c, client.NewEncodings(c), b.opt.Clock.Wall()
	l.clear(ctx)
	return l, nil
}

// events hands on what the editor tells.
func (b *Bridge) events(l *link) client.Events {
	return client.Events{
		Selection: func(s client.Selection) {
			l.mu.Lock()
			l.seen.selection, l.seen.told = s, true
			l.seen.serial++
			l.mu.Unlock()
			b.opt.Face.changed()
		},
		Mention: func(m client.Mention) {
			if b.opt.Face.Mention != nil {
				b.opt.Face.Mention(m.Path, m.StartLine, m.EndLine)
			}
		},
		Draft: func(c client.DraftChange) { b.Reviewer.drafted(l, c) },
	}
}
