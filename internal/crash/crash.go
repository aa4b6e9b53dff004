// Package crash restores the terminal before a panic ends the program. It guarantees
// that, in whichever guarded goroutine the panic happens, the function given to Hold has
// run before the runtime reports the panic, and that the panic itself is neither hidden
// nor changed. A test of the architecture ensures that every goroutine of the program is
// guarded.
package crash

import (
	"sync"
	"sync/atomic"
)

// restore is the function to run on a panic, or nil. It is a variable of the process
// because a panic may happen anywhere.
var restore atomic.Pointer[func()]

// Hold sets the function that runs when a goroutine panics, until release is called. f
// may be called from any goroutine, and more than once. A second Hold replaces the first.
func Hold(f func()) (release func()) {
	restore.Store(&f)
	return func() { restore.CompareAndSwap(&f, nil) }
}

// Guard must be the first deferred call of a goroutine.
func Guard() {
	if r := recover(); r != nil {
		if f := restore.Load(); f != nil {
			(*f)()
		}
		panic(r)
	}
}

// Guarded returns f with a Guard, for a goroutine that others start, such as a timer's.
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
