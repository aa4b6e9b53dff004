// Package early holds the work that has to be done before other packages initialize, each
// against a cost or a danger of theirs that a library leaves no other way around:
//
//   - It hides TERM and TMUX, because Lip Gloss examines the terminal when it initializes: it
//     runs "tmux info" from PATH with the whole environment, reads terminfo files and looks
//     up the user.
//   - It makes garbage collections rare, because the tables that Chroma builds when it
//     initializes leave so much garbage that two or three collections would take a sixth of
//     the processor time of a short run, to save a megabyte.
//   - It sets up the room of a command and waits for that, see package room. The others would
//     make each command wait, and hold memory as long as it runs.
//   - It lets a watchdog wait for its work. A watchdog needs none of the other packages until
//     then, and most end without any work. Their tables would take 20 MB of memory for as
//     long as the session lasts, and processor time from the first commands.
//
// It guarantees that it initializes first: among the packages whose imports are ready, Go
// initializes the one whose path sorts first, so it imports few packages, of the standard
// library only. TestNoTmuxIsStarted, TestStartWithoutCollections and TestWatchdogWaitsEarly
// in cmd/agent check this.
package early
