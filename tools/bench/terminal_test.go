//go:build linux

package main

import (
	"testing"
	"time"
)

// TestNoticeIsSeen: a noticed text is seen once it has appeared, also in two pieces between which a key is typed. A flood
// would else be typed into forever.
func TestNoticeIsSeen(t *testing.T) {
	var term terminal
	term.note(endMark)
	half := len(endMark) / 2
	term.took([]byte("this is \x1b[1m"+endMark[:half]), time.Now())
	if term.noted() {
		t.Error("half of it is taken for the whole")
	}
	term.expect("key")
	term.took([]byte(endMark[half:]+"\r\n"), time.Now())
	if !term.noted() {
		t.Error("it was not seen")
	}
	for range 100 {
		term.took([]byte("more"), time.Now())
	}
	if !term.noted() {
		t.Error("it is forgotten")
	}
}
