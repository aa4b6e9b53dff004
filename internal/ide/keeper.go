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
	try  *attempt // or nil
	link *link    // or nil
	pace pace
	// refused counts how often an editor refused the token of its lock file.
	refused map[run]int
	quick   int // links in a row to the run cut that ended early
	cut     run
	retry   *time.Timer
	work    crash.Group
}

// attempt is a search and a dial in progress.
type attempt struct {
	cancel context.CancelFunc
	out    chan result
	asked  *command // from a person who waits for the result; or nil
}

// result is the result of an attempt.
type result struct {
	link *link
	from lock.Candidate // zero if there was no editor to dial
	err  error
	why  string // why there was no editor to dial
}

// Run keeps the link until ctx ends. It returns when everything it began has ended,
// which takes less than two seconds.
func (b *Bridge) Run(ctx context.Context) {
	k := &keeper{b: b, pace: pace{jitter: b.opt.Clock.Jitter}, refused: map[run]int{}, retry: time.NewTimer(time.Hour)}
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
			k.execute(ctx, c)
		case t := <-k.result():
			k.finish(ctx, t)
		case <-k.lost():
			k.linkLost()
		case <-k.retry.C:
			k.begin(ctx, nil)
		case <-ticks.C:
			if awake.slept() {
				k.wake(ctx)
			}
		}
	}
}

func (k *keeper) result() <-chan result {
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

// end stops the attempt and closes the link.
func (k *keeper) end(ctx context.Context) {
	k.retry.Stop()
	k.abandon(context.Canceled)
	k.leave(ctx)
	k.work.Wait()
}

// execute carries out a person's command.
func (k *keeper) execute(ctx context.Context, c command) {
	k.abandon(errors.New("another command came in between"))
	k.retry.Stop()
	k.quick = 0
	k.pace.reset()
	clear(k.refused)
	if !c.connect {
		k.aim = aim{}
		k.leave(ctx)
		k.publish(Status{State: Off, Why: "disconnected; /ide connect links again"})
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

// abandon stops the current attempt.
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
	k.b.links.ended(false)
}

// leave closes the link, if any, after taking our diffs off the editor's screen.
func (k *keeper) leave(ctx context.Context) {
	if k.link != nil {
		k.link.tidy(ctx)
	}
	k.drop()
}

// drop closes the link, if any.
func (k *keeper) drop() {
	if k.link == nil {
		return
	}
	k.b.links.set(nil)
	k.link.close()
	k.link = nil
}

// begin starts to look for an editor and dial it in the background.
func (k *keeper) begin(ctx context.Context, asked *command) {
	if k.try != nil || k.link != nil || k.aim.kind == nothing {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	k.try = &attempt{cancel: cancel, out: make(chan result, 1), asked: asked}
	k.b.links.attempt()
	if asked != nil {
		k.publish(Status{State: Connecting})
	}
	aim, out, refused := k.aim, k.try.out, maps.Clone(k.refused)
	k.aim.asked = false
	k.work.Go(func() {
		found := k.b.Candidates(ctx)
		from, ok := aim.choose(found, refused)
		if !ok {
			out <- result{err: fmt.Errorf("%w: %s", ErrNoEditor, whyNone(found, refused)), why: whyNone(found, refused)}
			return
		}
		l, err := k.b.dial(ctx, from)
		out <- result{link: l, from: from, err: err}
	})
}

// finish evaluates an attempt.
func (k *keeper) finish(ctx context.Context, t result) {
	asked := k.try.asked
	k.try.cancel()
	k.try = nil
	again := false
	switch {
	case t.err == nil:
		k.linked(ctx, t.link)
	case errors.Is(t.err, ErrNoEditor):
		k.waitToRetry(t.why, lookAgain)
	default:
		k.pace.dialled(k.b.opt.Clock.Wall())
		if errors.Is(t.err, wire.ErrAuth) || errors.Is(t.err, wire.ErrImpostor) {
			// The lock file may have been older than the editor's token: read it once more.
			which := runOf(t.from)
			k.refused[which]++
			again = k.refused[which] < mostRefused
		}
		k.waitToRetry(fmt.Sprintf("%s could not be connected: %v", nameOf(t.from), t.err), longest)
	}
	k.b.links.ended(errors.Is(t.err, ErrNoEditor))
	if again && asked == nil {
		k.begin(ctx, nil)
	}
	if asked != nil {
		asked.done <- t.err
		if t.err != nil && k.aim.kind == chosen {
			k.retry.Stop()
			k.aim = aim{} // the person sees the error and can choose again
			k.publish(Status{State: Off, Why: k.b.Status().Why})
		}
	}
}

// linked installs a new link.
func (k *keeper) linked(ctx context.Context, l *link) {
	k.pace.dialled(k.b.opt.Clock.Wall())
	k.retry.Stop()
	k.link = l
	if !l.from.Auto {
		k.aim.kind = chosen // never replace the editor that a person chose
	}
	if k.aim.kind == chosen {
		k.aim.remember(l.from)
	}
	k.b.links.set(l)
	if l.ours() {
		l.begin(func() { k.b.Activity.Show(ctx, l.client, l.session) })
		l.begin(func() { l.encodings.Run(ctx) })
	}
	k.publish(Status{State: Connected, Editor: l.from, Info: l.client.Info(), Since: l.since})
}

// waitToRetry schedules the next attempt, the limit of dials aside within most.
func (k *keeper) waitToRetry(why string, most time.Duration) {
	k.pace.failed()
	k.retry.Reset(k.pace.wait(k.b.opt.Clock.Wall(), most))
	k.publish(Status{State: Looking, Why: why})
}

// linkLost handles a link that ended by itself: it looks for the editor again, whose
// port and token may have changed. If several links in a row to the same run of it end
// right after they were made, another session is taking them over, and linkLost does not
// fight it. A window that is loaded again ends its link likewise, but is another run then.
func (k *keeper) linkLost() {
	name, stood, err := k.link.name(), k.b.opt.Clock.Wall().Sub(k.link.since), k.link.client.Err()
	lost := runOf(k.link.from)
	k.drop()
	switch {
	case stood >= settled:
		k.quick = 0
		k.pace.reset()
	case lost != k.cut:
		k.quick = 1
	default:
		k.quick++
	}
	k.cut = lost
	if k.quick >= mostLost {
		k.aim = aim{}
		k.publish(Status{State: Off, Why: name + " ends the link at once, so another session seems to use it; /ide connect tries again"})
		return
	}
	why := "the link to " + name + " was lost"
	if err != nil {
		why += ": " + err.Error()
	}
	k.waitToRetry(why, lookAgain)
}

// wake checks the link after the machine has slept: it replaces a dead link at once.
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
			l.client.Close() // handled like any other loss
		}
	})
}

// publish sets the status and notifies the face of a change.
func (k *keeper) publish(s Status) {
	was := k.b.status.get()
	k.b.status.set(s)
	if s.State == Connected || s.State != was.State || s.Why != was.Why {
		k.b.opt.Face.changed()
	}
	if s.State == Connected || s.State == Off {
		k.b.opt.Face.linked()
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

// events returns the handlers of the editor's notifications.
func (b *Bridge) events(l *link) client.Events {
	return client.Events{
		Selection: func(s client.Selection) {
			l.mu.Lock()
			l.seen.selection, l.seen.initialized, l.seen.old = s, true, false
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
