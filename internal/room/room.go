// Package room runs a command in a room: it sees only the files that are shown to it, no
// process but its own, and no network but its own. It guarantees that the command changes
// folders of the room alone, that all its processes end with it, or with this program, and that
// a command for which the room cannot be set up does not start.
//
// A room is a set of namespaces of Linux. Its first process is this program, started once more,
// which mounts the files, gives up its rights, confines itself by Landlock and a filter for
// system calls, and starts the command; see package early.
package room
