// Package ptytest runs programs on a terminal for tests: a real pty with a model
// terminal (see vt) at its other end. It guarantees that a test waits for the screen
// and never for time, that nothing outlives the test, that a failed wait shows the
// screen, and that a program that changes finished rows fails the test.
package ptytest
