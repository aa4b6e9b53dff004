// Package search lists, finds and searches files below a folder. It guarantees
// that its answers depend on the files alone: with ripgrep and without, and
// however many processors there are, the same lines come in the same order. It
// never leaves the fs.FS that it is given, follows no symlinks, honours
// .gitignore files as git does, and bounds what it returns.
package search
