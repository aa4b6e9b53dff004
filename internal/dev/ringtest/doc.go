// Package ringtest runs a real keyring for tests: gnome-keyring on a message bus of its own.
// It guarantees that a test reaches no keyring of the person who runs it, and that nothing
// outlives the test.
package ringtest
