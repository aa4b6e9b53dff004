// Package ptytest runs programs on a terminal for tests: a real pty whose other end
// is a model of a terminal (see vt). It guarantees that a test waits for what it sees
// on the screen and never for time to pass, that nothing outlives the test, that a
// wait that ends without success says what was on the screen, and that no program
// changes what it has finished.
package ptytest
