// Package crash gives the terminal back before a panic ends the program. It
// guarantees that, in whichever guarded goroutine the panic happens, what Hold was
// given has run before the runtime says what happened, and that the panic itself is
// neither hidden nor changed. A test of the architecture sees to it that every
// goroutine of the program is guarded.
package crash

import (
	"sync"
	"sync/atomic"
)

// restore is what a panic has to undo; nil: nothing. A panic may happen anywhere,
// and knows of nobody: hence a variable of the process.
var restore atomic.Pointer[func()]

// Hold has f run when a goroutine panics, until release is called. f may be called
// from any goroutine, and more than once. There is one f at a time.
func Hold(f func()) (release func()) {
	restore.Store(&f)
	return func() { restore.CompareAndSwap(&f, nil) }
}

// Guard is deferred first in a goroutine.
func Guard() {
	if r := recover(); r != nil {
		if f := restore.Load(); f != nil {
			(*f)()
		}
		panic(r)
	}
}

// Guarded returns f for a goroutine that somebody else begins: a timer, say.
func Guarded(f func()) func() {
	return func() {
		defer Guard()
		f()
	}
}

// Group is a sync.WaitGroup whose goroutines are guarded.
type Group struct{ group sync.WaitGroup }

// Go runs f in a goroutine of the group.
func (g *Group) Go(f func()) { g.group.Go(Guarded(f)) }

// Wait waits for all goroutines of the group.
func (g *Group) Wait() { g.group.Wait() }
